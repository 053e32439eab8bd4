#!/bin/sh
# tags: long
# chaos_markers_test.sh - redlock-chaos with and without markers: what uptimes do not prove is
# found, and excused; with markers the same faults cost nothing. And a broken client is caught.
# CHAOS_LONG=1: a long run with all faults, and nothing else; CHAOS_LONG=1 CHAOS_SEED=N: with
# another seed.

# shellcheck disable=SC1091,SC2154 # chaos_rig.sh sets them
. "${srcdir:-.}/tests/support/chaos_rig.sh"
long=${CHAOS_LONG:-}
seed=${CHAOS_SEED:-1}

contend() { # NAME GUARD MASTERS FAULTS ARGUMENT...
    name=$1 guard=$2 local=$3 faults=$4
    shift 4
    begin "$name" --guard "$guard" --local "$local" --ttl 500ms --seed "$seed" --faults "$faults" \
        --report "$work/$name.report" "$@"
}

figure() { # KEY: of the report
    sed -n "s/.*\"$1\": \\([0-9]*\\).*/\\1/p" "$work/$it.report/report.json" | head -n 1
}

if [ -n "$long" ]; then
    contend long marker 5 all --fenced --duration 10m
    end long
    check 'nothing wrong is found' exits 0
    check 'it says what it found' says '^No violation in [1-9]' out
    tell
    exit
fi

# One master has all votes: who comes after a flush gets the lock at once, while another holds it.
one='--clients 6 --names 1 --hold 200ms --duration 12s --min-holds 0'
# shellcheck disable=SC2086 # words on purpose
contend blind on 1 flushall $one
# shellcheck disable=SC2086
contend proven marker 1 flushall $one
contend many marker 3 flushall,warm,kill,kill-aof,kill-holder --clients 4 --fenced \
    --duration 20s --min-holds 0
end blind
check 'an emptied master costs something without markers' exits 0
check 'which is excused' [ "$(figure excused)" -ge 1 ]
check 'and told' says 'where a fault had broken one' out
check 'the report tells the guard' grep -q '"guard": "on"' "$work/$it.report/report.json"
check 'nothing is left behind' left_nothing
end proven
check 'with markers it does not' exits 0
check 'nothing had to be excused' [ "$(figure excused)" -eq 0 ]
check 'the run had locks' [ "$(figure holds)" -ge 1 ]
check 'contenders found the loss' says 'flushall *[1-9][0-9]*, seen to have an effect: [1-9]' out
check 'the report tells the guard' grep -q '"guard": "marker"' "$work/$it.report/report.json"
check 'to people, too' grep -q 'guard is by markers' "$work/$it.report/report.html"
check 'no assumption was broken' [ -z "$(grep -o '"breaks": "[a-z-]*"' \
    "$work/$it.report/report.json")" ]
check 'nothing is left behind' left_nothing
end many
check 'nor do other servers, and restarts' exits 0
check 'nothing had to be excused' [ "$(figure excused)" -eq 0 ]
for kind in flushall warm kill kill-aof; do
    check "$kind was seen" says "$kind  *[1-9][0-9]*, seen to have an effect: [1-9]" out
done
check 'nothing is left behind' left_nothing

# Without markers another server is an excuse. The checker sees through a broken client as ever.
contend strange on 3 warm --clients 4 --duration 7s --min-holds 0
contend liar marker 3 halves,kill,pause --self-test --duration 7s
end strange
check 'another server without markers is no violation' exits 0
check 'and breaks an assumption' grep -q '"breaks": "one-server"' \
    "$work/$it.report/report.json"
end liar
check 'the broken client is caught' exits 0

# ---- what does not go together ----

printf 'node redis://127.0.0.1:1\n' >"$work/list"
for wrong in '--guard' '--guard off' '--guard markers' "--guard marker --nodes $work/list" \
    '--guard on --compose' '--guard marker --client x' \
    '--compose --faults warm'; do
    # shellcheck disable=SC2086 # words on purpose
    run $wrong
    check "wrong usage: $wrong" exits 64
    check "one line about: $wrong" [ "$(wc -l <"$work/$it.err")" -eq 1 ]
done

tell
