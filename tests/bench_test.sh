#!/bin/sh
# bench_test.sh - does redlock-bench work, print sane JSON, refuse what is wrong, and leave
# nothing behind? No figure is judged here: a test must not depend on how busy a machine is.

set -u
LC_ALL=C
export LC_ALL
bench=${REDLOCK_BENCH:-./redlock-bench}
command -v redis-server >/dev/null || command -v valkey-server >/dev/null || exit 77

work=$(mktemp -d "${TMPDIR:-/tmp}/redlock-bench-test.XXXXXX") || exit 99
checks=0 failures=0
TMPDIR=$work/tmp
export TMPDIR
mkdir "$TMPDIR"

# The servers that work below our directory.
ours() {
    for p in /proc/[0-9]*; do
        case $(readlink "$p/cwd" 2>/dev/null) in
        "$work"/*) echo "${p#/proc/}" ;;
        esac
    done
}

clean_up() {
    for p in $(ours); do kill -KILL "$p" 2>/dev/null; done
    rm -rf "$work"
}
trap 'clean_up' EXIT
trap 'exit 99' HUP INT TERM

check() { # WHAT COMMAND...
    what=$1
    shift
    checks=$((checks + 1))
    "$@" && return
    failures=$((failures + 1))
    printf 'FAILED: %s\n' "$what"
    for f in out err; do [ ! -s "$work/$f" ] || sed "s/^/    $f| /" "$work/$f"; done
}

run() { # ARGUMENT...
    "$bench" "$@" >"$work/out" 2>"$work/err"
    status=$?
}

left_nothing() { [ -z "$(ls -A "$TMPDIR")" ] && [ -z "$(ours)" ]; }
says() { grep -q -- "$1" "$work/$2"; }
exits() { [ "$status" -eq "$1" ]; }

# Every bracket closed, and every figure with numbers that a machine can read.
sane_json() {
    if command -v python3 >/dev/null; then
        python3 -m json.tool "$work/out" >/dev/null || return 1
    fi
    ! grep -Eiq '"(median|min|max)": *-?(nan|inf)' "$work/out" &&
        [ "$(grep -c '"scenario"' "$work/out")" -gt 20 ] &&
        [ "$(grep -c '"scenario"' "$work/out")" -eq \
            "$(grep -c '"max": [-+.e0-9]*, "rounds": [1-9][0-9]*[,}]' "$work/out")" ]
}

# ---- a quick run of everything ----
run --quick --json
check 'a quick run succeeds' exits 0
check 'its JSON is sane' sane_json
for scenario in pair memory fan-out 'one down' 'majority down' rollback; do
    check "it has figures of: $scenario" says "\"scenario\": \"$scenario:" out
done
for subject in library 'floor, same bytes' 'floor, bare SET'; do
    check "it measured: $subject" says "\"pairs a second\", \"of\": \"$subject\"" out
done
check 'nothing failed on the way' eval '! says "failed pairs" out'
check 'it leaves nothing behind' left_nothing

run --quick -s pair --unix -m 3
check 'a table, three masters, unix sockets' exits 0
check 'the table names them' says '3 masters (private, unix sockets)' out
check 'the table has the ratio' says 'pairs a second, library to' out
check 'that leaves nothing behind' left_nothing

# ---- an end from outside ----
"$bench" -s pair -r 100 >"$work/out" 2>"$work/err" &
pid=$!
tries=0
while [ "$(ours | wc -l)" -lt 5 ] && [ $tries -lt 500 ]; do
    tries=$((tries + 1))
    sleep 0.02
done
check 'it started its masters' [ $tries -lt 500 ]
kill -TERM $pid
wait $pid
status=$?
check 'a TERM ends it' exits 143
check 'and nothing is left behind' left_nothing

# ---- help, version, wrong usage, wrong files ----
run --help
check '--help succeeds' exits 0
check '--help tells of --json' says '--json' out
run --version
check '--version succeeds' exits 0
check '--version tells' says '^redlock-bench [0-9]' out
for wrong in --nonsense -x operand '-r 0' '-r 1x' '-r 101' '-m 65' '-m -1' '-d 10' '-d 1ms' \
    '-d 1h' '-s pairs' '-s pair,' '-s ,' '-n x -m 3' '-n x --unix' '-n x -s stall' '-r'; do
    # shellcheck disable=SC2086 # words on purpose
    run $wrong
    check "wrong usage: $wrong" exits 64
    check "one line about: $wrong" [ "$(wc -l <"$work/err")" -eq 1 ]
done
run -s ''
check 'wrong usage: an empty list' exits 64
run -n "$work/missing"
check 'a missing node file' exits 78
echo 'nodes redis://127.0.0.1' >"$work/wrong"
run -n "$work/wrong"
check 'a wrong node file' exits 78
check 'that names the place' says 'wrong:1:1' err
echo 'node redis://127.0.0.1:1' >"$work/nobody"
run -n "$work/nobody" -s pair --quick
check 'masters that are not there' exits 69
check 'nothing of all this is left behind' left_nothing

printf '%d checks, %d failures\n' "$checks" "$failures"
[ "$failures" -eq 0 ]
