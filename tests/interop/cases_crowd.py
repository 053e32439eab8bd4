"""cases_crowd.py - two clients of each library at once, on one lock, for so many turns: each
reads a number in a file, and writes one more."""

import os
import random
import threading
import time

from clients import Broken
from scene import Waiting

PATIENCE_S = 25  # of one try
TERM_MS = 10000  # the lease: nobody is inside for so long, but who misses a message sleeps for it
PAUSE_S = 0.003  # between two turns, on average: the lock must be free now and then, for who polls


class Counter:
    """What the lock protects. It sees at once when two are inside that must not be."""

    def __init__(self, path):
        self.path = path
        self.lock = threading.Lock()
        self.writers = self.readers = 0
        self.last, self.handed_over = None, 0  # the library that was inside, and how often another
        self.counted = 0
        self.write(0)

    def total(self):
        """How many turns there were: the file is what is tested."""
        return self.counted

    def stop(self):
        self.counted = 1 << 60

    def read(self):
        with open(self.path, encoding="ascii") as file:
            return int(file.read())

    def write(self, value):
        with open(self.path, "w", encoding="ascii") as file:
            file.write(str(value))

    def enter(self, library, writes):
        with self.lock:
            if self.writers or (writes and self.readers):
                raise Broken(f"{self.writers} writers and {self.readers} readers are inside")
            self.handed_over += library != self.last
            self.last = library
            self.writers += writes
            self.counted += 1
            self.readers += not writes

    def leave(self, writes):
        with self.lock:
            self.writers -= writes
            self.readers -= not writes


class Actor(threading.Thread):
    """Takes the lock, adds one, and does something else for a moment, until it is enough."""

    def __init__(self, side, counter, kind, until):
        super().__init__(daemon=True)
        self.side, self.counter, self.kind, self.until = side, counter, kind, until
        self.writes = kind != "read"
        self.turns = 0
        self.longest_s = 0.0  # of its waits
        self.error = None

    def turn(self):
        asked = time.monotonic()
        got = Waiting(self.side, self.kind, PATIENCE_S * 1000).got(PATIENCE_S + 5)
        self.longest_s = max(self.longest_s, got - asked)
        self.counter.enter(self.side.client.name, self.writes)
        seen = self.counter.read()
        time.sleep(0)  # let the others go on
        if self.writes:
            self.counter.write(seen + 1)
        elif self.counter.read() != seen:
            raise Broken("a reader saw a write")
        self.counter.leave(self.writes)
        self.side.release(self.kind)
        self.turns += 1

    def run(self):
        try:
            while self.counter.total() < self.until:
                self.turn()
                time.sleep(random.uniform(0, 2 * PAUSE_S))
        except Exception as error:  # told by who waits for us
            self.error = error
            self.counter.stop()


def play(scene, kinds, until):
    """An actor for each kind of lock; they are of the two libraries in turn."""
    counter = Counter(os.path.join(scene.masters.directory, "count"))
    actors = []
    for place, kind in enumerate(kinds):
        lease_ms = min(TERM_MS, scene.lease_ms)
        side = (scene.other if place % 2 else scene.one)(f"actor{place}", lease_ms=lease_ms)
        actors.append(Actor(side, counter, kind, until))
    for actor in actors:
        actor.start()
    for actor in actors:
        actor.join()
    errors = [f"{actor.side}: {actor.error}" for actor in actors if actor.error]
    if errors:
        raise Broken("; ".join(errors))
    written = sum(actor.turns for actor in actors if actor.writes)
    if counter.read() != written:
        raise Broken(f"{written - counter.read()} of {written} updates were lost")
    others = sum(actor.turns for actor in actors[1::2])
    waits = " and ".join(f"{max(actor.longest_s for actor in actors[place::2]):.2f} s"
                         for place in (0, 1))
    scene.noted = (f"counted to {written}, {others} turns of {actors[1].side.client.name}, "
                   f"{counter.handed_over} times from one library to the other, "
                   f"longest waits {waits}")
    if counter.handed_over < until / 500:
        raise Broken(f"they were hardly ever there at once: {scene.noted}")


def no_update_is_lost(scene, until):
    """Two clients of each count together: no two are inside at once, and no count is lost."""
    play(scene, [scene.kind] * 4, until)


def readers_see_no_write(scene, until):
    """A writer and two readers of each: no writer beside anybody, no reader sees a write. (A
    thread of Redisson's that was just refused and does not sleep yet is not woken by a writer's
    message; the next one, or the end of the lease, wakes it.)"""
    play(scene, ["write", "write", "read", "read", "read", "read"], until)
