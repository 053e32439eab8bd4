#!/bin/sh
# tags: long
# The simulator, for as long as a check may take: a few thousand worlds without a violation,
# one seed that is the same history each time it is played, alone or among others, and faults
# of every kind that take effect.
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

"$sim" --seeds "$seeds" --jobs 2 --time-limit "$limit" >"$dir/all" || {
    cat "$dir/all"
    fail "violated"
}
cat "$dir/all"

# No other world has failovers.
"$sim" --kinds failover --seeds "${SIM_FAILOVERS:-1000}" --jobs 2 --time-limit "$limit" \
    >"$dir/failovers" || {
    cat "$dir/failovers"
    fail "violated where masters fail over"
}
cat "$dir/failovers"

# "  master paused    1100   of 1160, 95 %", where there were enough to tell.
weak=$(awk '/^faults that took effect/ { on = 1; next }
    !NF { on = 0 }
    on && $(NF - 2) + 0 >= 100 && $(NF - 1) < 40' "$dir/all")
[ -z "$weak" ] || fail "too many of these faults change nothing:
$weak"

# All that there are; those that break an assumption are rare.
played=$(sed -n 's/^seeds *\([0-9]*\) .*/\1/p' "$dir/all")
"$sim" --seeds 1 --json | sed -n 's/^ *"faults": {"\(.*\)": [0-9]*},$/\1/p' |
    sed 's/": [0-9]*, "/\n/g' >"$dir/kinds"
[ -s "$dir/kinds" ] || fail "no kinds of faults are told"
[ "$played" -lt 1000 ] || while read -r kind; do
    grep -q "^  $kind  *[1-9]" "$dir/all" "$dir/failovers" || fail "no $kind took effect"
done <"$dir/kinds"
