#!/bin/sh
# driver.sh - runs one test, as automake's own driver does, with a meter beside it of what the
# machine withheld. A test that fails may have found a fault, or have been late on a busy machine:
#
# - What the machine alone explains has told nothing of the library. So it is where a program that
#   wants little got no processor for STALL_MS, or where no processor was free for CROWD_MS while
#   others did a quarter of the work. The test is PLAYED AGAIN with no other test beside it, at
#   most twice.
# - Else it is played twice more: alone, and beside as much work of others as there was. Where
#   neither play fails, the test is FLAKY and passes. Its log is kept in FLAKY_DIR.
# - Some failures are never excused: those that once_is_enough.txt lists, and those of tests that
#   do not measure real time.
#
#   driver.sh --test-name TEST --log-file FILE --trs-file FILE ... -- TEST...
#
# STALL_MS=0 plays each test once. The file times has a line a play: how many milliseconds it took,
# how many of a processor, and the test.
stall_ms=${STALL_MS:-50}
crowd_ms=${CROWD_MS:-250}
again=2
driver=${srcdir:?}/build-aux/test-driver
tests=${builddir:?}/tests
flaky_dir=${FLAKY_DIR:-$builddir/flaky}

for argument; do
    case $last in
    --test-name) name=$argument ;;
    --log-file) log=$argument ;;
    --trs-file) trs=$argument ;;
    esac
    [ "$argument" != -- ] || break
    last=$argument
done

# Each test holds the room, a shared lock; one that is played alone has it alone. All wait for
# their turn at its door: so the one that waits for the others to leave is not passed.
enter() { # [FLOCK-OPTION]
    exec 9>"$tests/room.lock" 8>"$tests/door.lock"
    flock 8
    flock "$@" 9
    exec 8>&-
}

# Sets ms: the processor time of all that this shell has waited for.
tell_own() {
    times >"$log.stall"
    ms=$(awk 'NR == 2 { gsub("[ms]", " "); print int(($1 * 60 + $2 + $3 * 60 + $4) * 1000) }' \
        "$log.stall")
}

# Sets now_ms, since boot; 0 where the kernel does not say.
tell_clock() {
    now_ms=0
    ! read -r up rest </proc/uptime || now_ms=$(((${up%.*} * 100 + 1${up#*.} - 100) * 10))
} 2>/dev/null

# Sets stall and crowd, the longest of each in milliseconds; busy, what all processors worked;
# others, what of that was not for the test; and threads, how many wanted a processor at a time.
play() { # ARGUMENT...
    tell_own
    before=$ms
    tell_clock
    began_ms=$now_ms
    "$tests/support/stall_meter" >"$log.stall" 9>&- &
    pid=$!
    sh "$driver" "$@" 9>&-
    status=$?
    kill $pid
    wait $pid
    read -r stall crowd busy threads <"$log.stall"
    tell_own
    others=$((${busy:-0} - ms + before))
    tell_clock
    echo "$((now_ms - began_ms)) $((ms - before)) $name" >>"$tests/times"
    rm -f "$log.stall"
    return $status
}

failed() {
    grep -Eq '^:global-test-result: (FAIL|ERROR)' "$trs"
}

# A failure that is one, whatever the machine did.
certain() {
    case $name in
    tests/base/* | tests/core/* | tests/config/* | tests/fuzz/* | tests/model/* | tests/sim/*) return 0 ;;
    esac
    sed '/^#/d; /^$/d' "$srcdir/tests/once_is_enough.txt" >"$log.certain"
    grep -Eqf "$log.certain" "$log"
    found=$?
    rm -f "$log.certain"
    return $found
}

may_be_late() {
    [ "$stall_ms" -gt 0 ] && failed && ! certain
}

crowded() {
    [ "${crowd:-0}" -ge "$crowd_ms" ] && [ "$others" -gt 0 ] && [ $((others * 4)) -ge "$busy" ]
}

without_processor() {
    [ "${stall:-0}" -ge "$stall_ms" ] || crowded
}

tell_machine() {
    echo "stalled for $stall ms, no processor free for $crowd ms; others had $others of $busy ms"
}

keep() { # WORDS: what is known of the last play, for the log of all
    {
        echo "$*"
        sed 's/^/| /' "$log"
    } >>"$log.before"
}

# As many threads as there were beside the test, while it is played.
play_beside_load() { # ARGUMENT...
    "$tests/support/busy_loops" "$loops" 9>&- &
    load=$!
    play "$@"
    status=$?
    kill $load
    wait $load 2>/dev/null
    return $status
}

# It fails in neither of two plays more.
passes_twice() { # ARGUMENT...
    keep "FAILED ONCE: $(tell_machine), $threads threads at a time"
    loops=$((${threads:-0} > 1 ? threads - 1 : 1))
    [ "$loops" -le 32 ] || loops=32
    enter
    play "$@" && ! failed || return
    play_beside_load "$@" && ! failed
}

tell_flaky() {
    mkdir -p "$flaky_dir"
    {
        echo "FLAKY: $name failed once, and not when it was played again alone and beside $loops busy loops"
        cat "$log.before"
    } >"$log.flaky"
    cp "$log.flaky" "$flaky_dir/$(echo "$name" | tr / -).log"
    cat "$log.flaky" >>"$log"
    rm -f "$log.flaky" "$log.before"
}

rm -f "$log.before" # of a run that was interrupted
enter -s
play "$@" || exit
while may_be_late && without_processor && [ $again -gt 0 ]; do
    again=$((again - 1))
    keep "PLAYED AGAIN: what follows failed while the machine $(tell_machine)"
    enter
    play "$@" || exit
done
# Who was played again alone, and failed there, has failed twice.
if [ $again -eq 2 ] && may_be_late && passes_twice "$@"; then
    tell_flaky
fi
! failed || tell_machine >>"$log"
[ ! -f "$log.before" ] || { cat "$log.before" >>"$log" && rm -f "$log.before"; }
