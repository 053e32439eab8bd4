#!/bin/sh
# tags: long
# chaos_stall_test.sh - redlock-chaos on a machine that stalls: contenders and proxies that are
# stopped from outside, as a starved machine would. Keys that stay so much longer are excused,
# and it is told; what was never taken back is found all the same.

# shellcheck disable=SC1091,SC2154 # chaos_rig.sh sets them
. "${srcdir:-.}/tests/support/chaos_rig.sh"

# The processes that lead a group beside the masters: the proxies, which come first, and then
# the contenders.
leaders() { # NAME
    # shellcheck disable=SC2013 # words are wanted
    for p in $(cat /proc/"$(cat "$work/$1.pid")"/task/*/children 2>/dev/null); do
        read -r _ comm _ _ group _ <"/proc/$p/stat" 2>/dev/null || continue
        [ "$group" = "$p" ] || continue
        case $comm in *redlock-c*) echo "$p" ;; esac
    done
}

# There are so many of them, and one of them holds something.
contend() { [ "$(leaders "$1" | wc -l)" -gt "$2" ]; }

# Stop these processes for 420 ms, 20 times. The first one stops 50 ms earlier, so that whoever has
# a lock lets go of it meanwhile, and the release is on its way for so long.
stop_often() { # PID...
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        kill -s STOP "$1" || return
        sleep 0.05
        kill -s STOP "$@" || return
        sleep 0.42
        kill -s CONT "$@" || return
        sleep 0.1
    done
}

stall() { # NAME WHICH: as sed would print them
    check "$1: it has begun" await contend "$1" 8
    # shellcheck disable=SC2046 # words are wanted
    check "$1: it is stopped from outside" stop_often $(leaders "$1" | sed -n "$2")
}

figure() { # KEY: of the report
    sed -n "s/.*\"$1\": \\([0-9]*\\).*/\\1/p" "$work/$it/report/report.json" | head -n 1
}

start() { # NAME ARGUMENT...
    name=$1
    shift
    begin "$name" --local 3 --clients 8 --hold 20ms --ttl 500ms --seed 1 --faults none \
        --duration 20s --min-holds 0 --report "$work/$name/report" "$@"
}

# ---- contenders alone ----

start some
stall some '2,$p'
end some
check 'contenders that are stopped break nothing' exits 0
check 'the verdict says that the machine stalled' \
    says '; the machine stalled for [0-9]* ms at the longest (contenders that did not run: 8 of 8;' out
check 'each stop was noticed by all of them' [ "$(figure stalls)" -ge 160 ]
check 'how many they were is told' [ "$(figure stalled_contenders)" -eq 8 ]
check 'and how long' [ "$(figure longest_stall_ms)" -ge 400 ]
check 'the load is in the report' grep -q '"load_highest": [0-9]' "$work/$it/report/report.json"
check 'and on the page' grep -q 'Load of the machine' "$work/$it/report/report.html"

# ---- and the way to the masters ----

# Here keys stay: what was let go of is on its way, and nobody moves it. Locks are free to take,
# so that each stop finds some that are held: it takes no luck to see one.
start all --names 8
stall all p
end all
check 'nor do contenders and proxies' exits 0
check 'keys stayed that long, and are excused' [ "$(figure excused_by_stalls)" -ge 1 ]
check 'so says the verdict' says 'No violation .*; [0-9]* where the machine had stalled' out
check 'and the finding' says 'the machine stalled, which explains [0-9]* ms of that' out

# ---- and yet ----

# Stalls in the first half, and keys that nobody takes back in both.
start keeper --self-test=no-release --names 1
stall keeper '2,$p'
end keeper
check 'who never gives a lock back is caught on a machine that stalls' exits 0
check 'by keys' says 'broken client was caught: [0-9]* orphaned keys*' out

tell
