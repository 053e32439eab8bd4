"""cases_several.py - several names at once, and several threads as one owner."""

from scene import WAKE_S


def one_of_them_is_enough(scene):
    """Who asks for two, of which one is held, is refused, and the other one stays free."""
    first, held = scene.name.split(",")
    free = first + ":c"
    one = scene.one()
    one.take()
    other = scene.other(name=f"{held},{free}")
    other.refused()
    third = scene.one("cid", name=free)
    third.take()
    one.release()
    other.refused()
    third.release()
    other.take()
    one.refused()
    other.release()


def multilock_is_its_locks(scene):
    """RedissonMultiLock of two names excludes ours of each, and is excluded, and woken, by one."""
    names = [scene.name + ":x", scene.name + ":y"]
    multi = scene.side(scene.peer, "ann", name=",".join(names))
    ours = [scene.side(scene.ours, "bob", name=name) for name in names]
    multi.take()
    for each in ours:
        each.refused()
    multi.release()
    ours[1].take()
    multi.refused()
    ours[0].take()
    ours[0].release()
    waiting = multi.begin()
    ours[1].release()
    waiting.got(WAKE_S)
    for each in ours:
        each.refused()
    multi.release()


def two_are_one_owner(scene):
    """Ours acts as the owner that is Redisson's thread: each nests in what the other has."""
    theirs = scene.side(scene.peer, "ann")
    ours = scene.side(scene.ours, "twin", lease_ms=scene.lease_ms // 3)
    third = scene.side(scene.ours, "cid")
    theirs.take()
    owner = next(iter(scene.owners())).removesuffix(":write")
    ours.expect("ok", "owner", owner)
    for first, second in [(theirs, ours), (ours, theirs)]:
        if first is ours:
            ours.take()
        second.take()
        scene.outlasts(ours.lease_ms)
        scene.count(2)
        third.refused()
        first.release()
        scene.count(1)
        third.refused()
        second.release()
        scene.count(0)
    ours.expect("ok", "owner", "-")
    third.take()
    third.release()
