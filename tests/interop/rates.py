#!/usr/bin/env python3
"""rates.py - how fast the library and other lock clients take and release locks, on the same
masters in the same rounds.

    tests/interop/rates.py --ours PROGRAM --peers DIR [--masters N] [--users 1,2,8,64]
        [--rounds R] [--ms T] [--json FILE]

PROGRAM is made of ours.c, DIR by build_peers.sh. Each user has a lock of its own, takes it and
releases it, for T ms; the clients take turns, R times. A row has the medians: pairs a second,
the CPU time of the client and of all masters in us a pair, and how many times as fast the
library is, with a thread for each user. Who can't take part is named, with the reason. redis-py
asks one master only. The interval is that of the middle half of the rounds.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

from clients import Broken, Driver, made
from masters import Masters, server_program

TTL_MS = 10000
TICKS = os.sysconf("SC_CLK_TCK")


class Contender:
    def __init__(self, name, command, verb="pairs", missing=""):
        self.name, self.command, self.verb, self.missing = name, command, verb, missing
        self.driver = None
        self.asked = 0
        self.found = {}  # by number of users: a list of Found

    def start(self, urls, log):
        try:
            self.driver = Driver(self.command, urls, TTL_MS, log)
        except (Broken, OSError) as error:
            self.missing = str(error)

    def cpu_us(self):
        with open(f"/proc/{self.driver.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1e6 / TICKS

    def ask(self, users, ms):
        """Names of its own: some clients leave keys behind, for as long as their leases last."""
        self.asked += 1
        prefix = f"rates:{self.driver.process.pid}:{self.asked}"
        return self.driver.send("", self.verb, prefix, users, ms).wait(60 + ms / 1000)

    def play(self, users, ms, masters):
        client_us, masters_us = self.cpu_us(), cpu_of(masters)
        words = self.ask(users, ms).split()
        if words[0] != "ok" or int(words[1]) == 0:
            raise Broken(f"{self.name} said: {' '.join(words)}")
        pairs = int(words[1])
        self.found.setdefault(users, []).append(
            {"pairs_per_s": pairs * 1e6 / int(words[2]),
             "client_us": (self.cpu_us() - client_us) / pairs,
             "masters_us": (cpu_of(masters) - masters_us) / pairs})

    def median(self, users, what):
        return statistics.median(found[what] for found in self.found[users])

    def spread(self, users):
        values = sorted(found["pairs_per_s"] for found in self.found[users])
        return values[len(values) // 4], values[-1 - len(values) // 4]


def cpu_of(masters):
    total = 0.0
    for master in masters.all:
        for line in master.ask("INFO", "cpu").splitlines():
            if line.startswith(("used_cpu_sys:", "used_cpu_user:")):
                total += float(line.split(":")[1])
    return total * 1e6


def release_of_rslock(peers):
    """Its driver is built for tests; here it is built as it is used."""
    there = os.path.join(peers, "rslock")
    missing = made(peers, "rslock", "Cargo.toml")
    if not missing:
        print("building rslock as it is used", flush=True)
        done = subprocess.run(["cargo", "build", "-q", "--offline", "--release"], cwd=there,
                              env=dict(os.environ, CARGO_HOME=os.path.join(peers, "cargo")),
                              stderr=subprocess.PIPE, text=True, check=False)
        missing = "" if done.returncode == 0 else "cargo can't build it: " + done.stderr.strip()[-160:]
    return Contender("rslock", [os.path.join(there, "target", "release", "rslock-driver")],
                     missing=missing)


def contenders(ours, peers):
    node = ["node", os.path.join(peers, "node-redlock", "index.js")]
    python = os.path.join(peers, "python")
    drive = [os.path.join(python, "venv", "bin", "python"), os.path.join(python, "driver.py")]
    no_python = made(peers, "python", "venv/bin/python")
    return [
        Contender("libredlock, threads", [ours]),
        Contender("libredlock, callbacks", [ours], "callbacks"),
        release_of_rslock(peers),
        Contender("redsync", [os.path.join(peers, "redsync", "redsync"), "--best"],
                  missing=made(peers, "redsync", "redsync")),
        Contender("node-redlock 5", node, missing=made(peers, "node-redlock", "node_modules")),
        Contender("redlock-py", drive + ["redlock-py"], missing=no_python),
        Contender("redis-py, one master", drive + ["redis-py"], missing=no_python),
    ]


def table(playing, users):
    print(f"\n{users} at once           pairs/s     (middle half)   client us  masters us   ours/its")
    ours = playing[0].median(users, "pairs_per_s")
    for one in playing:
        least, most = one.spread(users)
        rate = one.median(users, "pairs_per_s")
        print(f"{one.name:22} {rate:9.0f} {least:9.0f} to {most:6.0f} "
              f"{one.median(users, 'client_us'):10.0f} {one.median(users, 'masters_us'):11.0f} "
              f"{ours / rate:10.2f}", flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", required=True)
    parser.add_argument("--peers", required=True)
    parser.add_argument("--masters", type=int, default=5)
    parser.add_argument("--users", default="1,2,8,64")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--ms", type=int, default=1000)
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def measure(options, masters, playing):
    for users in [int(word) for word in options.users.split(",")]:
        for one in playing:
            one.ask(users, 200)  # it connects
        for _ in range(options.rounds):
            for one in playing:
                one.play(users, options.ms, masters)
        table(playing, users)


def main():
    options = parse()
    if not server_program():
        print("there is no redis-server")
        sys.exit(77)
    options.peers = os.path.abspath(options.peers)
    masters = Masters(options.masters, server_program())
    everybody = contenders(options.ours, options.peers)
    try:
        for one in everybody:
            if not one.missing:
                one.start(masters.urls, os.path.join(masters.directory, "log"))
            if one.missing:
                print(f"{one.name}: skipped, {one.missing}")
        playing = [one for one in everybody if one.driver]
        if not everybody[0].driver:
            sys.exit(1)
        print(f"{options.masters} masters, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.2f}; "
              f"{options.rounds} rounds of {options.ms} ms each; "
              + "; ".join(f"{one.name}: {one.driver.version}" for one in playing))
        measure(options, masters, playing)
        if options.json:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump({one.name: one.found for one in playing}, file, indent=1)
    finally:
        for one in everybody:
            if one.driver:
                one.driver.end()
        masters.end()


main()
