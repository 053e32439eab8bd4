#!/bin/sh
# quickstart_test.sh - the stages of `./quickstart check`: what had no time left is told as not
# run, and what failed as failed; neither is passed. Its help tells what it does to a machine.
# shellcheck disable=SC1090,SC1091,SC2034,SC2154,SC2317 # what is sourced, and what it uses

. "${srcdir:-.}/tests/support/shell_rig.sh"
root=$(cd "${srcdir:-.}" && pwd) || exit 99
make_work rl-quickstart
cd "$work" || exit 99
mkdir -p build/logs build/gcc/bin

# Play these stages with so many seconds left, in a shell of their own.
play() { # SECONDS STAGE...
    (
        seconds=$1
        shift
        tmp=$work mark=REDLOCK_QUICKSTART_TEST=$$ default_signals='' job_count=64
        child='' interrupted=''
        for part in run build packages check; do . "$root/tools/quickstart/$part.sh"; done
        tell_time
        check_started=$((now - time_limit_s + seconds))
        leftovers() { :; }
        for stage_to_play in "$@"; do "check_$stage_to_play"; done
        echo "failed: $failed, not run:$not_run"
    ) >"$work/out" 2>&1
}
says() { grep -q -- "$1" "$work/out"; }

play -5 simulator chaos demo
check 'stages without time are not run' says '^failed: 0, not run: simulator chaos demo$'
check 'that is told of each' [ "$(grep -c 'NOT RUN to its end: no time was left' out)" -eq 3 ]
check 'and none is said to have failed' eval '! says FAILED'
check 'the load stands beside' says 'load [0-9]'

printf '#!/bin/sh\nexit 1\n' >build/gcc/bin/redlock-chaos
chmod +x build/gcc/bin/redlock-chaos
play 60 chaos
check 'a stage that fails in time has failed' says '^failed: 1, not run:$'
check 'that is told' says 'chaos: FAILED: redlock-chaos'

printf '#!/bin/sh\nexec sleep 60\n' >build/gcc/bin/redlock-chaos
play 2 chaos
check 'a stage whose time runs out is not run to its end' says '^failed: 0, not run: chaos$'

# make takes back the log of a test that it ends.
printf ':global-test-result: PASS\n' >build/gcc/whole.trs
printf '100%%: Checks: 7, Failures: 0, Errors: 0\n' >build/gcc/whole.log
printf ':global-test-result: PASS\n' >build/gcc/cut.trs
count() { (. "$root/tools/quickstart/check.sh" && count_tests build/gcc && echo "$stage_passed, $failed"); }
count >out 2>&1
check 'a test that was ended in the middle is not counted' says '^7, 0$'

"$root/quickstart" --help >out 2>&1
check 'the help tells how much it installs' says 'packages, 1.4 GB'
check 'from where it fetches' says 'PyPI, Maven'
check 'and how long it takes' says '39 minutes at most'

tell
