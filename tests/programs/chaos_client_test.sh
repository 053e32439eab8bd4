#!/bin/sh
# tags: long
# chaos_client_test.sh - somebody else's client under redlock-chaos: is it told what
# docs/CHAOS.md says, is a liar caught, and is one that dies, dawdles or talks nonsense an error
# with its line? The clients here are a few lines of shell that take no lock anywhere.

# shellcheck disable=SC2016 # what is quoted is for the clients

# shellcheck disable=SC1091,SC2154 # chaos_rig.sh sets them
. "${srcdir:-.}/tests/support/chaos_rig.sh"
root=$(cd "${srcdir:-.}" && pwd) || exit 99

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
    } >"$work/$name.sh"
}

# Begin a run of the client, under its own name.
meet() { # CLIENT ARGUMENT...
    name=$1
    shift
    serve "$name" "exec sh $work/$name.sh" "$@"
}

serve() { # NAME COMMAND ARGUMENT...
    name=$1 command=$2
    shift 2
    begin "$name" --local 3 --faults none --duration 5s --ttl 1s --seed 1 --min-masters 0 \
        --client "$command" "$@"
}

tells() { cat "$work/$it.out" "$work/$it.err" | grep -Fq -- "$1"; }
heard() { grep -Eq -- "$2" "$work/$1.heard"; }
count() { grep -c "^$2" "$work/$1.heard"; }

# Bytes of the longest line that "many" heard and that fits the pattern, its newline included.
longest() { awk -v which="$1" '$0 ~ which && length($0) >= n { n = length($0) + 1 } END { print n }' \
    "$work/many.heard"; }

# releases_all CLIENT CONTENDERS: but for those between whose two the end of the run fell.
releases_all() {
    kept=$(($(count "$1" acquire) - $(count "$1" release)))
    [ "$kept" -ge 0 ] && [ "$kept" -le "$2" ]
}

# ---- what it is told, and what it says ----

client honest 'acquire) echo ok $count'
client many
client liar
client refuser 'acquire) echo no held'
client late 'validity) echo ok 0'
client loser 'validity) [ $((count % 4)) -eq 0 ] && echo gone away || echo ok 900' \
    'release) echo no quorum' 'hello) printf "ok\r\n"'
client unfenced 'acquire) echo ok $((1000000 - count))'
client waiting 'acquire) exec sleep 1000' # for ever: is ended with the run
meet honest --clients 1 --names 1 --min-holds 20
begin many --local 25 --faults none --duration 5s --seed 1 --clients 1 --names 64 \
    --min-holds 10 --min-masters 0 --client "exec sh $work/many.sh"
meet liar --clients 3 --names 1
meet refuser --clients 2 --min-holds 0
meet late --clients 2 --names 1
meet loser --clients 1 --names 1 --min-holds 5
meet unfenced --clients 1 --names 1
begun=$(date +%s)
meet waiting --clients 2
serve none "exec $work/none-such" --clients 1
if command -v python3 >/dev/null; then
    one="exec python3 $root/tests/interop/single_master.py"
    serve real "$one" --clients 3 --names 2 --min-holds 5 --report "$work/real/report"
    serve single "$one" --clients 3 --names 2 --min-masters 2
    end real
    check 'a lock on one master passes where no more is asked of it' exits 0
    check 'how many masters it asks is told' tells 'masters asked per hold: 1 of 3; 1 at least'
    check 'also to programs' \
        grep -q '"masters_asked_per_hold": 1.000' "$work/real/report/report.json"
    begin one --local 3 --faults none --duration 5s --ttl 1s --seed 1 --client "$one" --clients 3
    end single
    check 'and not where more is' exits 2
    end one
    check 'by default, a majority is' exits 2
    check 'that is said' tells 'asked 1 of 3 masters per hold, and a lock of 2 at least'
    check 'and it is not called passed' eval '! tells "No violation"'
fi

end honest
check 'a client that nobody contends with passes, with tokens that grow' exits 0
url='redis://127\.0\.0\.1:[0-9]+'
check 'it is greeted, with three masters' heard honest "^hello 1 ttl_ms 1000 nodes $url $url $url\$"
check 'once' [ "$(count honest hello)" -eq 1 ]
check 'it is told names and times' heard honest '^acquire [^ ]+ [0-9]+$'
check 'it is asked for its validity' heard honest '^validity $'
check 'now and then to extend' heard honest '^extend $'
check 'as many releases as locks' releases_all honest 1
check 'and it is told to end' [ "$(tail -n 1 "$work/honest.heard")" = 'quit ' ]
check 'that leaves nothing behind' left_nothing
end many
check 'many masters are told of in a line as long as it takes' exits 0
check 'that is above 512 bytes, then' [ "$(longest '^hello')" -gt 512 ]
check 'and no other line is' [ "$(longest '^[^h]')" -le 512 ]
check 'which the documentation says' grep -q 'bytes, either way, but for `hello`' "$root/docs/CHAOS.md"
end liar
check 'who gives one lock to three is caught' exits 1
end refuser
check 'no locks at all have shown nothing' exits 2
check 'also where none were asked for' tells 'no lock was ever had'
check 'and that is no fault in what it said' eval '! tells "the client"'
end late
check 'a lock that has run out is none' exits 2
check 'and is released' releases_all late 2
end loser
check 'losses, releases that fail, and lines that end as elsewhere are no error' exits 0
end unfenced
check 'tokens that fall are caught' exits 1
end waiting
check 'who never gets a lock has shown nothing' exits 2
check 'and is not waited for' [ $(($(date +%s) - begun)) -lt 60 ]
check 'nor left behind' left_nothing
end none
check 'a client that is not there' exits 2
check 'ends at once' tells 'the client exited with 127 after "hello"'

# ---- nonsense, and an end ----

wrong() { # CLIENT CASE: it says, or does, what it must not
    client "$1" "$2"
    meet "$1" --clients 1 --duration 20s
}

found() { # CLIENT SENTENCE
    end "$1"
    check 'an error' exits 2
    check 'says what' tells "the client $2"
    check 'leaves nothing behind' left_nothing
}

wrong slow 'validity) sleep 30'
wrong nonsense 'acquire) echo maybe'
wrong almost 'acquire) echo none'
wrong number 'validity) echo ok soon'
wrong negative 'validity) echo ok -5'
wrong empty 'release) echo'
wrong binary 'acquire) printf "\001\377\n"'
found nonsense 'said what is no answer: "maybe" after "acquire"'
found almost 'said what is no answer: "none" after "acquire"'
found number 'said what is no answer: "ok soon" after "validity"'
found negative 'said what is no answer: "ok -5" after "validity"'
found empty 'said what is no answer after "release"'
found binary 'said what is no answer: "\x01\xff" after "acquire"'
wrong endless 'acquire) while :; do printf xxxxxxxxxxxxxxxx; done'
wrong twice 'acquire) printf "ok\nok\n"'
wrong half 'release) printf "ok\nand"'
wrong unwilling 'hello) echo no masters of mine'
wrong dying 'release) [ "$count" -gt 20 ] && exit 3; echo ok'
wrong killed 'validity) kill -KILL $$'
wrong parent 'acquire) sleep 1000 & exit 4' # who keeps its stdout open
found endless 'sent what is no line of text: "xxxx'
found twice 'spoke without being asked: "ok" before "validity"'
found half 'spoke without being asked: "and" before "acquire"'
found unwilling 'refused to begin: "no masters of mine" after "hello"'
found dying 'exited with 3 after "release"'
found killed 'was ended by signal 9 (Killed) after "validity"'
found parent 'exited with 4 after "acquire"'
found slow 'did not answer in 10000 ms after "validity"'

tell
