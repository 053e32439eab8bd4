#!/bin/sh
# The simulator, for as long as a check may take: a few thousand worlds without a violation,
# and one seed that is the same history each time it is played, alone or among others.
set -eu

sim=${builddir:?}/tests/sim/sim
seeds=${SIM_SEEDS:-20000}
limit=${SIM_SECONDS:-20}
dir=$(mktemp -d "${TMPDIR:-/tmp}/sim_check.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

fail()
{
    printf 'sim_check.sh: %s\n' "$*" >&2
    exit 1
}

"$sim" --seed 7 >"$dir/first" || fail "seed 7 is a violation: $(cat "$dir/first")"
"$sim" --seed 7 >"$dir/second"
cmp "$dir/first" "$dir/second" || fail "seed 7 is two histories"
"$sim" --seed 7 --trace | tail -n 1 >"$dir/told"
cmp "$dir/first" "$dir/told" || fail "seed 7 is another history when it is told"

# One after the other in one process, and by two: what is left of one world must not show in
# the next.
hash_of()
{
    "$sim" --first 1 --seeds 40 "$@" | sed -n 's/^hash of all histories *//p'
}
alone=$(hash_of)
[ -n "$alone" ] || fail "no hash is told"
[ "$alone" = "$(hash_of --jobs 2)" ] || fail "seeds 1 to 40 depend on what was played before"

"$sim" --seeds "$seeds" --jobs 2 --time-limit "$limit" || fail "violated"
