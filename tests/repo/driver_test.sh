#!/bin/sh
# driver_test.sh - tests/driver.sh plays a test again only where it failed beside a stall of the
# machine, or while no processor was free: alone, at most twice. It keeps what failed.
# shellcheck disable=SC1091,SC2154 # shell_rig.sh, and what make sets

. "${srcdir:-.}/tests/support/shell_rig.sh"
root=$(cd "${srcdir:-.}" && pwd) || exit 99
make_work rl-driver
unset STALL_MS CROWD_MS
cd "$work" || exit 99
mkdir -p tests/support

# It is killed when the test has ended, and prints what STALL says.
cat >tests/support/stall_meter <<'END'
#!/bin/sh
trap 'echo "$STALL"; exit' TERM
touch "$PLAYED.metered"
while :; do sleep 0.01; done
END
# It fails for the first FAIL times. Each play waits for its own meter.
cat >a_test <<'END'
#!/bin/sh
until rm "$PLAYED.metered" 2>/dev/null; do sleep 0.01; done
echo x >>"$PLAYED"
echo "play $(wc -l <"$PLAYED")"
[ "$(wc -l <"$PLAYED")" -gt "$FAIL" ]
END
chmod +x a_test tests/support/stall_meter

run() { # STALL FAIL [VARIABLE=VALUE]
    rm -f played*
    env STALL="$1" FAIL="$2" PLAYED="$work/played" ${3:+"$3"} srcdir="$root" builddir="$work" \
        sh "$root/tests/driver.sh" --test-name a_test --log-file "$work/a.log" \
        --trs-file "$work/a.trs" --color-tests no --enable-hard-errors yes --expect-failure no \
        -- ./a_test >out 2>err
}
ended() { # VERDICT PLAYS
    grep -q "^:global-test-result: $1" a.trs && [ "$(wc -l <played)" -eq "$2" ] && [ ! -s err ]
}
logged() { grep -q -- "$1" a.log; }

run 0 0
check 'a test that passes is played once' ended PASS 1
run 900 0
check 'even beside a stall' ended PASS 1
check 'and its log speaks of none' eval '! logged "PLAYED AGAIN"'
run 49 1
check 'a failure without a stall is one' ended FAIL 1
run 50 1
check 'a failure beside a stall is played again' ended PASS 2
check 'its log says why' logged '^PLAYED AGAIN.* 50 ms'
check 'and keeps what failed' logged '^| play 1$'
run '0 249 100000' 1
check 'a failure while a processor was free is one' ended FAIL 1
check 'its log says what was measured' logged '^stalled for 0 ms, no processor free for 249 ms; others had'
run '0 250 100000' 1
check 'a failure while none was free is played again' ended PASS 2
run '0 250 0' 1
check 'but not where the test filled the machine by itself' ended FAIL 1
run 80 2
check 'twice' ended PASS 3
check 'each is told' [ "$(grep -c '^PLAYED AGAIN' a.log)" -eq 2 ]
run 80 9
check 'and not more often' ended FAIL 3
run 80 1 STALL_MS=0
check 'STALL_MS=0 plays each test once' ended FAIL 1

# Another test is under way when this one fails: it is played again when that one has ended.
exec 9>tests/room.lock
flock -s 9
(
    exec 9>&-
    run 80 1
) &
check 'it is to be played again' await [ -f a.log.stalled ]
sleep 0.2
check 'it waits for the others to end' [ "$(wc -l <played)" -eq 1 ]
exec 9>&-
wait
check 'and is played alone then' ended PASS 2
check 'no other file is left' [ "$(find . -name '*.stall*' | grep -vc stall_meter)" -eq 0 ]

tell
