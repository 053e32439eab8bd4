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
        for stage_to_play in "$@"; do
            [ "$stage_to_play" != chaos ] || start_chaos # as the stage before it does
            "check_$stage_to_play"
        done
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

# What is flaky passes, a few times; but not twice without a cause.
mkdir -p docs
printf '## Flaky tests\n\n| test | seen | cause | mended |\n|---|---|---|---|\n| `tests/b` | 0a1 | | |\n| `tests/c` | 0a1 | the probe | 0a2 |\n## Others\n| `tests/d` | x | | |\n' >docs/RECORDS.md
judge() { # TEST...
    rm -rf build/gcc
    mkdir build/gcc
    for one; do
        mkdir -p "build/gcc/${one%/*}"
        printf ':global-test-result: PASS\n' >"build/gcc/$one.trs"
        printf '100%%: Checks: 7, Failures: 0, Errors: 0\nFLAKY: %s failed once, and ...\n' "$one" >"build/gcc/$one.log"
    done
    (
        stage=gcc
        . "$root/tools/quickstart/check.sh"
        say() { echo "$*"; }
        count_tests build/gcc && judge_flaky && echo "$stage_passed, $stage_flaky, $failed"
    ) >out 2>&1
}
judge tests/a
check 'a flaky test has passed' says '^7, 1, 0$'
check 'it is named, with its log' says 'FLAKY: tests/a (build/flaky/gcc/tests-a.log)'
judge tests/a tests/c tests/d
check 'three may be' says '^21, 3, 0$'
judge tests/a tests/c tests/d tests/e
check 'four have failed' says '4 tests are flaky, and 3 may be'
check 'together' says '^28, 4, 1$'
judge tests/b
check 'a test that is recorded without a cause has failed' says '^7, 1, 1$'
check 'that is said' says 'tests/b was flaky before'
judge
check 'where none is flaky nothing is said' [ "$(cat out)" = '0, 0, 0' ]

# A build is begun ahead, and ended when its stage begins.
ln -s "$root/tools" tools
printf '#!/bin/sh\n: >config.status\nprintf "all:\\n\\t: >begun; sleep 60\\n" >Makefile\n' >configure
chmod +x configure
begun() { [ -f build/address/begun ]; }
begin_ahead() {
    for part in run build check; do . "$root/tools/quickstart/$part.sh"; done
    default_signals=''
    start_ahead address
    await 20 begun
    end_ahead
}
(begin_ahead) >out 2>&1
check 'a build is begun ahead' begun
check 'and ended' [ -z "$(working_in "$work/build")" ]
check 'its end is told to nobody' [ ! -s out ]

# Which tests take longest: what to look at first.
mkdir -p build/gcc/tests
printf '900 100 tests/a\n61900 2100 tests/b\n5000 0 tests/c\n' >build/gcc/tests/times
(. "$root/tools/quickstart/run.sh" && . "$root/tools/quickstart/check.sh" && stage=gcc && tell_slowest build/gcc) >out 2>&1
check 'the slowest tests are told' says '^   | tests/b 61 (2), tests/c 5 (0), tests/a 0 (0)$'

# Where a check is: a line a minute, or on a terminal each second.
where() { # STAGE SECONDS-SO-FAR SECONDS-OF-STAGE TESTS
    (
        . "$root/tools/quickstart/run.sh" && . "$root/tools/quickstart/check.sh"
        stage=$1 check_started=0 stage_started=$(($2 - $3)) all_of_stage=$4 built=gcc
        eval "tell_time() { now=$2; }"
        tell_where "$3" build/logs/a-step.log
    ) >out 2>&1
}
judge tests/a tests/b
printf ':global-test-result: FAIL\n' >build/gcc/tests/b.trs
where gcc 100 100 250
check 'how many tests are done and failed is told' says '^gcc, a-step: 2 of 250 done, 1 failed; 0 failed before'
all=$(awk '/^usual_s=/ { for (i = 1; i <= NF; i++) sum += $i + 0; print sum }' FS="[' ]" "$root/tools/quickstart/check.sh")
check 'and how long it still takes, at the usual pace' says "about $(((all - 100) / 60 + 1)) minutes still"
where distcheck "$all" 1 0
check 'a slow machine takes longer' says 'distcheck, a-step: 1 s; 0 failed before; about [45] minutes still'

"$root/quickstart" --help >out 2>&1
check 'the help tells how much it installs' says 'packages, 1.4 GB'
check 'from where it fetches' says 'PyPI, Maven'
check 'and how long it takes' says '39 minutes at most'

tell
