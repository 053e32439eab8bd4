#!/bin/sh
# tags: long
# chaos_test.sh - redlock-chaos on real masters: short runs with many faults find nothing wrong,
# a broken client is caught, whatever is wrong with the command line is told, masters of
# others are left alone, and no way out leaves a process or a file. CHAOS_LONG=1: long runs
# of the same faults, and nothing else; CHAOS_LONG=1 CHAOS_SEED=N: with another seed.

# shellcheck disable=SC1091,SC2154 # chaos_rig.sh sets them
. "${srcdir:-.}/tests/support/chaos_rig.sh"
cluster=${REDLOCK_CLUSTER:-}
long=${CHAOS_LONG:-}
seed=${CHAOS_SEED:-1}
three=$work/masters

# Every kind that was done has been seen to have an effect each time.
all_seen() { # KINDS
    awk '/seen to have an effect/ { kinds++; n = $2 + 0
            sub(/.*an effect: /, ""); sub(/;.*/, ""); if ($0 + 0 != n) bad++ }
        END { exit !(kinds >= '"$1"' && !bad) }' "$work/$it.out"
}

# ---- faults by kind, side by side ----

# Three masters and few contenders are enough for every kind to be done once; it is the long
# runs that look for what is rare.
faults() { # NAME DURATION FAULTS ARGUMENT...
    name=$1 duration=$2 kinds=$3
    shift 3
    size='--local 3 --clients 4'
    if [ -n "$long" ]; then duration=10m size='--local 5 --clients 8 --max-recovery 3s'; fi
    # shellcheck disable=SC2086 # words on purpose
    begin "$name" --ttl 500ms --seed "$seed" $size --duration "$duration" \
        --faults "$kinds" "$@"
}

nothing_wrong() { # NAME KINDS
    end "$1"
    check 'nothing wrong is found' exits 0
    check 'it says what it found' says '^No violation in [1-9]' out
    check 'each fault had an effect' all_seen "$2"
    check 'nothing is left behind' left_nothing
}

begin_faults() {
    faults procs 14s kill,kill-aof,kill-rdb,pause
    faults network 20s partition,partition-there,partition-back,halves,ring,delay,split,half-open,reset
    faults holders 16s pause-holder,kill-holder,script-flush,client-pause,sleep,oom
    # What breaks an assumption may cost something, which is told and is no violation.
    faults broken 12s clock,clock-back,flushall --report "$work/report"
}

end_faults() {
    nothing_wrong procs 4
    nothing_wrong broken 3
    check 'there is a report for people' grep -q '<svg' "$work/report/report.html"
    if command -v python3 >/dev/null; then
        check 'and one for machines' python3 -m json.tool "$work/report/report.json" "$work/parsed"
    fi
    nothing_wrong holders 6
    nothing_wrong network 9
}

if [ -n "$long" ]; then
    begin_faults
    end_faults
    tell
    exit
fi

# ---- masters of others, meanwhile ----

maxmemories() {
    for i in 1 2 3; do
        REDISCLI_AUTH='a b:%@' redis-cli -s "$three/$i/redis.sock" CONFIG GET maxmemory
    done
}

up() {
    [ -x "$cluster" ] || return 0
    "$cluster" up 3 --max-ttl 1s --password 'a b:%@' --dir "$three" >"$work/up.out" 2>&1
    list=$three/redlock.conf
    pids=$("$cluster" ls --dir "$three")
    maxmemories >"$work/before"
    begin ways --nodes "$list" --duration 9s --ttl 1s --seed 7 --clients 4 --faults \
        partition,reset,half-open,pause-holder
}

to_others() {
    [ -x "$cluster" ] || return 0
    end ways
    check 'masters of a node list, with a password' exits 0
    check 'faults on the way to them' all_seen 4
    check 'nothing is left behind' left_nothing
    run --nodes "$list" --faults client-pause
    check 'nothing is done to them without --yes' exits 64
    check 'which is said' says 'client-pause: .*--yes' err
    run --nodes "$list" --faults kill --yes
    check 'and no signal is sent to them with it' exits 64
    run --nodes "$list" --yes --faults all --duration 6s
    check 'a short run of all of theirs is refused' exits 64
    check 'what others would miss is left out' says '^left out: flushall (.*named' out
    run --nodes "$list" --ttl 5s
    check 'a ttl above their max-ttl is refused' exits 78
    begin agreed --nodes "$list" --yes --duration 7s --ttl 500ms --seed 8 \
        --faults client-pause,oom
}

agreed_with_others() {
    [ -x "$cluster" ] || return 0
    end agreed
    check 'what was agreed to is done' exits 0
    check 'and was seen' all_seen 2
    maxmemories >"$work/after"
    check 'and undone' cmp -s "$work/before" "$work/after"
    check 'they are the same as before' [ "$pids" = "$("$cluster" ls --dir "$three")" ]
    "$cluster" down --dir "$three" >/dev/null
}

# ---- an end from outside ----

there_are() { [ "$(ours "$work/$it" | wc -l)" -ge "$1" ]; }
gone() { [ -z "$(ours "$work/$it")" ]; }

begin_early() { # NAME PROCESSES ARGUMENT...: it has so many
    name=$1 processes=$2
    shift 2
    begin "$name" --local 3 --clients 4 --seed 9 "$@"
    check 'it runs' await there_are "$processes"
}

masters_of() { # NAME
    for p in $(ours "$work/$1"); do
        ! grep -qx 'redis-server\|valkey-server' "/proc/$p/comm" 2>/dev/null || echo "$p"
    done
}

refuse_writes() {
    socket=$(find "$work/$it" -type s | head -n 1)
    [ -n "$socket" ] && [ "$(redis-cli -s "$socket" CONFIG SET min-replicas-to-write 1)" = OK ]
}

stop() { # NAME SIGNAL
    it=$1
    kill -s "$2" "$(cat "$work/$1.pid")"
    end "$1"
}

# ---- all of these ----

begin_faults
up
# As long as the faults need, where nobody says how long.
begin_early usual 9 --faults all
check 'all faults without a duration: it is chosen' await says '(local), [3-9][0-9]s, seed' out
stop usual INT
check 'and is a run' exits 2
begin_early too_soon 2
stop too_soon TERM
check 'a TERM before it has begun' exits 2
check 'leaves nothing behind' left_nothing
# A run of its own, three masters, four contenders, the proxies.
begin_early killed 9
stop killed KILL
check 'where it is killed, all of its processes end' await gone
to_others
end_faults

# Who asks one master is sure to be found out where halves reach different ones.
begin liar --self-test --local 3 --duration 7s --ttl 500ms --seed 5 \
    --faults halves,kill,pause
begin unchecked --fenced --self-test=no-fence --local 3 --duration 9s --ttl 500ms --seed 5 \
    --clients 4 --names 1 --faults pause-holder
begin alone --duration 5s --local 1 --clients 2 --names 1 --faults none
begin slow --local 1 --duration 6s --ttl 500ms --clients 4 --names 1 --seed 3 \
    --faults kill,partition --max-recovery 1ms
begin few --duration 5s --local 3 --clients 4 --faults none --min-holds 1000000
begin uncaught --self-test --local 3 --duration 5s --seed 6 --clients 1 --faults none
printf 'node redis://127.0.0.1:%d\n' 1 2 3 >"$work/nobody"
begun=$(date +%s)
begin absent --nodes "$work/nobody" --faults none
begin_early died 9 --duration 20s --faults none
kill -KILL "$(masters_of died | head -n 1)"
# No lock is held twice here: it is the keys that give them away.
begin keeper --self-test=no-release --local 3 --duration 6s --ttl 500ms --clients 4 --names 1 \
    --faults none --min-holds 0
begin leaver --self-test=no-rollback --local 3 --duration 6s --ttl 500ms --clients 4 --names 1 \
    --faults none --min-holds 0
# Who can't be made to keep a key proves nothing by coming back without it.
begin bare --local 1 --clients 1 --duration 6s --faults kill --min-holds 0
check 'the only master is told to take no writes' await refuse_writes
begin_early amid 9 --faults partition,reset --hold 1ms
sleep 3 # faults begin after a second
stop amid INT
check 'an INT amid faults' exits 2
check 'is reported' says 'ended by signal 2' out
check 'with what was found so far' says '^holds: [1-9]' out
check 'and was amid them' says '^faults: [1-9]' out
check 'and leaves nothing behind' left_nothing
end died
check 'a master that somebody else ends is the end of the run' exits 2
check 'which is said' says 'node [1-3] was ended by signal 9' out
check 'and leaves nothing behind' left_nothing
end bare
check 'a kill of which nothing could be seen is not done' exits 2
check 'and why is said' says 'kill .*: 0; else: node 1 could not be made to keep a marker' out
end keeper
check 'who never gives a lock back is caught' exits 0
check 'by keys that stay after that' says 'ms after contender [0-3] had let go of it' out
check 'and by nothing else' says 'broken client was caught: [0-9]* orphaned keys*\(; the machine stalled .*\)\{0,1\}$' out
end leaver
check 'who never undoes a try in vain is caught' exits 0
check 'by keys that were of no use' says 'by which nobody ever had the lock' out
check 'and by nothing else' says 'broken client was caught: [0-9]* orphaned keys*\(; the machine stalled .*\)\{0,1\}$' out
end alone
check 'one master, no faults' exits 0
end slow
check 'a majority that comes back is not of use within a ms' exits 1
check 'which is said' says 'could vote again, and 1 ms are the most' out
end few
check 'too few holds show nothing' exits 2
end uncaught
check 'a broken client that is not caught shows nothing' exits 2
end unchecked
check 'a store that takes every write is caught' exits 0
check 'by a write with an old token' says 'a write with an old fencing token was taken' out
end liar
check 'the broken client is caught' exits 0
check 'that is said' says 'broken client was caught' out
end absent
check 'masters that are not there' exits 69
check 'are named' says '127.0.0.1:1 does not answer' err
check 'and not waited for as those are that do not vote yet' [ $(($(date +%s) - begun)) -lt 60 ]
agreed_with_others

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
    '--faults kill,-kill' '--faults none,-kill' '--faults none,kill' '--faults kill,none' \
    '--faults all,none' '--faults kill,-kill,-pause' '--faults pause,-kill,-pause' \
    '--local 3 --compose' '--nodes x --local 3' '--self-test --client x' '--min-holds x' '--self-test=x' '--max-recovery 0s' \
    '--self-test=no-release --kind fair' '--min-available x' '--min-available 101' \
    '--min-available -1' '--min-masters 3' '--client x --min-masters 65' \
    '--fenced --client x' '--fenced --self-test' '--self-test=no-fence' '--fencing strict' '--fenced --fencing x' \
    '--fenced --fencing strict --nodes x' '--faults disconnect' '--local 2 --faults ring' \
    '--duration 5s --faults kill,pause,sleep,oom'; do
    # shellcheck disable=SC2086 # words on purpose
    run $wrong
    check "wrong usage: $wrong" exits 64
    check "one line about: $wrong" [ "$(wc -l <"$work/$it.err")" -eq 1 ]
    check "nothing is left behind of: $wrong" left_nothing
done
run --faults kil
check 'what was meant is guessed' says 'did you mean kill' err
run --faults kill,-kill
check 'what is left of it is told' says 'nothing is left of that; name a kind that stays' err
run --faults none,-kill
check 'none with others: what would be right is told' says 'none stands alone' err
run --duration 5s --faults kill,pause,sleep,oom
check 'how long it would have to be is told' says 'give [0-9]*s or more' err
run --faults ''
check 'wrong usage: an empty list' exits 64
run --report "$work/none/report"
check 'where no report can be written, there is no run' exits 74
check 'it says why' says 'cannot make' err
check 'nothing was begun' [ ! -s "$work/$it.out" ]
run --nodes "$work/missing"
check 'a node list that is not there' exits 78

tell
