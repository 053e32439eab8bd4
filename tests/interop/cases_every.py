"""cases_every.py - what must be true of every kind of lock that one alone can have."""

import time

from clients import Broken
from scene import WAKE_S, WATCH_MS

SHORT_MS = 1200
RESERVED_MS = 500  # what is released is kept for so long at most for a waiter that is told


def held_is_refused(scene):
    """While one holds it the other is refused; when it is released the other has it."""
    one, other = scene.one(), scene.other()
    one.take()
    scene.check_leases()
    other.refused()
    other.refused()
    one.release()
    other.take()
    one.refused()
    other.release()


def lease_runs_out(scene):
    """The other has it when the lease is over and not before, and who had it is told."""
    one, other = scene.one(lease_ms=SHORT_MS), scene.other()
    asked = time.monotonic()
    one.take()
    waiting = other.begin()
    held_s = waiting.got(SHORT_MS / 1000 + WAKE_S) - asked
    if held_s < SHORT_MS / 1000 - 0.01:
        raise Broken(f"got after {held_s:.3f} s, of a lease of {SHORT_MS} ms")
    one.release_lost()
    scene.one("cid").refused()
    other.release()


def release_wakes(scene):
    """Who waits has it soon after the release, and not before."""
    one, other = scene.one(), scene.other()
    one.take()
    waiting = other.begin()
    if waiting.done():
        raise Broken(f"{other} has what {one} holds")
    if other.client.name == "ours" and not one.client.threads:
        waiting.polls()
    scene.noted = f"{1000 * waiting.woken(one.release(), by=one):.1f} ms"
    other.release()


def reservation_is_short(scene):
    """A waiter of ours is told, and stands still: the lock is kept for it, and not for long."""
    holder, other = scene.side(scene.ours, "ann"), scene.side(scene.peer, "bob")
    waiter = scene.side(scene.ours, "wes", alone=True)
    holder.take()
    waiter.begin()
    waiter.driver.stop()
    for master in scene.masters.all:
        master.ask("PING")  # what it has sent is done
    holder.release()
    for master in scene.masters.all:
        left_ms = master.ask("PTTL", scene.key)
        if left_ms == -1 or left_ms > RESERVED_MS:
            raise Broken(f"{scene.key} is kept for {left_ms} ms")
    waiter.driver.kill()
    other.take()
    other.release()


def renewal_is_seen(scene):
    """What is renewed is kept for longer than its lease, and can be had when it is released."""
    one, other = scene.one(lease_ms=0), scene.other()
    one.take()
    until = time.monotonic() + 2.5 * WATCH_MS / 1000
    while time.monotonic() < until:
        other.refused()
        one.renew()
        time.sleep(WATCH_MS / 1000 / 8)
    one.release()
    other.take()
    other.release()


def gone_is_not_revived(scene):
    """A lock that the masters have lost is no lock again: extended by hand or by itself, it
    stays gone, and the other can have it."""
    one, other = scene.one(lease_ms=0), scene.other()
    one.take()
    scene.forget()
    until = time.monotonic() + 1.5 * WATCH_MS / 1000
    while time.monotonic() < until:
        if not one.client.renews:
            one.expect(("gone", "no"), "extend")
        if any(scene.masters.keys()):
            raise Broken(f"{one} has revived what was gone")
        time.sleep(WATCH_MS / 1000 / 8)
    # Redisson's fair lock does not tell that there was none.
    one.expect(("gone", "no") if one.client.name == "ours" else "", "release", one.name, scene.kind)
    other.take()
    other.release()


def death_frees(scene):
    """A process that is killed has its lock for no longer than the lease."""
    one, other = scene.one(lease_ms=0, alone=True), scene.other()
    one.take()
    waiting = other.begin()
    one.driver.kill()
    waiting.got(WATCH_MS / 1000 + WAKE_S)
    other.release()


def force_frees(scene):
    """What is taken away by force is free, who waits has it soon, and who had it is told."""
    one, waiter, other = scene.one(), scene.one("wes"), scene.other()
    one.take()
    waiting = waiter.begin()
    forced = time.monotonic()
    other.ask("force")
    waiting.woken(forced, by=other)
    one.release_lost()
    other.refused()
    waiter.release()


def inner_lease_shortens_nothing(scene):
    """Ours takes it again, for a third of the time: it is held for as long as it was."""
    one, other = scene.one(), scene.other()
    inner = scene.one(lease_ms=scene.lease_ms // 3)
    one.take()
    inner.take()
    scene.outlasts(inner.lease_ms)
    inner.release()
    scene.outlasts(inner.lease_ms)
    other.refused()
    one.release()
    other.take()
    other.release()


def nested_is_counted(scene):
    """It is free when it was released as often as taken, and both write one count."""
    one, other = scene.one(), scene.other()
    for depth in (1, 2, 3):
        one.take()
        scene.count(depth, one)
    for depth in (2, 1, 0):
        other.refused()
        one.release()
        scene.count(depth, one)
    other.take()
    scene.count(1, other)
    other.release()
