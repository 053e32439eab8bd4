#!/bin/sh
# tags: long
# chaos_kinds_test.sh - redlock-chaos with every kind of lock: short runs under faults find nothing
# wrong, on one master and on several, and a client that is broken is caught with each of them.
# CHAOS_LONG=1: long runs, and nothing else; CHAOS_LONG=1 CHAOS_SEED=N: with another seed.

# shellcheck disable=SC1091 # chaos_rig.sh sets what is used
. "${srcdir:-.}/tests/support/chaos_rig.sh"
long=${CHAOS_LONG:-}
seed=${CHAOS_SEED:-1}

# NAME KIND MASTERS FAULTS ARGUMENT...
contend() {
    name=$1 kind=$2 local=$3 faults=$4
    shift 4
    size='--clients 4 --duration 9s'
    if [ -n "$long" ]; then size='--clients 8 --duration 10m'; fi
    # shellcheck disable=SC2086 # words on purpose
    begin "$name" --kind "$kind" --local "$local" --ttl 500ms --seed "$seed" $size \
        --faults "$faults" "$@"
}

nothing_wrong() { # NAME
    end "$1"
    check 'nothing wrong is found' exits 0
    check 'it says what it found' says '^No violation in [1-9]' out
    check 'nothing is left behind' left_nothing
}

many=kill,pause,partition,kill-holder
if [ -n "$long" ]; then many=all; fi

contend rw3 read-write 3 "$many" --fenced --report "$work/report"
contend rw1 read-write 1 "${many#kill,}"
contend re3 reentrant 3 "$many" --fenced
nothing_wrong rw3
nothing_wrong rw1
nothing_wrong re3
contend se3 several 3 "$many" --fenced --report "$work/several"
contend re1 reentrant 1 "${many#kill,}"
contend fair fair 1 "${many#kill,}" --fenced
[ -n "$long" ] || contend liar-rw read-write 3 none --self-test --min-holds 0
nothing_wrong se3
nothing_wrong re1
nothing_wrong fair
if [ -n "$long" ]; then
    tell
    exit
fi
end liar-rw
check 'a reader that leaves no trace is caught' exits 0
check 'by what it reads, too' says 'broken client was caught: .*changed read' out
begin liar-fair --kind fair --self-test --duration 7s --ttl 500ms --clients 4 --names 1 --faults none
begin liar-re --kind reentrant --local 3 --self-test --duration 7s --ttl 500ms --seed 5 \
    --faults halves,kill,pause
begin liar-se --kind several --local 3 --self-test --duration 7s --ttl 500ms --clients 4 \
    --faults none
end liar-fair
check 'who looks and then takes is caught' exits 0
end liar-re
check 'who asks one master is caught' exits 0
end liar-se
check 'who takes one of several names is caught' exits 0

# ---- what a report says ----

it=rw3
if command -v python3 >/dev/null; then
    check 'readers had it too, which the report tells' python3 -c '
import json, sys
report = json.load(open(sys.argv[1]))
assert report["options"]["kind"] == "read-write"
assert 0 < report["figures"]["shared"] < report["figures"]["holds"]
assert report["figures"]["changed_reads"] == 0' "$work/report/report.json"
fi
check 'and people are told of which kind the locks are' grep -q '3 read-write locks' \
    "$work/report/report.html"
check 'also where they are taken several at once' grep -q '3 locks, several at once' \
    "$work/several/report.html"
check 'and so are programs' grep -q '"kind": "several"' "$work/several/report.json"

# ---- what does not go together ----

for wrong in '--kind' '--kind shared' '--kind fair --local 3' '--kind fair --local 5' \
    '--kind read-write --client x' '--kind several --names 1'; do
    # shellcheck disable=SC2086 # words on purpose
    run $wrong
    check "wrong usage: $wrong" exits 64
    check "one line about: $wrong" [ "$(wc -l <"$work/$it.err")" -eq 1 ]
done
printf 'guard off\nnode unix://%s/1\nnode unix://%s/2\n' "$work" "$work" >"$work/two"
run --kind fair --nodes "$work/two" --faults none --duration 5s
check 'fair locks of a node list of two are refused' exits 64
check 'which is said' says 'one master' err

tell
