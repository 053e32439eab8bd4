#!/bin/sh
# chaos_test.sh - redlock-chaos on real masters: short runs with many faults find nothing wrong,
# a broken client is caught, whatever is wrong with the command line is told, masters of
# others are left alone, and no way out leaves a process or a file.

set -u
LC_ALL=C
export LC_ALL
chaos=${REDLOCK_CHAOS:-./redlock-chaos}
cluster=${REDLOCK_CLUSTER:-}
command -v redis-server >/dev/null || command -v valkey-server >/dev/null || exit 77

work=$(mktemp -d "${TMPDIR:-/tmp}/redlock-chaos-test.XXXXXX") || exit 99
checks=0 failures=0
TMPDIR=$work/tmp
export TMPDIR
mkdir "$TMPDIR"

# The processes that work below our directory: masters; and runs, which begin in it.
ours() {
    for p in /proc/[0-9]*; do
        case $(readlink "$p/cwd" 2>/dev/null) in
        "$work"/*) echo "${p#/proc/}" ;;
        esac
    done
}

clean_up() {
    [ ! -d "$work/three" ] || "$cluster" down --dir "$work/three" >/dev/null 2>&1
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
    for f in out err; do [ ! -s "$work/$f" ] || tail -n 30 "$work/$f" | sed "s/^/    $f| /"; done
}

run() { # ARGUMENT...
    (cd "$TMPDIR" && exec "$chaos" "$@") >"$work/out" 2>"$work/err"
    status=$?
}

left_nothing() { [ -z "$(ls -A "$TMPDIR")" ] && [ -z "$(ours)" ]; }
says() { grep -q -- "$1" "$work/$2"; }
exits() { [ "$status" -eq "$1" ]; }

# Every kind that was done has been seen to have an effect each time.
all_seen() {
    awk '/seen to have an effect/ { kinds++; n = $2 + 0
            sub(/.*an effect: /, ""); sub(/;.*/, ""); if ($0 + 0 != n) bad++ }
        END { exit !(kinds >= '"$1"' && !bad) }' "$work/out"
}

# ---- faults by kind ----

run --duration 10s --ttl 500ms --seed 1 --faults kill,kill-aof,kill-rdb,pause --clients 5
check 'killed and stopped masters: nothing wrong' exits 0
check 'killed and stopped masters: each had an effect' all_seen 4
check 'it says what it found' says '^No violation in [1-9]' out
check 'nothing is left behind' left_nothing

run --duration 15s --ttl 500ms --seed 2 --clients 5 --faults \
    partition,partition-there,partition-back,halves,ring,delay,split,half-open,reset
check 'faults of the network: nothing wrong' exits 0
check 'faults of the network: each had an effect' all_seen 9

run --duration 11s --ttl 500ms --seed 3 --faults pause-holder,kill-holder,script-flush,client-pause,sleep,oom
check 'faults of holders, and by commands: nothing wrong' exits 0
check 'faults of holders, and by commands: each had an effect' all_seen 6

# What breaks an assumption may cost something, which is told and is no violation.
run --duration 9s --ttl 500ms --seed 4 --faults clock,clock-back,flushall --report "$work/report"
check 'clocks and lost keys: no violation' exits 0
check 'clocks and lost keys: each had an effect' all_seen 3
check 'there is a report for people' grep -q '<svg' "$work/report/report.html"
if command -v python3 >/dev/null; then
    check 'and one for machines' python3 -m json.tool "$work/report/report.json" "$work/parsed"
fi
check 'nothing is left behind by all of these' left_nothing

run --duration 5s --local 1 --clients 2 --names 1 --faults none
check 'one master, no faults' exits 0

# ---- a run that shows nothing is no success ----

run --duration 5s --faults none --min-holds 1000000
check 'too few holds show nothing' exits 2
run --self-test --duration 9s --ttl 500ms --seed 5 --faults partition,kill,pause
check 'the broken client is caught' exits 0
check 'that is said' says 'broken client was caught' out
run --self-test --duration 5s --seed 6 --clients 1 --faults none
check 'a broken client that is not caught shows nothing' exits 2

# ---- masters of others ----

if [ -x "$cluster" ]; then
    "$cluster" up 3 --max-ttl 1s --password 'a b:%@' --dir "$work/three" >"$work/out" 2>&1
    list=$work/three/redlock.conf
    pids=$("$cluster" ls --dir "$work/three")
    run --nodes "$list" --duration 9s --ttl 500ms --seed 7 --clients 4 --faults \
        partition,reset,half-open,pause-holder
    check 'masters of a node list, with a password' exits 0
    check 'faults on the way to them' all_seen 4
    run --nodes "$list" --faults client-pause
    check 'nothing is done to them without --yes' exits 64
    check 'which is said' says 'client-pause: .*--yes' err
    run --nodes "$list" --faults kill --yes
    check 'and no signal is sent to them with it' exits 64
    run --nodes "$list" --yes --faults all --duration 6s
    check 'a short run of all of theirs is refused' exits 64
    check 'what others would miss is left out' says '^left out: flushall (.*named' out
    run --nodes "$list" --yes --duration 7s --ttl 500ms --seed 8 --faults client-pause,oom
    check 'what was agreed to is done' exits 0
    check 'and was seen' all_seen 2
    for i in 1 2 3; do
        REDISCLI_AUTH='a b:%@' redis-cli -s "$work/three/$i/redis.sock" CONFIG GET maxmemory |
            grep -qx 0 || echo "$i"
    done >"$work/changed"
    check 'and undone' [ ! -s "$work/changed" ]
    check 'they are the same as before' [ "$pids" = "$("$cluster" ls --dir "$work/three")" ]
    run --nodes "$list" --ttl 5s
    check 'a ttl above their max-ttl is refused' exits 78
    "$cluster" down --dir "$work/three" >/dev/null
fi
run --nodes "$work/missing"
check 'a node list that is not there' exits 78

# ---- an end from outside ----

await_masters() {
    tries=0
    while [ "$(ours | wc -l)" -lt "$1" ] && [ $tries -lt 500 ]; do
        tries=$((tries + 1))
        sleep 0.02
    done
    [ $tries -lt 500 ]
}

end_early() { # SIGNAL SECONDS PROCESSES: so long after there are so many
    (cd "$TMPDIR" && exec "$chaos" --seed 9) >"$work/out" 2>"$work/err" &
    pid=$!
    check "before $1: it runs" await_masters "$3"
    sleep "$2"
    kill -s "$1" $pid
    wait $pid 2>/dev/null
    status=$?
}

end_early TERM 0 2
check 'a TERM before it has begun' exits 2
check 'leaves nothing behind' left_nothing
end_early INT 3 15
check 'an INT amid faults' exits 2
check 'is reported' says 'ended by signal 2' out
check 'with what was found so far' says '^holds: [1-9]' out
check 'and leaves nothing behind' left_nothing
end_early KILL 2 15
gone() {
    tries=0
    while [ -n "$(ours)" ] && [ $tries -lt 500 ]; do
        tries=$((tries + 1))
        sleep 0.02
    done
    [ $tries -lt 500 ]
}
check 'where it is killed, all of its processes end' gone
rm -rf "$TMPDIR" && mkdir "$TMPDIR" # a killed one can't tidy up

# ---- help, version, wrong usage ----

run --help
check '--help succeeds' exits 0
for told in --local --nodes --compose --client --self-test --report kill-rdb half-open; do
    check "--help tells of $told" says "$told" out
done
run --version
check '--version succeeds' exits 0
check '--version tells' says '^redlock-chaos [0-9]' out
for wrong in --nonsense -x operand '--local 0' '--local 65' '--local x' '--clients 0' \
    '--clients 65' '--names 0' '--duration 1s' '--duration 5' '--ttl 1ms' '--ttl' \
    '--hold 1s' '--seed -1' '--seed 1x' '--faults kil' '--faults kill,' '--faults ,' \
    '--local 3 --compose' '--nodes x --local 3' '--self-test --client x' '--min-holds x' \
    '--kind plain' '--fenced' '--faults disconnect' '--local 2 --faults ring' \
    '--duration 5s --faults kill,pause,sleep,oom'; do
    # shellcheck disable=SC2086 # words on purpose
    run $wrong
    check "wrong usage: $wrong" exits 64
    check "one line about: $wrong" [ "$(wc -l <"$work/err")" -eq 1 ]
done
run --faults kil
check 'what was meant is guessed' says 'did you mean kill' err
run --duration 5s --faults kill,pause,sleep,oom
check 'how long it would have to be is told' says 'give [0-9]*s or more' err
run --faults ''
check 'wrong usage: an empty list' exits 64
check 'nothing of all this is left behind' left_nothing

printf '%d checks, %d failures\n' "$checks" "$failures"
[ "$failures" -eq 0 ]
