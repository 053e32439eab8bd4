#!/bin/sh
# driver.sh - runs one test, as automake's own driver does, with a meter beside it of what the
# machine withheld. Where a program that wants little got no processor for STALL_MS, a failed test
# has told nothing of the library. Nor has it where no processor was free for CROWD_MS, if others
# did a quarter of the work. It is played again with no other test beside it, at most twice. Its
# log says so, and keeps what failed. A test that failed while the machine had room has failed, and
# so has one that filled the machine by itself.
#
#   driver.sh --log-file FILE --trs-file FILE ... -- TEST...
#
# STALL_MS=0 plays each test once.
stall_ms=${STALL_MS:-50}
crowd_ms=${CROWD_MS:-250}
again=2
driver=${srcdir:?}/build-aux/test-driver
tests=${builddir:?}/tests

for argument; do
    case $last in
    --log-file) log=$argument ;;
    --trs-file) trs=$argument ;;
    esac
    [ "$argument" != -- ] || break
    last=$argument
done

# Each test holds the room, a shared lock; one that is played again has it alone. All wait for
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

# Sets stall and crowd, the longest of each in milliseconds; busy, what all processors worked; and
# others, what of that was not for the test.
play() { # ARGUMENT...
    tell_own
    before=$ms
    "$tests/support/stall_meter" >"$log.stall" 9>&- &
    pid=$!
    sh "$driver" "$@" 9>&-
    status=$?
    kill $pid
    wait $pid
    read -r stall crowd busy <"$log.stall"
    tell_own
    others=$((${busy:-0} - ms + before))
    rm -f "$log.stall"
    return $status
}

failed() {
    grep -Eq '^:global-test-result: (FAIL|ERROR)' "$trs"
}

crowded() {
    [ "${crowd:-0}" -ge "$crowd_ms" ] && [ "$others" -gt 0 ] && [ $((others * 4)) -ge "$busy" ]
}

failed_without_processor() {
    failed && [ "$stall_ms" -gt 0 ] && { [ "${stall:-0}" -ge "$stall_ms" ] || crowded; }
}

rm -f "$log.stalled" # of a run that was interrupted
enter -s
play "$@" || exit
while failed_without_processor && [ $again -gt 0 ]; do
    again=$((again - 1))
    {
        echo "PLAYED AGAIN: what follows failed while the machine stalled for $stall ms, and had" \
            "no processor free for $crowd ms; others had $others of $busy ms"
        sed 's/^/| /' "$log"
    } >>"$log.stalled"
    enter
    play "$@" || exit
done
! failed || echo "stalled for $stall ms, no processor free for $crowd ms; others had $others of" \
    "$busy ms" >>"$log"
[ ! -f "$log.stalled" ] || { cat "$log.stalled" >>"$log" && rm -f "$log.stalled"; }
