#!/bin/sh
# driver_test.sh - tests/driver.sh plays a test again only where it failed beside a stall of the
# machine, at most twice, and keeps what failed.
# shellcheck disable=SC1091,SC2154 # shell_rig.sh, and what make sets

. "${srcdir:-.}/tests/support/shell_rig.sh"
root=$(cd "${srcdir:-.}" && pwd) || exit 99
make_work rl-driver
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
check 'its log says why' logged '^PLAYED AGAIN.* 50 ms$'
check 'and keeps what failed' logged '^| play 1$'
run 80 2
check 'twice' ended PASS 3
check 'each is told' [ "$(grep -c '^PLAYED AGAIN' a.log)" -eq 2 ]
run 80 9
check 'and not more often' ended FAIL 3
run 80 1 STALL_MS=0
check 'STALL_MS=0 plays each test once' ended FAIL 1
check 'no other file is left' [ "$(find . -name '*.stall*' | grep -vc stall_meter)" -eq 0 ]

tell
