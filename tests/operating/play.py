#!/usr/bin/env python3
"""play.py - plays the lists of commands of docs/OPERATING.md in a lab, while eight programs have
locks. None of them may lose one.

    play.py [--max-ttl SECONDS] [--servers DIRECTORY] SOURCE BUILD TASK...
    play.py --list SOURCE
    play.py --plain ...         without TLS, which not every server is built with
    play.py --careless ...      without waiting for masters: locks must be lost

A block that begins with ```sh TASK is a list. `# => WORDS` in it is what is seen: it must be
printed, in that order. 0, 1, or 77 where the machine stalled for too long to tell.
"""
import argparse
import os
import re
import shutil
import sys
import time

from lab import Lab

# What has to be there before a list can be played.
START = ["certificates", "masters", "first-start", "users", "service"]
LIMIT = 300


def blocks_of(source):
    with open(os.path.join(source, "docs", "OPERATING.md"), encoding="utf-8") as file:
        page = file.read()
    return dict(re.findall(r"(?ms)^```sh ([a-z0-9-]+)\n(.*?)^```$", page))


def seen_of(block):
    return re.findall(r"(?m)# => (.*)$", block)


def missing(words, out):
    """The first of the words that was not printed behind the ones before."""
    at = 0
    for word in words:
        found = out.find(word, at)
        if found < 0:
            return word
        at = found + len(word)
    return None


class Player:
    def __init__(self, lab, blocks, careless):
        self.lab = lab
        self.blocks = blocks
        self.careless = careless
        self.lost = False
        self.failed = 0

    def fail(self, task, why, out):
        self.failed += 1
        if self.careless:
            return
        print("FAILED: %s: %s" % (task, why))
        for line in out.splitlines()[-30:]:
            print("    " + line)
        for host, unit, log in self.lab.logs():
            print("    %s, %s: %s" % (host, unit, log))

    def text_of(self, task):
        """TASK, or TASK:HOST where it is for one host alone."""
        task, _, host = task.partition(":")
        block = self.blocks[task]
        if self.careless:
            block = re.sub(r"(?m)^.*--wait .*$", "true", block)
        return self.blocks["every-task"] + ("hosts=%s\n" % host if host else ""), block

    def play(self, task):
        began = time.monotonic()
        begin, block = self.text_of(task)
        holders = self.lab.holders()
        status, out = self.lab.run(begin + block, LIMIT)
        lacks = missing([self.lab.of_lab(word) for word in seen_of(block)], out)
        if status != 0:
            self.fail(task, "it ended with %d" % status, out)
        elif lacks:
            self.fail(task, "not seen: %s" % lacks, out)
        faults = self.lab.faults()
        self.lost = self.lost or bool(faults)
        if faults:
            self.fail(task, "; ".join(faults), out)
        thin = self.lab.thin()
        if thin:
            self.fail(task, "not on all masters that vote: " + thin, out)
        if self.lab.holders() < holders:
            self.fail(task, "of %d holders %d are left" % (holders, self.lab.holders()), out)
        print("%s: %.1f s, %d holders" % (task, time.monotonic() - began, self.lab.holders()),
              flush=True)
        return self.failed == 0

    def await_loss(self, seconds):
        """What was done may end a lock only when its lease is over."""
        end = time.monotonic() + seconds
        while not self.lost and time.monotonic() < end:
            self.lost = bool(self.lab.faults())
            time.sleep(0.1)


def servers_of(directory):
    """Packages, and the servers that they have at the beginning."""
    own = shutil.which("redis-server") or shutil.which("valkey-server")
    servers = {"redis-server": own}
    newer = os.path.join(directory or "", "valkey-8.1", "redis-server")
    if os.access(newer, os.X_OK):
        servers["valkey-server"] = newer
    return servers


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--careless", action="store_true")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--max-ttl", type=int, default=5)
    parser.add_argument("--servers")
    parser.add_argument("source")
    parser.add_argument("build", nargs="?")
    parser.add_argument("tasks", nargs="*")
    args = parser.parse_intermixed_args()
    blocks = blocks_of(args.source)
    if args.list:
        print("\n".join(blocks))
        return 0
    lab = Lab(args.source, args.build, args.max_ttl, servers_of(args.servers), args.plain)
    try:
        player = Player(lab, blocks, args.careless)
        well = True
        for task in START + args.tasks:
            if task == "upgrade":
                lab.package("redis-server", os.path.join(args.servers, "redis-8.2",
                                                         "redis-server"))
            well = well and player.play(task)
        if args.careless:
            player.await_loss(2 * args.max_ttl)
        if well and lab.holders() != 8:
            player.fail("holders", "there are %d" % lab.holders(), "")
    finally:
        lab.close()
    if args.careless:
        print("locks were %s" % ("lost, as they must be" if player.lost else "NOT lost"))
        return 0 if player.lost else 1
    if player.failed and lab.heart.longest > lab.ttl / 4:
        print("the machine stalled for %.1f s: nobody can tell whose fault that is" %
              lab.heart.longest)
        return 77
    return 1 if player.failed else 0


sys.exit(main())
