"""cases_quarantine.py - masters with markers, of which the first one is in quarantine: ours has
`guard marker`, and the peer knows nothing of it."""

from clients import Broken
from scene import LEASE_MS, MARKED_MS, await_true

ENDS_S = MARKED_MS / 1000 + 10  # a quarantine is over so soon, by whatever clock


def vote(ours, index=0):
    """What ours says of that master."""
    return ours.expect("ok", "vote", index)[3:]


def holders(scene):
    """The key's value on each master."""
    return [master.ask("GET", scene.key) for master in scene.masters.all]


def expect_holders(scene, what, right):
    values = holders(scene)
    if not right(*values):
        raise Broken(f"{what}: {values}")


def take_by_two(scene, ours):
    """Ours has it, and not by the master that is in quarantine."""
    before = holders(scene)[0]
    ours.take()
    expect_holders(scene, "ours has it on the other two",
                   lambda a, b, c: a == before and b and b == c)


def expect_withheld(scene, ours):
    """One grant and one that is withheld are none of three, and nothing of the try is left."""
    before = holders(scene)
    ours.expect("no", *ours.words(None, 0))
    said = vote(ours)
    if not (said.startswith("guarded ") and ("quarantined" in said or "wants a lock" in said)):
        raise Broken(f"{ours} says of the first master: {said}")
    await_true("ours leaves nothing", lambda: holders(scene) == before)


def extended(side):
    return side.expect("ok", "extend", side.name)


def peer_takes(scene, peer):
    """The grant of the master in quarantine makes the peer's majority: the last one is another's."""
    peer.take()
    expect_holders(scene, "the peer has it on the first two",
                   lambda a, b, c: a and a == b and a != c)


def sides(scene):
    """Ours connects now, and sees what is there."""
    return scene.side(scene.ours, "ann", alone=True), scene.side(scene.peer, "bob")


def quarantined_vote_is_withheld(scene):
    """A majority with the quarantined master in it is one for the peer, and none for ours."""
    scene.masters.quarantine(0)
    ours, peer = sides(scene)
    scene.masters.all[2].ask("SET", scene.key, "another", "PX", 60000)
    if scene.first is scene.ours:
        expect_withheld(scene, ours)
    peer_takes(scene, peer)
    peer.release()
    if scene.second is scene.ours:
        expect_withheld(scene, ours)
    scene.masters.all[2].ask("DEL", scene.key)
    take_by_two(scene, ours)
    peer.refused()
    ours.release()


def peer_keeps_one_key(scene, peer):
    """It has lost all others."""
    peer.take()
    for master in scene.masters.all[1:]:
        master.ask("DEL", scene.key)
    return holders(scene)[0]


def key_on_quarantined_master_is_kept(scene):
    """Of the lock of ours a quarantined master gets no key while the quarantine lasts. Then it is
    filled in, unless the peer has a key there: that is another's, and stays."""
    scene.masters.quarantine(0)
    ours = scene.side(scene.ours, "ann", alone=True)
    peer = scene.side(scene.peer, "bob", lease_ms=LEASE_MS)  # it outlasts the quarantine
    theirs = peer_keeps_one_key(scene, peer) if scene.first is scene.peer else None
    take_by_two(scene, ours)
    if not theirs:
        peer.refused()
        await_true("the peer leaves nothing", lambda: holders(scene)[0] is None)
    scene.masters.end_quarantine(0)
    await_true("the first master votes", lambda: extended(ours) and vote(ours) == "ready", ENDS_S)
    extended(ours)  # which fills in what is missing, too
    if theirs:
        expect_holders(scene, "the peer's key stays", lambda a, b, c: a == theirs and b and b == c)
        peer.release_lost()
    await_true("ours has it on all", lambda: extended(ours) and len(set(holders(scene))) == 1)
    peer.refused()
    ours.release()
    peer.take()
    ours.refused()
    peer.release()


def lock_outlasts_the_quarantine(scene):
    """The first master is emptied, and has no marker: ours sets the quarantine. Who has the lock
    by then has it until the release, and the other is refused all the time."""
    scene.masters.all[0].ask("FLUSHALL")
    scene.masters.all[2].ask("SET", scene.key, "another", "PX", 60000)
    one, other = scene.one(alone=True), scene.other(alone=True)
    ours, peer = (one, other) if scene.first is scene.ours else (other, one)
    said = vote(ours)
    if "no marker" not in said:
        raise Broken(f"{ours} says of the first master: {said}")
    expect_withheld(scene, ours)
    if one is peer:
        peer_takes(scene, peer)
    scene.masters.all[2].ask("DEL", scene.key)
    if one is ours:
        take_by_two(scene, ours)

    def is_ready():
        extended(one)
        other.expect("no", *other.words(None, 0))
        return vote(ours) == "ready"
    await_true("the first master votes", is_ready, ENDS_S)
    other.refused()
    one.release()
    other.take()
    other.release()
