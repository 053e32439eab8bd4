#!/usr/bin/env python3
"""suite.py - the library and other lock clients, on the same locks of the same masters.

    tests/interop/suite.py --ours PROGRAM --peers DIR [--only TEXT]... [--turns N]

PROGRAM is made of ours.c, DIR by build_peers.sh. A line a case; --only runs those whose lines
have one of the texts. With --third, one third of the cases goes before the others, so that three
runs that are short of time have seen all. See docs/INTEROP.md.
"""

import argparse
import concurrent.futures
import os
import signal
import sys
import threading
import time
import zlib

import cases_crowd
import cases_every
import cases_fair
import cases_fenced
import cases_kinds
import cases_quarantine
import cases_several
import cases_shared
from clients import WATCHED, Broken, Late, clients, servers
from masters import server_program
from scene import Scene
from stage import Stage

TRIES = 5  # of a case in which a waiter was late
TURNS, SERVICE_TURNS = 10000, 1000  # of a crowd
THIRDS = (1, 2, 3)


def third_of(title):
    """A third of all cases, and of each lane's, by what does not change from run to run."""
    return zlib.crc32(title.encode()) % len(THIRDS) + 1


def braced(case):
    """The same on a name with braces, of which other keys and channels are made otherwise."""
    def with_braces(*arguments):
        case(*arguments)
    with_braces.__name__ = case.__name__ + "_with_braces"
    with_braces.braced = True
    return with_braces


EVERY = [
    cases_every.held_is_refused,
    cases_every.lease_runs_out,
    cases_every.release_wakes,
    cases_every.renewal_is_seen,
    cases_every.gone_is_not_revived,
    cases_every.death_frees,
    cases_every.force_frees,
]
KINDS = [cases_kinds.other_kinds_are_refused]
BRACED = [braced(cases_every.held_is_refused), braced(cases_every.release_wakes)]
NESTED = [cases_every.nested_is_counted, cases_every.inner_lease_shortens_nothing]
OWNER = [cases_several.two_are_one_owner]
RESERVED = [cases_every.reservation_is_short]
SEVERAL = [cases_several.one_of_them_is_enough]
MULTI = [cases_several.multilock_is_its_locks]
UNFORCED = [case for case in EVERY if case is not cases_every.force_frees]
FAIR = [
    cases_fair.order_is_kept,
    cases_fair.newcomer_is_refused,
    cases_fair.who_leaves_is_passed_over,
    cases_fair.who_dies_is_passed_over,
    cases_fair.head_has_it_when_the_lease_runs_out,
    cases_fair.one_behind_the_dead_waits_its_time,
    braced(cases_fair.order_is_kept),
]
SHARED = [
    cases_shared.readers_share,
    cases_shared.writer_excludes,
    cases_shared.readers_are_woken,
    cases_shared.writer_is_woken,
    cases_shared.force_wakes_all_readers,
    cases_shared.writer_becomes_reader,
    cases_shared.readers_hear_of_that,
    cases_shared.writer_reads_for_itself_alone,
    cases_shared.a_dead_reader_lapses,
    cases_shared.a_readers_renewal_is_seen,
    cases_shared.nested_reads_are_counted,
    braced(cases_shared.readers_are_woken),
    braced(cases_shared.writer_is_woken),
]
FENCED = [
    cases_fenced.tokens_grow,
    cases_fenced.counter_outlasts_its_holders,
    cases_fenced.reentry_is_no_other_holder,
    cases_fenced.a_counter_ahead_of_the_clock_is_raised,
    cases_fenced.fair_ones_raise_it,
    cases_fenced.ours_is_above_what_was_forgotten,
    braced(cases_fenced.tokens_grow),
]
TWINS = [cases_fenced.a_twin_raises]
QUARANTINE = [
    cases_quarantine.quarantined_vote_is_withheld,
    cases_quarantine.key_on_quarantined_master_is_kept,
    cases_quarantine.lock_outlasts_the_quarantine,
]
CROWD = [cases_crowd.no_update_is_lost]
ON_A_SERVICE = [
    cases_every.held_is_refused,
    cases_every.release_wakes,
]
CASES = {
    "plain": EVERY + KINDS + BRACED + RESERVED + CROWD,
    "plain on 3": EVERY + RESERVED + QUARANTINE + CROWD,
    "several": UNFORCED + SEVERAL + CROWD,
    "several on 3": UNFORCED + SEVERAL + CROWD,
    "reentrant": EVERY + KINDS + BRACED + NESTED + OWNER + MULTI + CROWD,
    "fenced": EVERY + KINDS + BRACED + NESTED + OWNER + FENCED + TWINS + CROWD,
    "reentrant on 3": EVERY + NESTED + CROWD,
    "fair": EVERY + KINDS + BRACED + NESTED + OWNER + FAIR + CROWD,
    "write": EVERY + KINDS + BRACED + NESTED + OWNER + CROWD,
    "read": SHARED + KINDS + [cases_crowd.readers_see_no_write],
    "reentrant on a service": ON_A_SERVICE + [cases_every.nested_is_counted,
                                              cases_every.death_frees] + CROWD,
    "fair on a service": ON_A_SERVICE + [cases_fair.order_is_kept] + CROWD,
    "write on a service": ON_A_SERVICE + CROWD,
    "read on a service": [
        cases_shared.readers_share,
        cases_shared.readers_are_woken,
        cases_shared.writer_is_woken,
        cases_crowd.readers_see_no_write,
    ],
}
# On other servers than the installed one: what a server could do otherwise.
SERVER_PEERS = ["redisson-4", "redis-py"]
SERVER_CASES = [
    cases_every.held_is_refused,
    cases_every.lease_runs_out,
    cases_every.release_wakes,
    cases_every.nested_is_counted,
    cases_fenced.tokens_grow,
    cases_fair.order_is_kept,
    cases_shared.readers_share,
    cases_shared.readers_are_woken,
    cases_shared.writer_is_woken,
    cases_shared.a_dead_reader_lapses,
]
LAPSES = [
    cases_every.lease_runs_out,
    cases_every.death_frees,
    cases_fair.head_has_it_when_the_lease_runs_out,
]
CROWDS = CROWD + [cases_crowd.readers_see_no_write]
ONCE = CROWDS + MULTI + OWNER + TWINS + KINDS + RESERVED  # they have both orders in them


def impossible(kind, case, one, other):
    """Why a case is none for these two, or nothing."""
    if case is cases_every.lease_runs_out and one.renews and not one.threads:
        return f"{one.name} renews by itself"
    if case is cases_every.gone_is_not_revived and one.name == "pottery":
        return "its extension may take the key again on a master that lost it"
    if case in (cases_every.renewal_is_seen, cases_every.gone_is_not_revived) and not (one.renews or one.extends):
        return f"{one.name} can't extend a lock"
    if case is cases_every.inner_lease_shortens_nothing and one.name != "ours":
        return f"an inner lease of {one.name} is the lock's"
    if case is cases_every.force_frees and (
            not other.threads or (kind == "reentrant on 3" and other.name != "ours")):
        return f"{other.name} takes nothing of this kind away by force"
    if case is cases_fair.one_behind_the_dead_waits_its_time and one.name != "ours":
        return "a dead waiter of ours alone before Redisson's is waited for 300 s"
    if kind == "fair" and case in LAPSES and other.name == "redisson-3":
        return "it may sleep on when the lease is over, by its own reckoning (4.7.0 does not)"
    if case is cases_shared.readers_hear_of_that and one.name.startswith("redisson"):
        return f"{one.name} does not tell readers that wait"
    return ""


class Report:
    """A line a case, as they are done."""

    def __init__(self):
        self.lock = threading.Lock()
        self.passed = self.failed = self.skipped = 0
        self.began = time.monotonic()
        self.ending = False  # somebody has had enough

    def say(self, word, title, more):
        with self.lock:
            self.passed += word == "ok"
            self.failed += word == "FAILED"
            self.skipped += word == "skipped"
            print(f"{word} - {title}{': ' if more else ''}{more}", flush=True)


class Lane:
    """These thirds of the cases of one peer, one after the other; on the server that is installed,
    or another."""

    def __init__(self, options, report, thirds, ours, peer, server=None):
        self.options, self.report, self.ours, self.peer = options, report, ours, peer
        self.thirds = thirds
        self.name, program, missing = server or ("", server_program(), "")
        self.missing = peer.missing or missing
        self.title = f"{peer.name}, {self.name}" if self.name else peer.name
        self.stage = Stage(os.path.join(options.peers, "logs"), program)

    def over(self):
        return self.report.ending or time.monotonic() - self.report.began > self.options.budget

    def wanted(self, title):
        return third_of(title) in self.thirds and (
            not self.options.only or any(text in title for text in self.options.only))

    def turns(self, kind):
        return self.options.turns or (SERVICE_TURNS if kind.endswith(WATCHED) else TURNS)

    def play(self, title, kind, case, one, other, tries):
        began = time.monotonic()
        scene = None
        try:
            scene = Scene(self.stage, kind, one, other, getattr(case, "braced", False),
                          case in QUARANTINE)
            case(*([scene, self.turns(kind)] if case in CROWDS else [scene]))
            scene.end()
        except Late as late:
            scene.give_up()
            if tries == 1:
                self.report.say("FAILED", title, f"{late}, as in {TRIES - 1} tries before")
            return tries > 1
        except Exception as error:  # any is a failure of this case, and of no other
            text = f"{error}" if isinstance(error, Broken) else repr(error)
            if scene:
                text += f" [{scene.masters.told()}]"
                scene.give_up()
            self.report.say("FAILED", title, text)
            return False
        took = f"{time.monotonic() - began:.1f} s"
        self.report.say("ok", title, f"{scene.noted}, {took}" if scene.noted else took)
        return False

    def run_case(self, *case):
        tries = TRIES
        while self.play(*case, tries):
            tries -= 1

    def title_of(self, kind, case, one):
        return f"{self.title}, {kind}, {one.name} first: {case.__name__}"

    def wants_service(self):
        return any(self.wanted(self.title_of(kind, case, one)) and not self.ours.lacks.get(kind)
                   for kind in self.peer.kinds if kind.endswith(WATCHED) and not self.name
                   for case in CASES[kind] for one in (self.ours, self.peer))

    def run_pair(self, kind, case):
        orders = [(self.ours, self.peer), (self.peer, self.ours)]
        for one, other in orders[:1] if case in ONCE else orders:
            title = self.title_of(kind, case, one)
            if not self.wanted(title):
                continue
            reason = "no time is left" if self.over() else impossible(kind, case, one, other)
            if reason:
                self.report.say("skipped", title, reason)
            else:
                self.run_case(title, kind, case, one, other)

    def lacks(self, kind):
        """Can't one of the two do that kind at all? That is one line."""
        reason = self.peer.lacks.get(kind) or self.ours.lacks.get(kind)
        title = f"{self.title}, {kind}, all cases"
        if reason and self.wanted(title):
            self.report.say("skipped", title, reason)
        return reason

    def run(self):
        if self.missing:
            title = f"{self.title}, all kinds"
            if self.wanted(title):
                self.report.say("skipped", title, self.missing)
            return
        try:
            if self.wants_service():
                self.stage.prepare(self.ours)
            for kind in self.peer.kinds:
                if self.lacks(kind):
                    continue
                for case in CASES[kind]:
                    # A guard is ours alone, and one peer that knows none is enough.
                    if case in QUARANTINE and not (self.peer.quarantines and self.ours.marked):
                        continue
                    if not self.name or (case in SERVER_CASES and " on " not in kind):
                        self.run_pair(kind, case)
        finally:
            self.stage.end()


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", required=True)
    parser.add_argument("--peers", required=True)
    parser.add_argument("--only", action="append", help="cases whose line has this text")
    parser.add_argument("--turns", type=int, help=f"of each crowd, {TURNS}, or {SERVICE_TURNS} on a service")
    parser.add_argument("--budget", type=float, default=1e9, metavar="SECONDS",
                        help="begin no case later than that; those are skipped")
    parser.add_argument("--third", type=int, choices=THIRDS, help="of the cases, to go first")
    parser.add_argument("--jobs", type=int, default=2, help="peers at a time")
    parser.add_argument("--instead", help="a peer that plays the library's part: who is at fault?")
    return parser.parse_args()


def main():
    options = parse()
    if not server_program():
        print("there is no redis-server")
        sys.exit(77)
    report = Report()
    ours, peers = clients(options.ours, options.peers)
    if options.instead:
        ours = next(peer for peer in peers if peer.name == options.instead)

    def lanes(*thirds):
        here = [Lane(options, report, thirds, ours, peer) for peer in peers
                if set(peer.kinds) <= set(ours.kinds) and peer.name != ours.name]
        # Where time is short, what differs most from all else comes first.
        here[2:2] = [Lane(options, report, thirds, ours, peer, server)
                     for server in servers(options.peers)
                     for peer in peers if peer.name in SERVER_PEERS and not options.instead]
        return here

    third = options.third
    passes = [lanes(third), lanes(*set(THIRDS) - {third})] if third else [lanes(*THIRDS)]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        try:
            for done in [pool.submit(lane.run) for part in passes for lane in part]:
                done.result()
        except KeyboardInterrupt:
            report.ending = True  # what has begun is ended, and cleans up
    print(f"{time.monotonic() - report.began:.0f} s; {report.skipped} skipped")
    print(f"Checks: {report.passed + report.failed}, Failures: {report.failed}, Errors: 0")
    sys.exit(130 if report.ending else 1 if report.failed else 0)


main()
