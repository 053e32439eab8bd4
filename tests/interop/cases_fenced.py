"""cases_fenced.py - fencing tokens of one counter that both libraries raise. In each case with such
tokens the scene looks that each is above those before, and that the counter has no end."""

from clients import Broken
from scene import WAKE_S, await_true

TURNS = 200
SHORT_MS = 1200
AHEAD_S = 3600  # of a counter that a clock was set back from


def token_of(scene, side, kind=None):
    """Have it once more, with which token?"""
    side.take(kind)
    return int(side.ask("token", kind))


def lease_ms(scene):
    return scene.masters.all[0].ask("PTTL", scene.key)


def same(what, one, other):
    if one != other:
        raise Broken(f"{what}: {one} and {other}")


def tokens_grow(scene):
    """The two have it in turn: each token is above all those before, whosesoever they were, and is
    what its holder says that it has."""
    tokens = []
    for turn in range(TURNS):
        side = scene.other() if turn % 2 else scene.one()
        tokens.append(token_of(scene, side))
        same("the token that was told", tokens[-1], scene.token)
        side.release()
    scene.noted = f"{TURNS} tokens from {tokens[0]} to {tokens[-1]}"


def counter_outlasts_its_holders(scene):
    """No release, nor force, nor a lease that runs out, nor an extension ends the counter, or
    lowers it."""
    one, other = scene.one(), scene.other()
    renewed = scene.one("cid", lease_ms=0)
    for taker in (one, other):
        taker.take()
        other.ask("force")
        scene.check_counter()
        taker.release_lost()
    brief = scene.one("dan", lease_ms=SHORT_MS)
    brief.take()
    waiting = other.begin()
    waiting.got(SHORT_MS / 1000 + WAKE_S)
    other.release()
    renewed.take()
    left_ms = lease_ms(scene)
    await_true("some of the lease is over", lambda: lease_ms(scene) < left_ms)
    left_ms = lease_ms(scene)
    await_true("it is renewed", lambda: lease_ms(scene) > left_ms)
    scene.check_counter()
    renewed.release()


def reentry_is_no_other_holder(scene):
    """An inner hold of ours has the token of its outer hold. Redisson's has a greater one, and so
    writes of its outer hold may come too late. Who comes then is above both."""
    one, other = scene.one(), scene.other()
    outer, inner = token_of(scene, one), token_of(scene, one)
    same("tokens of the inner hold and of the outer", inner - outer, int(one.client.name != "ours"))
    same("the last token", scene.token, inner)
    for _ in range(2):
        other.refused()
        one.release()
    if token_of(scene, other) <= inner:
        raise Broken("the next holder is behind the inner hold")
    other.release()


def a_twin_raises(scene):
    """Ours has the owner of Redisson's thread. It can't know which token the outer hold has, so its
    inner hold has a greater one, as Redisson's has. No extension of ours takes that back."""
    theirs, ours = scene.side(scene.peer, "ann"), scene.side(scene.ours, "twin", lease_ms=0)
    outer = token_of(scene, theirs)
    ours.expect("ok", "owner", next(iter(scene.owners())))
    inner = token_of(scene, ours)
    if inner <= outer:
        raise Broken(f"ours has {inner} in a hold with {outer}")
    same("theirs in theirs", token_of(scene, theirs), inner + 1)
    for side in (ours, theirs, theirs):
        side.release()
    outer = token_of(scene, ours)
    inner = token_of(scene, theirs)
    same("theirs in ours", inner, outer + 1)
    ours.expect("ok", "extend", ours.name)
    same("ours extends", int(theirs.ask("token")), inner)
    theirs.release()
    ours.release()
    ours.expect("ok", "owner", "-")


def a_counter_ahead_of_the_clock_is_raised(scene):
    """A master's clock was set back: its counter is above all clocks, and grows by one."""
    one, other = scene.one(), scene.other()
    seconds, _ = scene.masters.all[0].ask("TIME")
    scene.token = (int(seconds) + AHEAD_S) * 10**6
    scene.masters.all[0].ask("SET", scene.counter, scene.token)
    before = scene.token
    for place, side in enumerate((one, other, one, other), 1):
        same("the next token", token_of(scene, side), before + place)
        side.release()


def fair_ones_raise_it(scene):
    """A fair lock of ours has the same counter, and the same key."""
    ours, theirs = scene.side(scene.ours, "ann"), scene.side(scene.peer, "bob")
    takes = [(ours, "fenced-fair"), (theirs, None)]
    for side, kind in takes if scene.first is scene.ours else takes[::-1]:
        token_of(scene, side, kind)
        for refused, refused_kind in takes:
            if refused is not side:
                refused.refused(refused_kind)
        side.release(kind)


def ours_is_above_what_was_forgotten(scene):
    """The master loses its counter: ours goes by the clock then, also where Redisson began anew."""
    one, other = scene.one(), scene.other()
    for side in (one, other):
        side.take()
        side.release()
    before = scene.token
    scene.forget()
    for side in (one, other):
        token = token_of(scene, side)
        if side.client.name == "ours" and token <= before:
            raise Broken(f"{token} after {before}")
        side.release()
