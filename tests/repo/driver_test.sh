#!/bin/sh
# driver_test.sh - what tests/driver.sh makes of a test that failed. Beside a stall of the machine, or
# while no processor was free, the test is played again alone, at most twice. Else it is flaky if two
# more plays pass, one of them beside as much work as before. Some failures are never excused.
# shellcheck disable=SC1091,SC2154 # shell_rig.sh, and what make sets

. "${srcdir:-.}/tests/support/shell_rig.sh"
root=$(cd "${srcdir:-.}" && pwd) || exit 99
make_work rl-driver
unset STALL_MS CROWD_MS FLAKY_DIR
cd "$work" || exit 99
mkdir -p tests/support

# It is killed when the test has ended, and prints what STALL says.
cat >tests/support/stall_meter <<'END'
#!/bin/sh
trap 'echo "$STALL"; exit' TERM
touch "$PLAYED.metered"
while :; do sleep 0.01; done
END
# It says for how many loops it is, and that it has ended.
cat >tests/support/busy_loops <<'END'
#!/bin/sh
echo "$1" >"$PLAYED.loops"
trap 'echo ended >>"$PLAYED.loops"; exit' TERM
while :; do sleep 0.01; done
END
# It fails for the first FAIL times, with the words SAYS. Each play waits for its own meter.
cat >a_test <<'END'
#!/bin/sh
until rm "$PLAYED.metered" 2>/dev/null; do sleep 0.01; done
echo x >>"$PLAYED"
echo "play $(wc -l <"$PLAYED")"
[ -z "${SAYS-}" ] || echo "$SAYS"
[ -z "${FAIL_BESIDE_LOAD-}" ] || [ ! -f "$PLAYED.loops" ] || exit 1
[ "$(wc -l <"$PLAYED")" -gt "$FAIL" ]
END
chmod +x a_test tests/support/stall_meter tests/support/busy_loops

run() { # STALL FAIL [VARIABLE=VALUE]
    rm -rf played* flaky
    env STALL="$1" FAIL="$2" PLAYED="$work/played" ${3:+"$3"} srcdir="$root" builddir="$work" \
        sh "$root/tests/driver.sh" --test-name "${name:-a_test}" --log-file "$work/a.log" \
        --trs-file "$work/a.trs" --color-tests no --enable-hard-errors yes --expect-failure no \
        -- ./a_test >out 2>err
}
ended() { # VERDICT PLAYS
    grep -q "^:global-test-result: $1" a.trs && [ "$(wc -l <played)" -eq "$2" ] && [ ! -s err ]
}
logged() { grep -q -- "$1" a.log; }

run 0 0
check 'a test that passes is played once' ended PASS 1
check 'how long, by the clock and by a processor, is written down' \
    grep -Eqx '[0-9]+ [0-9]+ a_test' tests/times
run 900 0
check 'even beside a stall' ended PASS 1
check 'and its log speaks of none' eval '! logged "PLAYED AGAIN"'
run 49 1
check 'a failure without a stall, and no other one, is flaky' ended PASS 3
check 'its log says so' logged '^FLAKY: a_test failed once'
check 'and keeps what failed' logged '^| play 1$'
check 'which is kept elsewhere too' grep -q '^| play 1$' flaky/a_test.log
run '49 0 0 5' 1
check 'it was played beside as much work' [ "$(head -n 1 played.loops)" = 4 ]
check 'which has ended' await grep -q ended played.loops
run '0 0 0 900' 1
check 'up to a bound' [ "$(head -n 1 played.loops)" = 32 ]
run 49 2
check 'a failure that comes again alone is one' ended FAIL 2
check 'and not flaky' [ ! -e flaky ]
run 49 1 FAIL_BESIDE_LOAD=1
check 'so is one that comes again beside other work' ended FAIL 3
check 'and it is not flaky' [ ! -e flaky ]
run 50 1
check 'a failure beside a stall is played again' ended PASS 2
check 'its log says why' logged '^PLAYED AGAIN.* 50 ms'
check 'and keeps what failed' logged '^| play 1$'
run '0 249 100000' 1
check 'a failure while a processor was free may be flaky' ended PASS 3
check 'its log says what was measured' logged 'stalled for 0 ms, no processor free for 249 ms; others had'
run '0 250 100000' 1
check 'a failure while none was free is played again' ended PASS 2
run '0 250 0' 1
check 'but is not excused where the test filled the machine by itself' logged '^FLAKY'
run 80 2
check 'twice' ended PASS 3
check 'each is told' [ "$(grep -c '^PLAYED AGAIN' a.log)" -eq 2 ]
run 80 9
check 'and not more often' ended FAIL 3
run 80 1 STALL_MS=0
check 'STALL_MS=0 plays each test once' ended FAIL 1

for words in 'x.c:1:F:case:r1_overlap:0: Assertion' 'x.c:1:E:case:x:0: Test timeout expired' \
    'x.c:1:F:case:flush_makes_no_second_holder:0: no' 'FAILED: tokens grow, but a token fell' \
    'ERROR: AddressSanitizer: heap-use-after-free' 'SUMMARY: LeakSanitizer: 8 byte(s) leaked' \
    '==12== Invalid read of size 8' 'x.c:7:3: runtime error: shift' 'redlock: a.c:3: f: Assertion `x'\'' failed.' \
    'x.c:1:F:case:threads_lose_update:0: 3 lost updates' 'VIOLATED'; do
    run '900 900 100000' 1 SAYS="$words"
    check "once is enough: $words" ended FAIL 1
done
run 49 1 'SAYS=x.c:1:F:case:told_in_time:0: 300 ms; no violation in 3 holds'
check 'a late test has none of these' ended PASS 3
for name in tests/sim/a tests/model/a tests/core/a; do
    run 900 1
    check "once is enough in $name" ended FAIL 1
done
name=

# Another test is under way when this one fails: it is played again when that one has ended.
exec 9>tests/room.lock
flock -s 9
(
    exec 9>&-
    run 80 1
) &
check 'it is to be played again' await [ -f a.log.before ]
sleep 0.2
check 'it waits for the others to end' [ "$(wc -l <played)" -eq 1 ]
exec 9>&-
wait
check 'and is played alone then' ended PASS 2
check 'no other file is left' [ "$(find . -name '*.stall*' | grep -vc stall_meter)" -eq 0 ] &&
    check 'nor of what was kept' [ ! -f a.log.before ]

tell
