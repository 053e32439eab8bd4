#!/usr/bin/env python3
"""suite.py - failovers by real Sentinels, under users who contend, with a judge of their own.

    tests/failover/suite.py --contend PROGRAM [--play NAME]... [--round NAME]... [--rounds N]
                            [--max-ttl SECONDS] [--redisson DIRECTORY]

Plays: one (a service alone), three (three services, each with Sentinels of its own), shared (three
services and three Sentinels). In the play `name` a service has one address for all its servers, and
clients do not ask Sentinels. Then two must be seen to hold one lock, or the judge is blind.
In the play `redisson` the users of a service alone are Redisson's, of the directory that
tests/interop/build_peers.sh has made. In `redisson-min` each server takes no writes, either, where
no replica was heard of within a second. Who holds what with whom is counted, and no failure.
"""

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time

import hosts
from follow import Follow
from rounds import ALONE, CUTS, OWN, ROUNDS, Round, await_well
from service import Service, Watchers
from users import Users
from watch import Heart, Watch

NAMES, CONTENDERS, IDLE, CUT_OFF = 4, 32, 9, 8
D_S = 1  # how old a statement may be
DRIFT = 0.01
PLAYS = ("one", "three", "shared")
STATED = "name"  # no promise is made for it: see docs/SAFETY.md
STATED_ROUNDS = ("pause", "back")
PEERS = {"redisson": (),
         "redisson-min": ("--min-replicas-to-write", "1", "--min-replicas-max-lag", "1")}
JAVA = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
        "-cp"]


class Play:
    def __init__(self, options, directory, name, number):
        self.can_cut = options.can_cut
        self.name, self.single = name, name in ("one", STATED, *PEERS)
        self.promised = name in PLAYS
        self.max_ttl = options.max_ttl
        self.ttl, self.names = options.max_ttl * 0.8, NAMES
        self.window = (self.max_ttl + D_S) * (1 + DRIFT)
        net = f"{options.network}.{number}"
        count = 1 if self.single else 3
        self.services = []
        for place in range(count):
            self.services.append(Service(directory, f"{options.network}.{number + place}",
                                         f"service-{place + 1}", PEERS.get(name, ())))
        first = [(service.name, service.servers[0].host) for service in self.services]
        if name == "shared":
            watchers = Watchers(directory, net, first)
            for service in self.services:
                service.watchers = watchers
        else:
            for place, service in enumerate(self.services):
                service.watchers = Watchers(directory, f"{options.network}.{number + place}",
                                            [first[place]])
        self.main, self.cut_off, self.address = net + ".21", net + ".22", net + ".31"
        self.users = Users(options.redisson if name in PEERS else [options.contend],
                           os.path.join(directory, "users-" + name), self.list_text())
        self.watches, self.rounds, self.follow, self.heart = {}, [], None, Heart()

    def list_text(self):
        nodes = [service.node() for service in self.services]
        if self.name == STATED:
            nodes = [f"node redis://{self.address} failover=yes\n"]
        return "".join(nodes) + f"max-ttl {round(self.max_ttl * 1000)}ms\n"

    def start(self):
        for service in self.services:
            service.start()
        for watchers in {id(one.watchers): one.watchers for one in self.services}.values():
            watchers.start()
        self.watches = {service.name: Watch(service) for service in self.services}
        for service in self.services:
            await_well(service, self.watches[service.name])
        if self.name == STATED:
            self.follow = Follow(self.address, self.watches[self.services[0].name])
        ttl_ms = round(self.ttl * 1000)
        self.users.start("main", self.main, NAMES, CONTENDERS - CUT_OFF, IDLE, ttl_ms)
        self.users.start("cut", self.cut_off, NAMES, CUT_OFF, IDLE, ttl_ms)
        self.await_first()

    def give_list(self):
        self.users.write_list(self.list_text())
        self.users.start_again()

    def await_first(self):
        """Sentinels that have just begun are no witnesses yet, and then comes the quarantine."""
        end = time.monotonic() + 2 * self.window + 20
        while self.users.first_grant(0) is None:
            ended = self.users.ended()
            if ended or time.monotonic() > end:
                raise OSError(ended or f"nobody was granted a lock: {self.users.said()}")
            time.sleep(0.1)

    def play(self, kind, number):
        service = self.services[number % len(self.services)]
        await_well(service, self.watches[service.name])
        time.sleep(2 * D_S)
        this = Round(self, service)
        this.kind = kind
        this.run(ROUNDS[kind])
        this.mend()
        self.rounds.append(this)
        print(f"{self.name}, {kind} {number + 1}: {this.text()}", file=sys.stderr, flush=True)

    def end(self):
        statuses = self.users.end() if self.users.programs else []
        self.heart.end()
        if self.follow:
            self.follow.end()
        for watch in self.watches.values():
            watch.end()
        for service in self.services:
            for process in service.servers + service.watchers.every:
                process.end()
        return statuses


def spread(values, digits=1):
    if not values:
        return "-"
    return f"{statistics.median(values):.{digits}f} ({max(values):.{digits}f})"


def tell(play, kinds):
    users = play.users
    overlaps, fallen = users.overlaps(), users.fallen_tokens()
    until = [this.began for this in play.rounds[1:]] + [float("inf")]
    failed = [f"{this.kind}: {this.text()}" for this in play.rounds if this.amiss]
    for kind in kinds:
        these = [(this, end) for this, end in zip(play.rounds, until) if this.kind == kind]
        if not these:
            continue
        within = sum(this.began <= hold.begin < end for this, end in these for _, hold in overlaps)
        holds = sum(this.began <= hold.begin < end for this, end in these for hold in users.holds)
        named = [this.named_at - this.began for this, _ in these if this.named_at]
        granted = [this.granted_at - this.named_at for this, _ in these if this.granted_at]
        gaps = [users.gap(this.began, this.ended) for this, _ in these]
        lost = sum(users.lost(this.began, this.ended) for this, _ in these)
        print(f"{play.name:7} {kind:11} {len(these):6} {holds:7} {within:8} {lost:5} "
              f"{spread(named):>12} {spread(granted, 2):>14} {spread(gaps, 2):>14}")
    again = sum(this.note == "back" for this in play.rounds)
    if "back" in kinds:
        print(f"the first master was named again {again} times")
    for before, after in overlaps[:5]:
        print(f"OVERLAP - {play.name}, name {after.name}: {before.who} until {before.end:.3f} s, "
              f"{after.who} from {after.begin:.3f} s")
    for text in [] if play.single else users.losses:
        print(f"LOST - {play.name}: {text}")
    for hold in fallen[:5]:
        print(f"TOKEN - {play.name}, name {hold.name}: {hold.token} of {hold.who} is not above all")
    for who, name in users.unexcused_trespasses()[:5]:
        print(f"TRESPASS - {play.name}: another wrote to file {name} while {who} had the lock")
    for text in failed:
        print(f"{'FAILED' if play.promised else 'stated'} - {play.name}, {text}")
    return len(overlaps), len(fallen) + len(users.unexcused_trespasses()) + len(failed)


def run(options, directory, name, number):
    play = Play(options, os.path.join(directory, name), name, number)
    try:
        play.start()
        stated = name == STATED
        kinds = options.round or (STATED_ROUNDS if stated else ROUNDS)
        kinds = [kind for kind in kinds if (kind not in CUTS or options.can_cut) and
                 (kind not in ALONE or play.single) and (kind not in OWN or name not in PEERS)]
        for kind in kinds:
            for count in range(options.rounds):
                play.play(kind, count)
        time.sleep(play.ttl)
    finally:
        statuses = play.end()
    overlaps, faults = tell(play, kinds)
    if name in PEERS:
        print(f"{name}: {overlaps} times two held one lock, of {len(play.users.holds)} holds")
        return True
    if stated:
        print(f"two holders were {'seen' if overlaps else 'NOT SEEN, as they must be'}")
        return overlaps > 0
    if any(statuses):
        print(f"FAILED - users ended with {statuses}: {play.users.said()}")
    return overlaps == 0 and faults == 0 and not any(statuses)


def redisson(options):
    """The command of its users."""
    if not options.redisson:
        return None
    there = os.path.abspath(options.redisson)
    return [*JAVA, f"{there}:{there}/lib/*", "Contend"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--contend", required=True)
    parser.add_argument("--play", action="append", choices=[*PLAYS, STATED, *PEERS])
    parser.add_argument("--round", action="append", choices=list(ROUNDS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--max-ttl", type=float, default=2)
    parser.add_argument("--redisson", help="where it is; it has plays of its own")
    options = parser.parse_args()
    if not shutil.which("redis-server"):
        print("there is no redis-server")
        return 77
    options.contend = os.path.abspath(options.contend)
    options.redisson = redisson(options)
    options.can_cut = hosts.enter()
    options.network = hosts.network()
    if not options.can_cut:
        print("no network of our own: nothing is cut off")
    directory = tempfile.mkdtemp(prefix="redlock-failover.")
    good = True
    print("seconds, median (greatest): from the fault until another is named, from then until a\n"
          "lock is granted, and the longest time in which none was\n\n"
          "play    round       rounds   holds overlaps  lost        named        granted  "
          "without grant", flush=True)
    try:
        for place, name in enumerate(options.play or PLAYS):
            good = run(options, directory, name, 1 + 10 * place) and good
            sys.stdout.flush()
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    print("as it must be" if good else "NOT as it must be")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
