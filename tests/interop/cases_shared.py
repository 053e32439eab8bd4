"""cases_shared.py - readers and writers of both libraries."""

import time

from clients import Broken
from scene import WAKE_S, WATCH_MS


def readers_share(scene):
    """Both read at once; no writer of either is let in until the last reader is gone."""
    one, other = scene.one(), scene.other()
    one.take("read")
    scene.check_leases()
    other.take("read")
    scene.check_leases()
    scene.one("wim").refused("write")
    scene.other("wes").refused("write")
    one.release("read")
    scene.one("wim").refused("write")
    other.release("read")
    scene.one("wim").take("write")
    scene.one("wim").release("write")


def writer_excludes(scene):
    """While one writes nobody else reads or writes."""
    one = scene.one()
    one.take("write")
    scene.other().refused("read")
    scene.other().refused("write")
    scene.one("cid").refused("read")
    scene.one("cid").refused("write")
    one.release("write")
    scene.other().take("write")
    scene.one("cid").refused("read")
    scene.other().release("write")


def readers_are_woken(scene):
    """All readers that wait have it soon after the writer's release."""
    one = scene.one()
    one.take("write")
    readers = [scene.other("ray"), scene.one("ria"), scene.other("rob")]
    waiting = [reader.begin("read") for reader in readers]
    released = one.release("write")
    for tried in waiting:
        tried.woken(released, by=one)
    for reader in readers:
        reader.release("read")


def writer_is_woken(scene):
    """A writer that waits has it soon after the last reader's release, who is of the other
    library, and not before."""
    one, other, writer = scene.one(), scene.other(), scene.other("wes")
    one.take("read")
    other.take("read")
    other.release("read")
    scene.one("cid").refused("write")
    waiting = writer.begin("write")
    if waiting.done():
        raise Broken("a writer beside a reader")
    waiting.woken(one.release("read"), by=one)
    writer.release("write")


def force_wakes_all_readers(scene):
    """A writer's lock is taken away by force: all readers that wait have it soon."""
    one, other = scene.one(), scene.other()
    one.take("write")
    readers = [scene.one("ray"), scene.one("ria"), scene.one("rob")]
    waiting = [reader.begin("read") for reader in readers]
    forced = time.monotonic()
    other.ask("force", "write")
    for tried in waiting:
        tried.woken(forced, by=other)
    one.release_lost("write")
    for reader in readers:
        reader.release("read")


def writer_becomes_reader(scene):
    """The writer takes the read lock, too, and gives the write lock up: others may read."""
    one, other = scene.one(), scene.other()
    one.take("write")
    one.take("read")
    other.refused("read")
    one.release("write")
    other.take("read")
    other.release("read")
    scene.other("wes").refused("write")
    one.release("read")
    scene.other("wes").take("write")
    scene.other("wes").release("write")


def readers_hear_of_that(scene):
    """... and readers that wait have it soon, where it was ours (Redisson does not tell)."""
    one, other = scene.one(), scene.other()
    one.take("write")
    one.take("read")
    waiting = other.begin("read")
    waiting.woken(one.release("write"), by=one)
    other.release("read")
    one.release("read")


def writer_reads_for_itself_alone(scene):
    """A writer that gives its read lock up is the writer still."""
    one, other = scene.one(), scene.other()
    one.take("write")
    one.take("read")
    one.release("read")
    other.refused("read")
    other.refused("write")
    one.release("write")
    other.take("write")
    other.release("write")


def a_dead_reader_lapses(scene):
    """A reader whose lease is over is in nobody's way, though another reads for longer."""
    one, other, writer = scene.one(lease_ms=1500), scene.other(), scene.one("wim")
    one.take("read")
    other.take("read")
    writer.refused("write")
    other.release("read")
    # Who has waited before that release need not hear that it is less long now.
    writer.begin("write").got(1.5 + WAKE_S)
    one.release_lost("read")
    writer.release("write")


def a_readers_renewal_is_seen(scene):
    """A reader that is renewed keeps writers out, with another beside it and alone."""
    one, other, writer = scene.one(lease_ms=0), scene.other(), scene.other("wes")
    one.take("read")
    other.take("read")
    until = time.monotonic() + 2.5 * WATCH_MS / 1000
    while time.monotonic() < until:
        writer.refused("write")
        time.sleep(WATCH_MS / 1000 / 8)
    other.release("read")
    until = time.monotonic() + 1.5 * WATCH_MS / 1000
    while time.monotonic() < until:
        writer.refused("write")
        time.sleep(WATCH_MS / 1000 / 8)
    one.release("read")
    writer.take("write")
    writer.release("write")


def nested_reads_are_counted(scene):
    """A reader reads twice: it reads until it has released twice."""
    one, writer = scene.one(), scene.other("wes")
    one.take("read")
    one.take("read")
    scene.count(2, one)
    one.release("read")
    scene.count(1, one)
    writer.refused("write")
    one.release("read")
    writer.take("write")
    writer.release("write")
