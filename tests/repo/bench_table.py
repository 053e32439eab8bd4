#!/usr/bin/env python3
"""bench_table.py - the tables of figures in README.md and docs/PERFORMANCE.md, made of one whole
run of the bench:

    redlock-bench --json >bench.json
    tests/repo/bench_table.py bench.json [README.md docs/PERFORMANCE.md]

In each page, what stands between "<!-- figures -->" (all of them) or "<!-- ten figures -->" and
"<!-- end of figures -->" is put in its place. Figures are medians of the rounds, with the smallest
and the largest; what misses its aim is marked. None is left out because it looks bad.
"""

import json
import re
import sys

# What is said of it; scenario; what and of whom, in the words of the bench.
ROWS = [
    ("one thread, try + release: pairs a second, to sockets that send the same bytes",
     "pair", "pairs a second, library to", "floor, same bytes"),
    ("... to sockets that send a bare SET", "pair", "pairs a second, library to",
     "floor, bare SET"),
    ("... with lazy releases, to a bare SET that waits", "pair",
     "pairs a second, lazy releases to", "floor, bare SET"),
    ("... CPU of the client, to the same bytes", "pair", "client CPU a pair, library to",
     "floor, same bytes"),
    ("... CPU of the client, to bare SET", "pair", "client CPU a pair, library to",
     "floor, bare SET"),
    ("... CPU of the masters, to bare SET", "pair", "masters' CPU a pair, library to",
     "floor, bare SET"),
    ("taking a lock: half are below", "pair", "acquire p50", "library"),
    ("... with the same bytes", "pair", "acquire p50", "floor, same bytes"),
    ("... with bare SET", "pair", "acquire p50", "floor, bare SET"),
    ("taking a lock: 99 of 100 are below", "pair", "acquire p99", "library"),
    ("allocations a pair", "memory", "allocations a pair", "library"),
    ("a try when every reply comes 50 ms late", "fan-out", "a try", "library"),
    ("a try with one of five refusing connections, to all well", "one down",
     "refused: p50, to all well", "library"),
    ("... stopped", "one down", "stopped: p50, to all well", "library"),
    ("... black-holed", "one down", "black-holed: p50, to all well", "library"),
    ("64 pairs in flight from one event loop, to the same bytes pipelined", "in flight",
     "64: pairs a second, library to", "floor, same bytes"),
    ("... CPU of the client", "in flight", "64: client CPU a pair, library to",
     "floor, same bytes"),
    ("... to bare SET, pipelined", "in flight", "64: pairs a second, library to",
     "floor, bare SET"),
    ("... CPU of the masters, to bare SET", "in flight", "64: masters' CPU a pair, library to",
     "floor, bare SET"),
    ("512 pairs in flight", "in flight", "512: pairs a second, library to", "floor, same bytes"),
    ("... CPU of the client", "in flight", "512: client CPU a pair, library to",
     "floor, same bytes"),
    ("... to bare SET, pipelined", "in flight", "512: pairs a second, library to",
     "floor, bare SET"),
    ("2 threads with blocking calls, to the same floor", "threads",
     "2: pairs a second, library to", "floor, same bytes"),
    ("4 threads", "threads", "4: pairs a second, library to", "floor, same bytes"),
    ("8 threads", "threads", "8: pairs a second, library to", "floor, same bytes"),
    ("16 threads", "threads", "16: pairs a second, library to", "floor, same bytes"),
    ("64 threads", "threads", "64: pairs a second, library to", "floor, same bytes"),
    ("... CPU a pair", "threads", "64: client CPU a pair", "library"),
    ("... CPU a pair of the floor", "threads", "64: client CPU a pair", "floor, same bytes"),
    ("a release that is not waited for: pairs a second, to one that is", "no wait",
     "pairs a second, not awaited to", "redlock_release"),
    ("hand-off between 2 processes: from the release to the next holder's return", "hand-off",
     "2: p50", "library"),
    ("... to sockets woken by pub/sub, with scripts that do as much", "hand-off",
     "2: p50, library to", "floor, with a queue"),
    ("... with bare SET and DEL", "hand-off", "2: p50, library to", "floor, bare SET"),
    ("8 processes", "hand-off", "8: p50, library to", "floor, with a queue"),
    ("... with bare SET and DEL", "hand-off", "8: p50, library to", "floor, bare SET"),
    ("64 processes", "hand-off", "64: p50, library to", "floor, with a queue"),
    ("... with bare SET and DEL", "hand-off", "64: p50, library to", "floor, bare SET"),
    ("8 processes, one of five masters killed", "hand-off", "8, one killed: p50, library to",
     "floor, with a queue"),
    ("... stopped", "hand-off", "8, one stopped: p50, library to", "floor, with a queue"),
    ("many processes, 1 ms holds: acquisitions a second, to those of 2", "crowd",
     "acquisitions a second, many to", "library, few"),
    ("... commands an acquisition, to five masters together", "crowd",
     "commands an acquisition", "library, many"),
    ("fair, 50 wait, the master 1 ms away: hand-off in round trips", "fair",
     "1 ms away: hand-off, p50, to a round trip", "PING"),
    ("... near: to sockets with the same scripts", "fair", "near: hand-off, p50, library to floor",
     "same scripts"),
    ("a writer among 8 readers in a tight loop: 99 of 100 waits are below, in their holds", "rw",
     "5 masters: the writer waits, p99", "library"),
    ("... on one master", "rw", "1 master: the writer waits, p99", "library"),
    ("locks held and renewed", "renew", "locks", "library"),
    ("... of these lost", "renew", "lost", "library"),
    ("... CPU", "renew", "client CPU while held", "library"),
    ("... memory a lock", "renew", "memory a lock", "library"),
    ("... longest delay of a renewal", "renew", "longest renewal delay", "library"),
]
KINDS = ["plain", "plain, fenced", "reentrant", "read", "write", "reentrant, one master",
         "fair, one master", "read, one master", "write, one master"]
ROWS += [(f"try + release of other kinds, to the same bytes: {kind}" if i == 0 else f"... {kind}",
          "kinds", "pairs a second, library to same bytes", kind)
         for i, kind in enumerate(KINDS[1:])]
ROWS += [(f"... CPU of the client, to the same bytes: {kind}" if i == 0 else f"... {kind}",
          "kinds", "client CPU a pair, library to same bytes", kind)
         for i, kind in enumerate(KINDS[1:])]
ROWS += [("redlock run NAME -- true, from its start to its end", "run", "p50", "redlock run"),
         ("... to flock", "run", "p50, redlock run to", "flock")]
ROWS += [("fenced tries that took one round trip: names that were used", "kinds",
          "fenced tries of one round trip", "names that were used"),
         ("... new names", "kinds", "fenced tries of one round trip", "new names"),
         ("plain, with `guard strict`, to no guard", "kinds",
          "pairs a second, guard strict to none", "plain")]
# The rows of "ten figures", by scenario and by what and of whom.
TEN = {
    ("pair", "pairs a second, library to", "floor, same bytes"),
    ("pair", "pairs a second, library to", "floor, bare SET"),
    ("pair", "client CPU a pair, library to", "floor, same bytes"),
    ("pair", "acquire p50", "library"),
    ("one down", "black-holed: p50, to all well", "library"),
    ("in flight", "64: pairs a second, library to", "floor, same bytes"),
    ("in flight", "64: client CPU a pair, library to", "floor, same bytes"),
    ("threads", "64: pairs a second, library to", "floor, same bytes"),
    ("hand-off", "2: p50", "library"),
    ("renew", "lost", "library"),
}
# What these are called where the rows before them are missing.
ALONE = {
    "... to sockets that send a bare SET": "the same, to sockets that send a bare SET",
    "... CPU of the client": "... CPU of the client, to the same bytes",
    "... black-holed": "a try with one of five black-holed, to all well",
    "64 threads": "64 threads with blocking calls, to the same floor",
    "... of these lost": "10,000 locks held and renewed: lost",
    "taking a lock: half are below": "taking a lock, median",
}
COUNTS = ("ratio", "count", "calls", "locks", "holds", "index", "times")


def number(value, unit):
    text = f"{value:.2f}" if value < 10 else f"{value:,.0f}" if value >= 100 else f"{value:.1f}"
    text = re.sub(r"\.0+$", "", text)
    return text if unit in COUNTS else f"{text} {unit}"


def row(text, figure):
    cells = [number(figure[key], figure["unit"]) for key in ("median", "min", "max")]
    spread = "" if figure["rounds"] < 2 else f"{cells[1]} to {cells[2]}"
    missed = "" if figure.get("met", True) else " (aim missed)"
    return f"| {text} | {cells[0]}{missed} | {spread} |"


def table(result, short=False):
    lines = ["| | median | smallest to largest round |", "|---|---|---|"]
    for text, scenario, what, of in ROWS:
        if short and (scenario, what, of) not in TEN:
            continue
        found = [figure for figure in result["figures"]
                 if figure["scenario"].startswith(scenario + ":") and figure["what"] == what
                 and figure["of"] == of]
        if not found:
            sys.exit(f"no figure: {scenario}: {what}, {of}; is this one whole run?")
        lines.append(row(ALONE.get(text, text) if short else text, found[0]))
    return "\n".join(lines)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        result = json.load(file)
    if len(sys.argv) < 3:
        print(table(result))
    for name in sys.argv[2:]:
        with open(name, encoding="utf-8") as file:
            page = file.read()
        begin = re.search(r"<!-- (ten )?figures -->\n", page)
        if not begin:
            sys.exit(f"{name}: no line <!-- figures --> or <!-- ten figures -->")
        rest = page[begin.end():].split("\n<!-- end of figures -->")[1]
        text = table(result, short=begin.group(1) is not None)
        with open(name, "w", encoding="utf-8") as file:
            file.write(page[:begin.end()] + text + "\n<!-- end of figures -->" + rest)


main()
