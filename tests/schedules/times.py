"""times.py - the times of a schedule, in proportion, and what must hold between them."""

import math

SERVERS = 3


class Times:
    """All in seconds. With a scale below 1 all are shorter by the same factor."""

    def __init__(self, scale, masters):
        self.skew = 2 * scale  # how far apart servers fire
        self.job = 5 * scale  # the longest job
        self.short_job = 0.2 * scale
        self.connect = 1 * scale
        self.ttl = 3 * scale
        self.max_ttl = 8.5 * scale
        self.wait = 2 * scale
        self.at_least = 8 * scale
        self.try_at_least = 4 * scale
        self.stay = 9 * scale  # longer than one lease: redlock stays
        self.long_wait = 7 * scale
        self.period = 18 * scale
        self.away = 6 * scale  # the longest absence of a master
        # The guard's wait is told in redlock.conf(5); INFO tells the uptime in whole seconds.
        self.guard = math.ceil(self.max_ttl * 1.01) + 2
        # After that `redlock status --wait` lets the next master be restarted: locks that are held
        # are on all masters.
        self.rest = self.max_ttl / 2 + 2.5
        # The conditions that redlock(1) tells, under SCHEDULES.
        assert self.skew + self.connect + self.wait < self.at_least
        assert self.skew + self.connect + self.ttl / masters < self.try_at_least
        assert self.skew + self.connect + self.wait + self.stay + self.ttl < self.period
        assert self.at_least < 0.98 * self.max_ttl < self.stay
        # A wait below --at-least that is too long beside the skew: the last server gets the lock.
        assert self.long_wait < self.at_least < self.skew + self.long_wait

    def word(self, name):
        """As options and the node list have it."""
        return duration({"ttl": self.ttl, "max-ttl": self.max_ttl,
                         "connect-timeout": self.connect}[name])


def duration(seconds):
    return f"{round(seconds * 1000)}ms"
