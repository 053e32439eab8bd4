#!/bin/sh
# tags: long
# The simulator where nothing is left to chance: the stories of named scenarios, all worlds of
# a small kind, one history that is stopped at each of its system calls; and the tables of
# mutants must fit the source (`make sim-mutants` runs them).
set -u

sim=${builddir:?}/tests/sim/sim
root=${srcdir:?}
log=$(mktemp "${TMPDIR:-/tmp}/sim_stories.XXXXXX") || exit 1
trap 'rm -rf "$log" "$log.d"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

fail()
{
    cat "$log"
    printf 'sim_stories_test.sh: %s\n' "$*"
    failed=1
}

"$sim" --named >"$log" || fail "a scenario is not what it should be (sim --named NAME --trace)"
"$sim" --small >"$log" || fail "a small world violates a rule (sim --small --world K)"
"$sim" --stops >"$log" || fail "a stop violates a rule (sim --stops --stop K)"
"$sim" --replies --worlds "${SIM_REPLIES:-10000}" >"$log" ||
    fail "a reply ends a client, or costs another master its vote (sim --replies --world K)"
"$sim" --named no-such-scenario >"$log" && fail "a scenario that is none has passed"

# A story that differs must be seen to differ.
mkdir "$log.d" && mkdir -p "$log.d/tests/sim/golden" &&
    sed 's/ann has jobs/bob has jobs/' "$root/tests/sim/golden/win.txt" \
        >"$log.d/tests/sim/golden/win.txt"
srcdir="$log.d" "$sim" --named win >"$log" && fail "a story that differs has passed"
rm -rf "$log.d"

for tables in tests/sim/mutants tests/mutants; do
    MUTANTS_ONLY_TABLES=yes MUTANTS_TABLES="$root/$tables" \
        sh "$root/tests/sim/mutants.sh" >"$log" 2>&1 || fail "a table of mutants is stale"
done
exit $failed
