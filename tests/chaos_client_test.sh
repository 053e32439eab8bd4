#!/bin/sh
# chaos_client_test.sh - somebody else's client under redlock-chaos: is it told what
# docs/CHAOS.md says, is a liar caught, and is one that dies, dawdles or talks nonsense an error
# with its line? The clients here are a few lines of shell that take no lock anywhere.

# shellcheck disable=SC2016 # what is quoted is for the clients

set -u
LC_ALL=C
export LC_ALL
chaos=${REDLOCK_CHAOS:-./redlock-chaos}
root=$(cd "${srcdir:-.}" && pwd) || exit 99
command -v redis-server >/dev/null || command -v valkey-server >/dev/null || exit 77

work=$(mktemp -d "${TMPDIR:-/tmp}/redlock-chaos-client.XXXXXX") || exit 99
checks=0 failures=0
TMPDIR=$work/tmp
export TMPDIR
mkdir "$TMPDIR"

# The processes that work below our directory, or were told a file in it.
ours() {
    for p in /proc/[0-9]*; do
        case $(readlink "$p/cwd" 2>/dev/null) in
        "$work"/*) echo "${p#/proc/}" && continue ;;
        esac
        ! grep -qa "$work" "$p/cmdline" 2>/dev/null || echo "${p#/proc/}"
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

# A client: what it says to each line. $1 is its name, the rest are cases of shell.
client() {
    name=$1
    shift
    {
        echo 'count=0'
        echo 'while read -r verb rest; do'
        echo 'count=$((count + 1)); echo "$verb $rest" >>"'"$work/$name.heard"'"'
        echo 'case $verb in'
        for line in "$@"; do echo "$line ;;"; done
        echo 'hello) echo ok shell 1 ;; validity) echo ok 900 ;; quit) exit 0 ;; *) echo ok ;;'
        echo 'esac; done'
    } >"$work/$name"
}

run() { # CLIENT ARGUMENT...
    it=$1
    shift
    "$chaos" --local 3 --faults none --duration 5s --ttl 1s --seed 1 --client "exec $it" "$@" \
        >"$work/out" 2>"$work/err"
    status=$?
}

exits() { [ "$status" -eq "$1" ]; }
says() { cat "$work/out" "$work/err" | grep -Fq -- "$1"; }
left_nothing() { [ -z "$(ls -A "$TMPDIR")" ] && [ -z "$(ours)" ]; }
heard() { grep -Eq -- "$2" "$work/$1.heard"; }
wrong() { # CLIENT SENTENCE
    run "sh $work/$1" --clients 1 --duration 20s
    check "$1: an error" exits 2
    check "$1: says what" says "the client $2"
    check "$1: leaves nothing behind" left_nothing
}

# ---- what it is told ----

client honest 'acquire) echo ok $count'
run "sh $work/honest" --clients 1 --names 1 --min-holds 20
check 'a client that nobody contends with passes, with tokens that grow' exits 0
url='redis://127\.0\.0\.1:[0-9]+'
check 'it is greeted, with three masters' heard honest "^hello 1 ttl_ms 1000 nodes $url $url $url\$"
check 'once' [ "$(grep -c '^hello' "$work/honest.heard")" -eq 1 ]
check 'it is told names and times' heard honest '^acquire [^ ]+ [0-9]+$'
check 'it is asked for its validity' heard honest '^validity $'
check 'now and then to extend' heard honest '^extend $'
check 'as many releases as locks' [ "$(grep -c '^acquire' "$work/honest.heard")" -eq \
    "$(grep -c '^release' "$work/honest.heard")" ]
check 'and it is told to end' [ "$(tail -n 1 "$work/honest.heard")" = 'quit ' ]
check 'that leaves nothing behind' left_nothing

# ---- what it says ----

client liar
run "sh $work/liar" --clients 3 --names 1
check 'who gives one lock to three is caught' exits 1

client refuser 'acquire) echo no held'
run "sh $work/refuser" --clients 2
check 'no locks at all have shown nothing' exits 2
check 'and that is no fault in what it said' eval '! says "the client"'

client late_owner 'validity) echo ok 0'
run "sh $work/late_owner" --clients 2 --names 1
check 'a lock that has run out is none' exits 2
check 'and is released' [ "$(grep -c '^acquire' "$work/late_owner.heard")" -eq \
    "$(grep -c '^release' "$work/late_owner.heard")" ]

client loser 'validity) [ $((count % 4)) -eq 0 ] && echo gone away || echo ok 900' \
    'release) echo no quorum' 'hello) printf "ok\r\n"'
run "sh $work/loser" --clients 1 --names 1 --min-holds 5
check 'losses, releases that fail, and lines that end as elsewhere are no error' exits 0

client unfenced 'acquire) echo ok $((1000000 - count))'
run "sh $work/unfenced" --clients 1 --names 1
check 'tokens that fall are caught' exits 1

# ---- nonsense, and an end ----

client nonsense 'acquire) echo maybe'
wrong nonsense 'said what is no answer: "maybe" after "acquire"'
client almost 'acquire) echo none'
wrong almost 'said what is no answer: "none" after "acquire"'
client number 'validity) echo ok soon'
wrong number 'said what is no answer: "ok soon" after "validity"'
client negative 'validity) echo ok -5'
wrong negative 'said what is no answer: "ok -5" after "validity"'
client empty 'release) echo'
wrong empty 'said what is no answer after "release"'
client binary 'acquire) printf "\001\377\n"'
wrong binary 'said what is no answer: "\x01\xff" after "acquire"'
client endless 'acquire) while :; do printf xxxxxxxxxxxxxxxx; done'
wrong endless 'sent what is no line of text: "xxxx'
client twice 'acquire) printf "ok\nok\n"'
wrong twice 'spoke without being asked: "ok" before "validity"'
client half 'release) printf "ok\nand"'
wrong half 'spoke without being asked: "and" before "acquire"'
client unwilling 'hello) echo no masters of mine'
wrong unwilling 'refused to begin: "no masters of mine" after "hello"'
client dying 'release) [ "$count" -gt 20 ] && exit 3; echo ok'
wrong dying 'exited with 3 after "release"'
client killed 'validity) kill -KILL $$'
wrong killed 'was ended by signal 9 (Killed) after "validity"'
client slow 'validity) sleep 30'
wrong slow 'did not answer in 10000 ms after "validity"'

run "$work/none-such" --clients 1
check 'a client that is not there' exits 2
check 'ends at once' says 'the client exited with 127 after "hello"'

# ---- one that waits for ever is ended with the run ----

client waiting 'acquire) exec sleep 1000'
begun=$(date +%s)
run "sh $work/waiting" --clients 2
check 'who never gets a lock has shown nothing' exits 2
check 'and is not waited for' [ $(($(date +%s) - begun)) -lt 20 ]
check 'nor left behind' left_nothing

# ---- a real one ----

if command -v python3 >/dev/null; then
    run "python3 $root/tests/interop/single_master.py" --clients 3 --names 2 --min-holds 20
    check 'a lock on one master passes where nothing happens to it' exits 0
fi

printf 'Checks: %d, Failures: %d, Errors: 0\n' "$checks" "$failures"
[ "$failures" -eq 0 ]
