#!/bin/sh
# driver.sh - runs one test, as automake's own driver does, with a meter of the machine's stalls
# beside it. A test that failed while the machine withheld the processor for STALL_MS or longer
# has told nothing of the library: it is played again, at most twice, one such test at a time.
# Its log says so, and keeps what failed. A test that failed without a stall has failed.
#
#   driver.sh --log-file FILE --trs-file FILE ... -- TEST...
#
# STALL_MS=0 plays each test once.
stall_ms=${STALL_MS:-50}
again=2
driver=${srcdir:?}/build-aux/test-driver
meter=${builddir:?}/tests/support/stall_meter

for argument; do
    case $last in
    --log-file) log=$argument ;;
    --trs-file) trs=$argument ;;
    esac
    [ "$argument" != -- ] || break
    last=$argument
done

# Sets stall: the longest one, in milliseconds.
play() { # ARGUMENT...
    "$meter" >"$log.stall" &
    pid=$!
    sh "$driver" "$@"
    status=$?
    kill $pid
    wait $pid
    stall=$(cat "$log.stall")
    rm -f "$log.stall"
    return $status
}

failed_by_a_stall() {
    grep -Eq '^:global-test-result: (FAIL|ERROR)' "$trs" && [ "$stall_ms" -gt 0 ] &&
        [ "${stall:-0}" -ge "$stall_ms" ]
}

rm -f "$log.stalled" # of a run that was interrupted
play "$@" || exit
while failed_by_a_stall && [ $again -gt 0 ]; do
    again=$((again - 1))
    {
        echo "PLAYED AGAIN: what follows failed while the machine stalled for $stall ms"
        sed 's/^/| /' "$log"
    } >>"$log.stalled"
    exec 9>"$builddir/tests/played-again.lock"
    flock 9
    play "$@" 9>&- || exit
done
[ ! -f "$log.stalled" ] || { cat "$log.stalled" >>"$log" && rm -f "$log.stalled"; }
