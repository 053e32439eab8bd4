#!/usr/bin/env python3
"""suite.py - schedules that run once: three servers fire the same jobs at the same periods, on
masters of which a minority dies.

    tests/schedules/suite.py --redlock PROGRAM [--play NAME]... [--scale X] [--share X] [--seed N]

Each server starts `redlock run` at the period's start and its clock's error. Many names are
played side by side, each for some periods in a row. With --share 0.1 a tenth of the periods is
played; with --scale 0.25 all times are a quarter. A period that went wrong beside a stall of the
machine is played again, if the stall can explain it.
"""

import argparse
import collections
import os
import random
import shutil
import sys
import tempfile

from clockwork import Clockwork, now
from masters import COUNT, Masters, server_program
from period import Period
from plays import plays
from times import Times

IN_A_ROW = 12  # periods of a name
EXCUSED = 0.1  # more of them must not be played again
SHOWN = 5  # failures of a play


class Stage:
    """What all that is played has in common."""

    def __init__(self, options, directory):
        self.redlock = os.path.abspath(options.redlock)
        self.directory = os.path.join(directory, "jobs")
        os.mkdir(self.directory)
        self.draw = random.Random(options.seed)
        self.clock = Clockwork()
        self.times = Times(options.scale, COUNT)
        self.masters = Masters(os.path.join(directory, "masters"), self)
        self.well = Masters(os.path.join(directory, "well"), self)  # none of these dies
        self.kills = collections.Counter()
        self.at_work = self.idle = 0
        self.lines = []  # of names that are under way

    def killed(self, hit, at_work):
        self.kills["+".join(hit) or "nobody"] += 1
        if "redlock" in hit:
            self.at_work += at_work
            self.idle += not at_work


class Line:
    """One name of a play: its periods, one after the other."""

    def __init__(self, stage, result, name, count, delay):
        self.stage, self.result, self.name = stage, result, name
        self.left, self.played = count, 0
        stage.lines.append(self)
        stage.clock.after(delay, self.begin)

    def begin(self):
        # Every second one, and never the last one: the next one must run.
        with_kill = self.result.play.kills and self.played % 2 == 0 and self.left > 1
        self.period = Period(self.stage, self.result.play, self.name, with_kill)
        self.stage.clock.at(self.period.began + self.stage.times.period, self.judge)

    def judge(self):
        self.played += 1
        if not self.result.judge(self.stage, self.period):
            self.left -= 1
        self.period.forget()
        if self.left > 0:
            self.begin()
            return
        self.stage.lines.remove(self)
        self.stage.clock.ended = not self.stage.lines


class Result:
    def __init__(self, play):
        self.play = play
        self.passed = self.failed = self.excused = self.none = 0

    def judge(self, stage, period):
        """Is it to be played again?"""
        fault = period.fault()
        self.none += not period.starts()
        if not fault:
            self.passed += 1
            return False
        stall = stage.clock.longest_stall(period.began)
        again = period.began_again_after()
        explained = stall > 0 and (again is None or again >= self.play.at_least)
        if explained and self.excused < EXCUSED * self.play.count:
            self.excused += 1
            return True
        self.failed += 1
        if self.failed <= SHOWN:
            print(f"FAILED - {self.play.title}: '{period.name}' {fault} (longest stall "
                  f"{stall:.2f} s): {period.text()}", flush=True)
        return False

    def tell(self):
        more = [f"{self.none} ran nowhere"] if self.none else []
        more += [f"{self.excused} played again beside a stall"] if self.excused else []
        print(f"{'FAILED' if self.failed else 'ok'} - {self.play.title}: {self.passed} of "
              f"{self.passed + self.failed} periods{', ' if more else ''}{', '.join(more)}")


def play_all(stage, results, share):
    for place, result in enumerate(results):
        left = max(2, round(result.play.count * share))
        names = -(-left // min(IN_A_ROW, max(2, round(IN_A_ROW * share))))
        for number in range(names):
            count = -(-left // (names - number))
            left -= count
            # Not all at once: their periods begin one after the other.
            phase = (number + place / len(results)) / names % 1
            # Masters that were just started vote when the guard lets them.
            delay = stage.times.guard + phase * stage.times.period
            Line(stage, result, f"{place}-{number}", count, delay)
    stage.clock.after(stage.times.guard, stage.masters.begin_faults)
    stage.clock.run()


def tell(stage, results, began):
    for result in results:
        result.tell()
    masters, kills = stage.masters, stage.kills
    print(f"{now() - began:.0f} s; masters: {masters.deaths} deaths, {masters.silences} silences")
    if kills:
        of_redlock = stage.at_work + stage.idle
        print(f"redlock was killed {of_redlock} times, {stage.at_work} of these while its job ran; "
              + ", ".join(f"{whom}: {count}" for whom, count in sorted(kills.items())))
    passed = sum(result.passed for result in results)
    failed = sum(result.failed for result in results)
    print(f"{passed} passed, {failed} failed")
    return passed > 0 and failed == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--redlock", required=True)
    parser.add_argument("--play", action="append")
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--share", type=float, default=1)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    if not server_program():
        print("there is no redis-server")
        return 77
    directory = tempfile.mkdtemp(prefix="redlock-schedules.")
    stage = Stage(options, directory)
    try:
        every = plays(stage.times)
        results = [Result(every[name]) for name in options.play or every]
        print(f"seed {options.seed}", flush=True)
        for masters in (stage.masters, stage.well):
            masters.start()
        began = now()
        play_all(stage, results, options.share)
        return 0 if tell(stage, results, began) else 1
    finally:
        stage.clock.end()
        for masters in (stage.masters, stage.well):
            masters.end()
        shutil.rmtree(directory)


if __name__ == "__main__":
    sys.exit(main())
