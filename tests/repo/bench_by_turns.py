#!/usr/bin/env python3
"""bench_by_turns.py - two builds of the bench, by turns, on one CPU: is the new one worse?

    tests/repo/bench_by_turns.py [--rounds 15] OLD/bin/redlock-bench NEW/bin/redlock-bench \\
        --scenario handoff [MORE OPTIONS OF THE BENCH]

A round runs each once, the first of them in turn. Of each figure of the library it prints the
median ratio of new to old, and an interval that has the true median in 95 of 100 cases (order
statistics, so nothing is assumed of how times are distributed). A figure is worse, or better,
where the whole interval is more than 3 % off. Ratios to a floor are left out: floors change too.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys

OFF = 0.03
MORE_IS_BETTER = ("1/s", "locks", "holds", "pairs")


def run(bench, options):
    command = [bench, "--json", "--pin", "--rounds", "1"] + options
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if not done.stdout:
        sys.exit(f"{bench}: exit status {done.returncode}, and no figures")
    figures = json.loads(done.stdout)["figures"]
    return {(figure["scenario"], figure["what"], figure["of"]): figure for figure in figures
            if figure["unit"] in ("us", "ms") + MORE_IS_BETTER and figure["median"] > 0
            and figure["of"].startswith(("library", "redlock"))}


def interval(values):
    """The narrowest pair of order statistics around the median, by the binomial distribution."""
    values, count = sorted(values), len(values)
    least = 0
    while least + 1 < count / 2 and sum(
            math.comb(count, i) for i in range(least + 2)) / 2 ** count <= 0.025:
        least += 1
    return values[least], values[count - 1 - least]


def verdict(low, high, unit):
    if unit in MORE_IS_BETTER:
        low, high = 1 / high, 1 / low
    return "WORSE" if low > 1 + OFF else "better" if high < 1 - OFF else "same"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--rounds", type=int, default=15)
    options, rest = parser.parse_known_args()
    if options.rounds < 6:
        parser.error("at least 6 rounds: fewer have no interval")
    ratios, units = {}, {}
    for number in range(options.rounds):
        order = (options.old, options.new) if number % 2 == 0 else (options.new, options.old)
        figures = {bench: run(bench, rest) for bench in order}
        for key, new in figures[options.new].items():
            if key in figures[options.old]:
                old = figures[options.old][key]
                ratios.setdefault(key, []).append(new["median"] / old["median"])
                units[key] = new["unit"]
    worse = 0
    for key, values in ratios.items():
        if len(values) < options.rounds:
            continue
        low, high = interval(values)
        said = verdict(low, high, units[key])
        worse += said == "WORSE"
        print(f"{said:6} {statistics.median(values):5.2f}  ({low:.2f} to {high:.2f})  "
              f"{key[0].split(':')[0]}: {key[1]}, {key[2]}")
    print(f"{len(ratios)} figures in {options.rounds} rounds: {worse} worse")
    return worse > 0


sys.exit(main())
