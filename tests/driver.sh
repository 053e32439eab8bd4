#!/bin/sh
# driver.sh - runs one test, as automake's own driver does, with a meter beside it of what the
# machine withheld. A test that failed while a program that wants little got no processor for
# STALL_MS, or while no processor was free for CROWD_MS, has told nothing of the library: it is
# played again with no other test beside it, at most twice. Its log says so, and keeps what
# failed. A test that failed while the machine had room has failed.
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

# Sets stall and crowd: the longest of each, in milliseconds.
play() { # ARGUMENT...
    "$tests/support/stall_meter" >"$log.stall" 9>&- &
    pid=$!
    sh "$driver" "$@" 9>&-
    status=$?
    kill $pid
    wait $pid
    read -r stall crowd <"$log.stall"
    rm -f "$log.stall"
    return $status
}

failed() {
    grep -Eq '^:global-test-result: (FAIL|ERROR)' "$trs"
}

failed_without_processor() {
    failed && [ "$stall_ms" -gt 0 ] &&
        { [ "${stall:-0}" -ge "$stall_ms" ] || [ "${crowd:-0}" -ge "$crowd_ms" ]; }
}

rm -f "$log.stalled" # of a run that was interrupted
enter -s
play "$@" || exit
while failed_without_processor && [ $again -gt 0 ]; do
    again=$((again - 1))
    {
        echo "PLAYED AGAIN: what follows failed while the machine stalled for $stall ms, and had" \
            "no processor free for $crowd ms"
        sed 's/^/| /' "$log"
    } >>"$log.stalled"
    enter
    play "$@" || exit
done
! failed || echo "stalled for $stall ms, no processor free for $crowd ms" >>"$log"
[ ! -f "$log.stalled" ] || { cat "$log.stalled" >>"$log" && rm -f "$log.stalled"; }
