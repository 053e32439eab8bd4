"""clockwork.py - one thread that does what is due at its time, and sees processes end."""

import heapq
import itertools
import os
import selectors
import time

NAP_S = 0.02  # how long it sleeps at most: what comes later than that was stalled
STALL_S = 0.25  # shorter ones are what a busy machine does all the time


def now():
    """As /proc/uptime counts, by which jobs tell when they began."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Clockwork:
    def __init__(self):
        self.due = []
        self.order = itertools.count()
        self.ends = selectors.DefaultSelector()
        self.stalls = []  # (when it was over, how long)
        self.ended = False

    def at(self, when, what, *arguments):
        heapq.heappush(self.due, (when, next(self.order), what, arguments))

    def after(self, seconds, what, *arguments):
        self.at(now() + seconds, what, *arguments)

    def watch(self, process, what):
        """`what` is called when the process has ended."""
        self.ends.register(os.pidfd_open(process.pid), selectors.EVENT_READ, (process, what))

    def run(self):
        """Until `ended` is set."""
        while not self.ended:
            began = now()
            for key, _ in self.ends.select(NAP_S):
                process, what = key.data
                self.ends.unregister(key.fd)
                os.close(key.fd)
                process.wait()
                what()
            while not self.ended and self.due and self.due[0][0] <= now():
                _, _, what, arguments = heapq.heappop(self.due)
                what(*arguments)
            turn = now() - began
            if turn > STALL_S:
                self.stalls.append((now(), turn))

    def longest_stall(self, since):
        return max((length for over, length in self.stalls if over >= since), default=0)

    def end(self):
        """Of what still runs."""
        for key in list(self.ends.get_map().values()):
            key.data[0].kill()
            key.data[0].wait()
            os.close(key.fd)
        self.ends.close()
