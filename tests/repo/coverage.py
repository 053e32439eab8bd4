#!/usr/bin/env python3
"""coverage.py - what the tests reached, from gcov's data in a build with --enable-coverage.

    tests/repo/coverage.py SOURCE BUILD      (as `make coverage` runs it)

Prints lines and branches per file of lib/, and fails where a branch of the core was never
taken that tests/repo/coverage_allowed.txt does not list with its reason, where that list names a
branch that was taken, or where fewer than 92 of 100 lines of lib/ were reached. Branches of
assert() do not count: that they are not taken is the point.
"""
import glob
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

LINES_AT_LEAST = 92.0


def core_files(source):
    """The core: the pure files, as tests/repo/layers.txt tells them."""
    pure, impure = [], set()
    for line in open(os.path.join(source, "tests/repo/layers.txt")):
        words = line.split()
        if words[:1] == ["pure"]:
            pure = words[1:]
        elif words[:1] == ["impure"]:
            impure.add(words[1])
    found = {os.path.relpath(path, source) for folder in pure
             for path in glob.glob(os.path.join(source, "lib", folder, "*.c"))}
    return found - impure


def gcov(build):
    """Every file's data, as gcov tells it in JSON."""
    notes = []
    for folder, _, names in os.walk(os.path.join(build, "lib")):
        notes += [os.path.join(folder, name) for name in names if name.endswith(".gcda")]
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(["gcov", "--json-format", "--branch-probabilities", *map(os.path.abspath, notes)],
                       cwd=scratch, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for name in sorted(os.listdir(scratch)):
            with gzip.open(os.path.join(scratch, name)) as file:
                yield json.load(file)


def collect(source, build):
    """{file: {line: [reached, [branch reached, ...]]}}, all objects of a file together."""
    files = {}
    for data in gcov(build):
        for file in data["files"]:
            path = os.path.relpath(os.path.join(data["current_working_directory"], file["file"]), source)
            if not path.startswith("lib/") or not path.endswith(".c"):
                continue
            lines = files.setdefault(path, {})
            for line in file["lines"]:
                taken = [branch["count"] > 0 for branch in line["branches"]]
                reached, before = lines.get(line["line_number"], (False, []))
                if len(before) == len(taken):
                    taken = [a or b for a, b in zip(before, taken)]
                lines[line["line_number"]] = (reached or line["count"] > 0, taken)
    return files


def allowed_branches(source):
    """{(file, text of the line): reason}: lines move, their text seldom does."""
    allowed = {}
    for entry in open(os.path.join(source, "tests/repo/coverage_allowed.txt")):
        if entry.strip() and not entry.startswith("#"):
            path, text, reason = entry.rstrip("\n").split(" | ")
            allowed[(path, text)] = reason
    return allowed


def statement_is_assert(text, number):
    """Is this line part of an assert()? They are at most a few lines long."""
    for first in range(number, max(number - 3, 0), -1):
        line = text[first - 1]
        if re.search(r"\bassert\(", line):
            return True
        if first < number and line.rstrip().endswith((";", "{", "}")):
            return False
    return False


def main():
    source, build = map(os.path.realpath, sys.argv[1:3])
    core = core_files(source)
    allowed = allowed_branches(source)
    used, missing = set(), []
    all_lines = reached_lines = 0
    print(f"{'file':<36} {'lines':>12} {'branches':>12}")
    for path, lines in sorted(collect(source, build).items()):
        text = open(os.path.join(source, path)).read().split("\n")
        branches = taken = 0
        for number, (_, counts) in sorted(lines.items()):
            if statement_is_assert(text, number):
                continue
            branches += len(counts)
            taken += sum(counts)
            if path in core and not all(counts):
                key = (path, text[number - 1].strip())
                if key in allowed:
                    used.add(key)
                else:
                    missing.append(f"{path}:{number}: {text[number - 1].strip()}")
        reached = sum(1 for hit, _ in lines.values() if hit)
        all_lines += len(lines)
        reached_lines += reached
        mark = "core" if path in core else ""
        print(f"{path:<36} {reached:>5}/{len(lines):<6} {taken:>5}/{branches:<6} {mark}")
    share = 100.0 * reached_lines / max(all_lines, 1)
    print(f"lines of lib/: {reached_lines} of {all_lines} ({share:.1f} %)")
    for line in missing:
        print(f"branch of the core not taken: {line}")
    stale = [f"{path}: {text}" for path, text in set(allowed) - used]
    for line in sorted(stale):
        print(f"listed as not taken, but it is taken or gone: {line}")
    print(f"branches of the core not taken: {len(missing)}, and {len(used)} lines with a reason")
    return 1 if missing or stale or share < LINES_AT_LEAST else 0


if __name__ == "__main__":
    sys.exit(main())
