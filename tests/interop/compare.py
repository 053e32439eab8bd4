#!/usr/bin/env python3
"""compare.py - several lock clients under the same faults and seeds, as a table for people.

    tests/interop/build_peers.sh DIR
    tests/interop/compare.py DIR [--seeds 1,2,3] -- redlock-chaos --faults ... --duration 60s

What stands behind "--" is run for every client and seed, with --seed, --report and --client
added; the clients take turns, so that a machine that is busy for a while is so for all. The
table has sums, means or the worst of all seeds, and medians where that is said.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def clients(built):
    """Name and command; no command: the library itself."""
    redsync = os.path.join(built, "redsync", "redsync")
    node = "node " + os.path.join(built, "node-redlock", "index.js")
    return [
        ("libredlock", None),
        ("redsync", "exec " + redsync),
        ("redsync, best", "exec " + redsync + " --best"),
        ("node-redlock 5", "exec " + node),
        ("node-redlock 5, best", "exec " + node + " --best"),
        ("node-redlock 4", "exec " + node + " --v4"),
        ("SET NX on one master", "exec python3 " + os.path.join(HERE, "single_master.py")),
    ]


def run(command, seed, client, report):
    words = command + ["--seed", str(seed), "--report", report]
    if client:
        words += ["--client", client]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    with open(os.path.join(report, "report.json"), encoding="utf-8") as file:
        result = json.load(file)
    print(f"# {client or 'libredlock'}: seed {seed}: exit {done.returncode}: "
          f"{result['verdict']['text']}", file=sys.stderr, flush=True)
    return result


def whole_run(command, seed, client, reports):
    """A run that ended before its time, on a machine that is too busy, say, is done again."""
    for _ in range(3):
        report = os.path.join(reports, str(len(os.listdir(reports))))
        result = run(command, seed, client, report)
        if not result["run"]["error"]:
            return result
    sys.exit("three runs ended early: " + result["run"]["error"])


COLUMNS = [
    ("", None),
    ("locks a second", lambda all: f"{mean(all, 'holds_per_s'):.1f}"),
    ("wait, median, ms", lambda all: f"{median(all, 'wait', 'p50_ms'):.1f}"),
    ("wait, 99 %, ms", lambda all: f"{median(all, 'wait', 'p99_ms'):.0f}"),
    ("to be had, %", lambda all: f"{100 * mean(all, 'available'):.1f}"),
    ("longest not to be had, s", lambda all: f"{worst(all, 'longest_unavailable_ms') / 1e3:.1f}"),
    ("held and lost", lambda all: f"{total(all, 'losses')}"),
    ("two at once", lambda all: f"{total(all, 'overlaps') + total(all, 'lost_updates')}"),
    ("after a minority forgot", lambda all: f"{forgot(all, False)}"),
    ("after a majority forgot", lambda all: f"{forgot(all, True)}"),
]


def figures(results, path):
    for result in results:
        value = result["figures"]
        for key in path:
            value = value[key]
        yield value


def forgot(results, majority):
    """Overlaps where masters had forgotten keys: less than half of them, or more, within three
    times the TTL before. No hold of a contender is longer than that."""
    count = 0
    for result in results:
        for finding in result["findings"]:
            if finding["kind"] != "overlap" or not finding["excused"]:
                continue
            nodes, since_ms = set(), finding["at_ms"] - 3 * result["options"]["ttl_ms"]
            for fault in result["faults"]:
                began = fault["begun_ms"] is not None and fault["begun_ms"] < finding["at_ms"]
                over = fault["undone_ms"] is not None and fault["undone_ms"] < since_ms
                if fault["breaks"] and began and not over:
                    nodes.update(fault["nodes"])
            count += (len(nodes) >= result["run"]["needed"]) == majority
    return count


def total(results, *path):
    return sum(figures(results, path))


def mean(results, *path):
    return statistics.mean(figures(results, path))


def median(results, *path):
    return statistics.median(figures(results, path))


def worst(results, *path):
    return max(figures(results, path))


def main():
    if "--" not in sys.argv or len(sys.argv) < 4:
        sys.exit(__doc__)
    cut = sys.argv.index("--")
    built, options, command = sys.argv[1], sys.argv[2:cut], sys.argv[cut + 1:]
    seeds = [1, 2, 3]
    if options[:1] == ["--seeds"]:
        seeds = [int(seed) for seed in options[1].split(",")]
    rows = clients(built)
    results = {name: [] for name, _ in rows}
    with tempfile.TemporaryDirectory() as reports:
        for seed in seeds:
            for name, client in rows:
                results[name].append(whole_run(command, seed, client, reports))
    print("| " + " | ".join(title for title, _ in COLUMNS) + " |")
    print("|---" * len(COLUMNS) + "|")
    for name, _ in rows:
        cells = [name] + [figure(results[name]) for _, figure in COLUMNS[1:]]
        print("| " + " | ".join(cells) + " |")


main()
