"""cases_kinds.py - locks of two kinds on one name: who holds one keeps out every other."""

from clients import Broken

KINDS = ["plain", "reentrant", "fair", "read", "write"]
ONE_LOCK = {"read", "write"}
ONE_SHAPE = {"reentrant", "fair", "fenced"}  # who holds one holds the others


def state(scene):
    """All that stands there, but for times."""
    return [(key, scene.masters.all[0].ask("TYPE", key)) for key in sorted(scene.masters.keys()[0])]


def other_kinds_are_refused(scene):
    """Ours tries each other kind on a name that the peer holds: all are refused for what they are,
    and the lock is as it was. (Redisson's reader does not look for other kinds: it joins any hash.)"""
    holder, ours = scene.side(scene.peer, "ann"), scene.side(scene.ours, "bob")
    holder.take()
    before = state(scene)
    for kind in KINDS:
        if kind != scene.kind and {kind, scene.kind} != ONE_LOCK:
            alike = {kind, scene.kind} <= ONE_SHAPE
            ours.expect("no held" if alike else "no REDLOCK_EWRONGTYPE", *ours.words(kind, 0))
    if state(scene) != before:
        raise Broken(f"{holder} held {before}, and now there is {state(scene)}")
    holder.release()
