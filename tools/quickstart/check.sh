# check.sh - quickstart's check: all tests, built and run in every way that finds something
# else, within 39 minutes, or $CHECK_LIMIT_S seconds, with what is installed first. What has no
# time left is not run, which is told apart from what failed; it makes the check incomplete, and
# its exit status 1. Sourced.
#
#   gcc         every warning an error; all tests: these are the ones that are counted
#   sanitizers  the tests again under ASan and UBSan, those with threads under TSan
#   valgrind    test programs of the first build
#   simulator   simulated worlds for a while, and rules broken that it must find
#   chaos       contenders on real masters, with every fault: begun beside the simulator
#   interop     other lock clients on the same masters, as far as they can be fetched
#   servers     some tests on an old server and on a patched one, likewise
#   demo        what ./quickstart alone shows
#   distcheck   the tarball builds elsewhere, from a read-only tree, by clang, whose warnings are
#               others; passes, and cleans up
#
# shellcheck disable=SC2154 # what run.sh and build.sh set

time_limit_s=${CHECK_LIMIT_S:-2340}
passed=0 failed=0 skipped=0 not_run='' flaky='' cut=''
flaky_most=3 # tests that failed once in three plays
busy_load=4 # a processor: timing tests may fail beyond it for no fault of theirs

# ---- stages ----

# What each takes on two idle processors, in seconds: only for saying how long it will still take.
usual_s='gcc 450 address 260 thread 150 valgrind 45 simulator 80 chaos 5 interop 75 servers 60 demo 15 distcheck 180'
all_of_stage=0 # tests that it will run, where that is known

# About how long all stages still take, in minutes, if they go on as fast as so far.
minutes_left() {
    tell_time
    echo "$usual_s" | awk -v stage="$stage" -v in_stage=$((now - stage_started)) \
        -v all=$((now - check_started)) '{
            for (i = 1; i < NF; i += 2) {
                if ($i == stage) here = $(i + 1)
                else if (here) later += $(i + 1)
                else before += $(i + 1)
            }
            pace = before > 0 && all > in_stage ? (all - in_stage) / before : 1
            rest = here * pace - in_stage
            print int(((rest > 0 ? rest : 0) + later * pace) / 60 + 1)
        }'
}

tell_where() { # SECONDS LOG
    where="$stage, $(basename "$2" .log)"
    if [ "$all_of_stage" -gt 0 ]; then
        trs=$(find "build/$built" -name '*.trs')
        # shellcheck disable=SC2086 # words are wanted
        bad=$([ -z "$trs" ] || grep -lE '^:global-test-result: (FAIL|ERROR)' $trs | wc -l)
        where="$where: $(echo "$trs" | grep -c .) of $all_of_stage done, ${bad:-0} failed"
    else
        where="$where: $1 s"
    fi
    echo "$where; $failed failed before; about $(minutes_left) minutes still"
}

begin_stage() { # NAME TEXT
    stage=$1
    tell_time
    stage_started=$now
    say "== $1: $2"
}

# With the load of the machine: a test that fails on one that is too busy may only have been late.
end_stage() { # RESULT
    tell_time
    read -r load rest </proc/loadavg
    say "   $stage: $1 ($((now - stage_started)) s, load $load)"
    [ "${load%.*}" -lt $((busy_load * job_count)) ] ||
        say "   the machine is busy with other things; what failed here may have been late only"
}

out_of_time() {
    tell_time
    [ "$now" -ge $((check_started + time_limit_s)) ]
}

# A failure that no test case stands for: it counts as one. But what was ended since the time of
# the whole check is over has shown nothing, either way.
fail_stage() { # WHAT LOG
    if [ "$result" = 124 ] && out_of_time; then
        not_run="$not_run $stage"
        end_stage 'NOT RUN to its end: no time was left'
        return
    fi
    failed=$((failed + 1))
    say "   ---- the end of $2:"
    tail -n 60 "$2" | sed 's/^/   | /'
    end_stage "FAILED: $1"
}

time_left() {
    tell_time
    left=$((check_started + time_limit_s - now))
    [ $left -gt 0 ] || left=1
}

run_step() { # LOG COMMAND...
    step_log=build/logs/$1.log
    shift
    result=124
    ! out_of_time || return $result
    time_left
    run_logged $left "$step_log" "$@"
}

# What a stage left running is ended, and is a failure: it may be a server of a test that
# lost it, or a command that outlived its lock.
check_leftovers() {
    await 5 no_leftovers && return
    for pid in $(leftovers); do
        say "   left running: $pid $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null)"
    done >"build/logs/$stage-left.log"
    end_leftovers
    result=1
    fail_stage 'processes were left running' "build/logs/$stage-left.log"
}

# ---- counting ----

# Of one test program: its cases by Check's own count where it has one, else itself. Prints
# "PASSED FAILED SKIPPED".
count_test() { # FILE.trs
    verdict=$(sed -n 's/^:global-test-result: //p' "$1")
    awk -v verdict="$verdict" '
        BEGIN { cases = bad = 0 }
        match($0, /^([0-9]+%: )?Checks: [0-9]+, Failures: [0-9]+, Errors: [0-9]+/) {
            split(substr($0, RSTART, RLENGTH), n, /[^0-9]+/)
            cases += n[2]; bad += n[3] + n[4]
        }
        END {
            broken = verdict != "PASS" && verdict != "SKIP" && verdict != "XFAIL"
            if (verdict == "SKIP") { print 0, 0, 1; exit }
            if (cases == 0) cases = 1
            if (broken && bad == 0) bad = 1
            print cases - bad, bad, 0
        }' "${1%.trs}.log"
}

# Sets stage_passed, stage_failed, stage_skipped, stage_again and stage_flaky (tests that
# tests/driver.sh played again, or found flaky), and shows what failed.
count_tests() { # BUILD
    counted=$1
    stage_passed=0 stage_failed=0 stage_skipped=0 stage_again=0 stage_flaky=0
    for trs in $(find "$1" -name '*.trs' | sort); do
        [ -f "${trs%.trs}.log" ] || continue # it was ended in the middle, for want of time
        # shellcheck disable=SC2046 # words are wanted
        set -- $(count_test "$trs")
        stage_passed=$((stage_passed + $1))
        stage_failed=$((stage_failed + $2))
        stage_skipped=$((stage_skipped + $3))
        if again=$(grep '^PLAYED AGAIN' "${trs%.trs}.log"); then
            stage_again=$((stage_again + 1))
            say "   ${trs%.trs}: $again"
        fi
        if grep -q '^FLAKY: ' "${trs%.trs}.log"; then
            stage_flaky=$((stage_flaky + 1))
            flaky="$flaky $stage:${trs#"$counted"/}"
        fi
        if [ "$2" -gt 0 ]; then
            say "   ---- FAILED: the end of ${trs%.trs}.log:"
            tail -n 60 "${trs%.trs}.log" | sed 's/^/   | /'
        elif [ "$3" -gt 0 ]; then
            say "   skipped: ${trs%.trs}: $(grep -v '^SKIP ' "${trs%.trs}.log" | tail -n 1)"
        fi
    done
    failed=$((failed + stage_failed))
}

# What takes longest is what to look at where the check takes too long.
tell_slowest() { # BUILD
    [ -f "$1/tests/times" ] || return 0
    sort -rn "$1/tests/times" >"build/logs/$stage-times.log"
    say "   slowest of $stage, in seconds, and how many of them a processor worked:"
    awk 'NR <= 20 { printf("%s%s %d (%d)", (NR > 1 ? ", " : ""), $3, $1 / 1000, $2 / 1000) }
        END { print "" }' "build/logs/$stage-times.log" | fold -s -w 96 | sed 's/^/   | /; s/ *$//'
}

# What `make check` did, whose result is $1.
judge_tests() { # RESULT BUILD
    count_tests "$2"
    if [ "$1" -ne 0 ] && [ $stage_failed -eq 0 ]; then
        fail_stage "make ended with $1" "$step_log"
    else
        counts="$stage_passed passed, $stage_failed failed, $stage_skipped skipped"
        [ "$stage_again" -eq 0 ] || counts="$counts, $stage_again played again alone"
        [ "$stage_flaky" -eq 0 ] || counts="$counts, $stage_flaky FLAKY"
        [ $stage_failed -eq 0 ] || counts="FAILED: $counts"
        end_stage "$counts"
    fi
    tell_slowest "$2"
    check_leftovers
}

# ---- flaky tests ----

# Is the test in the table of flaky tests, in a row without a cause?
recorded_without_cause() { # TEST
    awk -F '|' -v test="\`$1\`" '
        /^## / { table = $0 == "## Flaky tests" }
        table && index($2, test) && $4 ~ /^[ ]*$/ { found = 1 }
        END { exit !found }' docs/RECORDS.md
}

# A few flaky tests pass, but only once each: the next time their cause must be known.
judge_flaky() {
    [ -n "$flaky" ] || return 0
    # shellcheck disable=SC2086 # words are wanted
    set -- $flaky
    for one; do
        test=${one#*:}
        test=${test%.trs}
        say "   FLAKY: $test (build/flaky/${one%%:*}/$(echo "$test" | tr / -).log)"
        if recorded_without_cause "$test"; then
            failed=$((failed + 1))
            say "   FAILED: $test was flaky before, and docs/RECORDS.md names no cause yet"
        fi
    done
    say "   each is to be recorded, with its cause, in docs/RECORDS.md, \"Flaky tests\""
    if [ $# -gt $flaky_most ]; then
        failed=$((failed + 1))
        say "   FAILED: $# tests are flaky, and $flaky_most may be"
    fi
}

# ---- the stages ----

# Lines, for what sanitizers report, and no more: that compiles and links sooner.
sanitized='-O1 -g1'

# Configure and compile all, test programs too.
build_stage() { # gcc|address|thread
    case $1 in
    gcc) compile gcc TESTS= --enable-werror CC=gcc ;;
    address)
        compile address TESTS= --enable-sanitize=address,undefined --disable-shared CC=gcc \
            CFLAGS="$sanitized" ;;
    thread)
        compile thread "check_PROGRAMS=$(tagged threads)" --enable-sanitize=thread \
            --disable-shared CC=gcc CFLAGS="$sanitized" ;;
    esac
}

compile() { # NAME VARIABLE-FOR-TESTS CONFIGURE-ARGUMENT...
    name=$1 variable=$2
    shift 2
    configure_build "$name" "$@" || { fail_stage 'configure' "build/$name.log"; return 1; }
    run_step "$name-make" make -C "build/$name" -j "$job_count" all ||
        { fail_stage 'make' "$step_log"; return 1; }
    run_step "$name-make-check" make -C "build/$name" -j "$job_count" check TESTS= "$variable" ||
        { fail_stage 'compiling the tests' "$step_log"; return 1; }
}

# Tests wait more than they work. Meanwhile the builds of later stages are compiled, by what tests
# leave of the processors. What is not ready when it is wanted, its stage compiles.
start_ahead() { # BUILD...
    # shellcheck disable=SC2086 # may be no word at all
    setsid env $default_signals nice -n 15 sh tools/quickstart/ahead.sh "$@" \
        </dev/null >build/logs/ahead.log 2>&1 &
    # shellcheck disable=SC2034 # run.sh ends it
    ahead=$!
}

# Tests wait more than they work: some run at once, and those that take longest begin first.
many_at_once() { echo $((3 * job_count)); }
long_ones_first() { # TESTS, in make's words
    long=$(tagged early long)
    echo "TESTS=\$(filter $1,$long) \$(filter-out $long,$1)"
}
tagged() { # TAG...
    for tag; do sh tests/tagged.sh "$tag"; done
}

test_stage() { # NAME TARGET JOBS TESTS COMMAND...: COMMAND runs make, and TESTS tests
    name=$1 target=$2 at_once=$3 all_of_stage=$4
    built=$name
    shift 4
    find "build/$name" -name '*.trs' -exec rm -f {} +
    rm -f "build/$name/tests/times"
    FLAKY_DIR=$PWD/build/flaky/$stage
    export FLAKY_DIR
    run_step "$name-$target" "$@" -C "build/$name" -j "$at_once" -k "$target"
    result=$? all_of_stage=0
    judge_tests $result "build/$name"
}

count_tests_of() { # BUILD TESTS
    make -s -C "build/$1" count-tests "$2"
}

check_gcc() {
    begin_stage gcc 'warnings are errors; all tests'
    build_stage gcc || return
    start_peers
    start_ahead address thread
    # shellcheck disable=SC2016 # they are make's variables
    tests=$(long_ones_first '$(check_PROGRAMS) $(dist_check_SCRIPTS)')
    test_stage gcc check "$(many_at_once)" "$(count_tests_of gcc "$tests")" make "$tests"
    passed=$stage_passed skipped=$stage_skipped
}

# Not the scripts: they test what no sanitizer sees, and some build the tree themselves. Nor
# those that hold `redlock run` to its deadlines: they are for the program as it ships.
check_address() {
    begin_stage address 'the test programs under AddressSanitizer (leaks too) and UBSan'
    end_ahead
    build_stage address || return
    start_ahead thread
    # A thread that is canceled leaves its stack poisoned, and gives its signal stack back on it.
    # What was freed is kept from use up to 16 MB: more than most tests free, and 256 would cost
    # those that free much four fifths of their time.
    tests=$(long_ones_first "\$(filter-out $(tagged unsanitized),\$(check_PROGRAMS))")
    test_stage address check "$(many_at_once)" "$(count_tests_of address "$tests")" env \
        ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:use_sigaltstack=0:quarantine_size_mb=16 \
        UBSAN_OPTIONS=print_stacktrace=1 make "$tests"
}

# With many random bits in addresses, older runtimes need a process without them.
check_thread() {
    begin_stage thread 'the tests with threads under ThreadSanitizer'
    echo 'int main(void) { return 0; }' >"$tmp/probe.c"
    as_is='env'
    gcc -fsanitize=thread -o "$tmp/probe" "$tmp/probe.c" 2>/dev/null
    "$tmp/probe" 2>/dev/null || as_is="setarch $(uname -m) -R"
    end_ahead
    build_stage thread || return
    # OpenSSL 3.5 reads its tables without a lock, by atomics that the sanitizer can't see in a
    # library that it did not build.
    echo 'race:libcrypto.so' >"$tmp/tsan"
    # A process that has threads waits at its end for what they still do. Ours do something
    # within 100 ms; a second would be added to each of the 100 exits of test_tls_exit.
    tsan_options=halt_on_error=1:second_deadlock_stack=1:atexit_sleep_ms=100
    # The sanitizer makes tests work more, but most of the time they still wait.
    # shellcheck disable=SC2086 # words are wanted
    test_stage thread check-thread $((2 * job_count)) "$(tagged threads | wc -w)" $as_is env \
        TSAN_OPTIONS="$tsan_options:suppressions=$tmp/tsan" make
}

check_valgrind() {
    begin_stage valgrind 'test programs of the first build'
    test_stage gcc check-valgrind "$(many_at_once)" "$(tagged valgrind | wc -w)" make
}

# The same seeds each time; `make soak` plays others.
check_simulator() {
    begin_stage simulator 'worlds that must not be violated, and mutants that must be found'
    start_chaos
    run_step worlds build/gcc/tests/sim/sim --first 1000001 --seeds 1000000 \
        --jobs "$job_count" --time-limit 45 ||
        { fail_stage 'a world was violated' "$step_log"; return; }
    worlds=$(awk '$1 == "seeds" { print $2 }' "$step_log")
    run_step mutants make -C build/gcc sim-mutants BUDGET=30s ||
        { fail_stage 'a mutant was not found' "$step_log"; return; }
    end_stage "$worlds worlds, $(grep 'mutants killed' "$step_log")"
}

# It waits more than it works: the simulator works beside it, and measures no time.
start_chaos() {
    chaos=''
    ! out_of_time || return
    time_left
    # shellcheck disable=SC2086 # may be no word at all
    setsid env $default_signals "$mark" timeout -k 10 $left build/gcc/bin/redlock-chaos --local 5 \
        --faults all --duration 60s --seed 1 --report build/chaos </dev/null >build/logs/chaos.log 2>&1 &
    chaos=$!
}

check_chaos() {
    begin_stage chaos 'a minute of every fault on five real masters, begun beside the simulator'
    result=124 step_log=build/logs/chaos.log
    if [ -n "$chaos" ]; then
        wait "$chaos"
        result=$?
        chaos=''
    fi
    if [ $result -eq 0 ]; then
        end_stage "$(tail -n 1 "$step_log")"
    else
        fail_stage 'redlock-chaos' "$step_log"
    fi
    check_leftovers
}

# Other lock clients are downloaded, below build/ alone, and built beside the first stages, which
# go before. What can't be had in time is skipped, and it is said why. There is time for a part of
# the cases: each check begins with another third of them.
peers_fetch_s=300 # each
peers_wait_s=60   # when they are wanted
interop_turns=1000
interop_budget_s=60 # and no case begins later

start_peers() {
    mkdir -p build/peers-tmp
    # shellcheck disable=SC2086 # may be no word at all
    setsid env $default_signals TMPDIR="$PWD/build/peers-tmp" PEERS_FETCH_LIMIT=$peers_fetch_s \
        nice -n 19 sh tools/quickstart/peers.sh </dev/null >build/logs/peers.log 2>&1 &
    beside=$!
}

# Sets third: 1 to 3, another one than the last time. Where nothing is known of that, the clock
# decides.
next_third() {
    last_third=$(cat build/interop-third 2>/dev/null) || last_third=$(($(date +%s) / 60))
    third=$((last_third % 3 + 1))
    echo $third >build/interop-third
}

check_interop() {
    begin_stage interop 'other lock clients on the same masters'
    run_step interop-make make -C build/gcc tests/interop/ours ||
        { fail_stage 'make' "$step_log"; return; }
    if await $peers_wait_s beside_has_ended; then
        wait "$beside" || { fail_stage 'what was fetched could not be built' build/logs/peers.log; return; }
    fi
    end_beside
    next_third
    run_step interop python3 -B tests/interop/suite.py --ours build/gcc/tests/interop/ours \
        --peers build/gcc/interop-peers --jobs 4 --turns $interop_turns \
        --third "$third" --budget $interop_budget_s
    result=$?
    sed -n 's/^skipped - \(.*, all kinds: .*\)/   skipped: \1/p' "$step_log"
    late=$(grep -c ': no time is left$' "$step_log")
    [ "$late" -eq 0 ] || cut="$cut interop (third $third first, $late of $(grep -cE '^(ok|FAILED|skipped) - ' "$step_log") cases had no time)"
    counts=$(tail -n 2 "$step_log" | tr '\n' ' ')
    if [ $result -eq 0 ]; then
        end_stage "$counts"
    else
        # What failed is somewhere in it; where nothing did, the end tells why it ended.
        failed_log=build/logs/interop-failed.log
        grep '^FAILED' "$step_log" >$failed_log || tail -n 60 "$step_log" >$failed_log
        fail_stage "$counts" $failed_log
    fi
    check_leftovers
}

# An old server, and one with the latest mends: the tests of locks, markers and rights.
check_servers() {
    begin_stage servers 'tests on an old server and on a patched one'
    if ! ls build/gcc/interop-peers/servers/*/redis-server >/dev/null 2>&1; then
        end_stage 'skipped: none could be fetched'
        return
    fi
    if run_step servers env SERVERS='redis-6.2 valkey-9.1' sh tests/interop/servers_check.sh \
        build/gcc build/gcc/interop-peers tests/faults/test_marked_masters tests/faults/test_rights \
        tests/programs/test_cli_init tests/programs/test_cli_rights; then
        end_stage "$(tail -n 1 "$step_log")"
    else
        fail_stage "$(tail -n 1 "$step_log")" "$step_log"
    fi
    check_leftovers
}

check_demo() {
    begin_stage demo 'the story that ./quickstart tells'
    if run_step demo env QUICKSTART_BUILD=gcc ./quickstart; then # which is there already
        end_stage 'went as said'
    else
        fail_stage './quickstart' "$step_log"
    fi
    check_leftovers
}

# All test programs are built there; run are those that read what is in the tarball, and the
# scripts, but for the long ones. The examples are only built. Where it fails it leaves its build,
# with the logs of the tests.
check_distcheck() {
    begin_stage distcheck 'the tarball, by clang, with the tests that read what is in it'
    early=$(tagged early)
    if run_step distcheck env EXAMPLES_BUILD_ONLY=1 make -C build/gcc -j "$(many_at_once)" distcheck \
        'DISTCHECK_CONFIGURE_FLAGS=CC=clang CFLAGS=-O0 --enable-werror' \
        "TESTS=$early $(tagged source) \$(filter-out $early $(tagged long),\$(dist_check_SCRIPTS))"; then
        end_stage 'passed'
        check_leftovers
    else
        left_there=$(find build/gcc -maxdepth 1 -name 'libredlock-*' -type d)
        judge_tests 1 "${left_there:-build/logs}"
    fi
}

check() {
    rm -rf build/flaky
    say "all tests, in every way: until $((time_limit_s / 60)) minutes after the beginning at most;"
    say "other lock clients are fetched into ./build from PyPI, Maven Central, npm,"
    say "crates.io and the Go proxy"
    check_gcc
    if [ $passed -gt 0 ]; then
        check_address
        check_thread
        check_valgrind
        check_simulator
        check_chaos
        check_interop
        check_servers
        check_demo
        check_distcheck
    fi
    tell_time
    say "== all of it took $((now - check_started)) s; the tests are counted once, as built by gcc,"
    say "   failures wherever they happened; $skipped skipped"
    [ -z "$not_run" ] || say "   not run, or not to the end, for want of time:$not_run"
    [ -z "$cut" ] || say "   cut short:$cut"
    judge_flaky
    say "$passed passed, $failed failed"
    [ $failed -eq 0 ] && [ $passed -gt 0 ] && [ -z "$not_run" ]
}
