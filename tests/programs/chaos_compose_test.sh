#!/bin/sh
# tags: long
# chaos_compose_test.sh - redlock-chaos --compose without docker: programs of the same names,
# which play containers with processes of redis-server and write down what they are told. Is
# every fault done and undone, is what was there before left as it was, and does a fault count
# that had no effect? (With docker itself: docs/TESTING.md.)
# shellcheck disable=SC2016 # what is quoted is for the programs

# shellcheck disable=SC1091,SC2154 # shell_rig.sh sets them
. "${srcdir:-.}/tests/support/shell_rig.sh"
chaos=${REDLOCK_CHAOS:-./redlock-chaos}
case $chaos in /*) ;; *) chaos=$PWD/$chaos ;; esac
command -v redis-server >/dev/null || exit 77

make_work redlock-chaos-compose
FAKE=$work/fake TMPDIR=$work/tmp
export FAKE TMPDIR
mkdir "$FAKE" "$TMPDIR" "$work/bin" "$work/none"

# shellcheck disable=SC2046 # words are wanted
clean_up() { kill_all $(cat "$FAKE"/*/pid 2>/dev/null); }

# ---- containers: a directory each, with a port, and a pid while it runs ----

cat >"$work/bin/play" <<'END'
# What docker and docker-compose share: start CONTAINER.
begin() {
    setsid redis-server --port "$(cat port)" --appendonly yes --appendfsync always --save '' \
        --daemonize no >log 2>&1 &
    echo $! >pid
    while kill -0 "$(cat pid)" 2>/dev/null; do
        [ "$(redis-cli -p "$(cat port)" ping 2>&1)" = PONG ] && grep -q 'Ready to accept' log && return
        sleep 0.05
    done
    return 1
}
start() {
    mkdir -p "$FAKE/$1"
    cd "$FAKE/$1" || exit 1
    tries=0
    if [ ! -s port ]; then # one that nobody has
        echo $((20000 + $$ % 10000)) >port
        while ! begin && [ $((tries = tries + 1)) -lt 20 ]; do
            echo $(($(cat port) + 37)) >port
        done
    else
        begin
    fi
    cd "$FAKE" || exit 1
}
END
cat >"$work/bin/docker-compose" <<'END'
#!/bin/sh
. "${0%/*}/play"
echo "compose $*" >>"$FAKE/told"
case "$1 $2" in
"version "*) ;;
"ps "*) for d in "$FAKE"/c*; do [ ! -d "$d" ] || { [ $# -gt 3 ] && [ "$4" != "m${d##*/c}" ]; } || echo "${d##*/}"; done ;;
"up "*) for s in ${4:-m1 m2 m3}; do start "c${s#m}"; done ;;
"down "*) for d in "$FAKE"/c*; do kill -KILL "$(cat "$d/pid")"; rm -rf "$d"; done ;;
*) echo "not played: $*" >&2; exit 1 ;;
esac
END
cat >"$work/bin/docker" <<'END'
#!/bin/sh
. "${0%/*}/play"
echo "docker $*" >>"$FAKE/told"
runs() { kill -0 "$(cat "$FAKE/$1/pid" 2>/dev/null || echo none)" 2>/dev/null && echo true || echo false; }
case "$1 $2" in
"info "*) echo played ;;
"inspect -f")
    case $3 in
    '{{.State.Running}}') runs "$4" ;;
    *) shift 3
        for c in "$@"; do
            at="127.0.0.1/$(cat "$FAKE/$c/port")"
            [ ! -e "$FAKE/$c/unpublished" ] || at=-
            echo "$c m${c#c} $(runs "$c") false $at vdata-$c nnet=m${c#c}=${c}"
        done ;;
    esac ;;
"pause "*) [ -n "${FAKE_LAZY:-}" ] || kill -STOP "$(cat "$FAKE/$2/pid")" ;;
"unpause "*) kill -CONT "$(cat "$FAKE/$2/pid")" ;;
"kill "*) kill -KILL "$(cat "$FAKE/$2/pid")" ;;
"start "*) start "$2" ;;
"network disconnect") kill -STOP "$(cat "$FAKE/$4/pid")" ;;
"network connect") shift $(($# - 1)); kill -CONT "$(cat "$FAKE/$1/pid")" ;;
"rm "*) port=$(cat "$FAKE/$4/port"); rm -rf "${FAKE:?}/$4"; mkdir "$FAKE/$4"; echo "$port" >"$FAKE/$4/port" ;;
"volume rm") ;;
*) echo "unknown command: docker $1" >&2; exit 1 ;;
esac
END
chmod +x "$work/bin/docker" "$work/bin/docker-compose"

run() { # ARGUMENT...
    : >"$FAKE/told"
    PATH=$work/bin:$PATH "$chaos" --compose --clients 3 --names 2 --seed 1 --min-holds 20 "$@" \
        >"$work/out" 2>"$work/err" </dev/null
    status=$?
}
up() {
    for s in m1 m2 m3; do PATH=$work/bin:$PATH docker-compose up -d --no-deps $s; done
}
exits() { [ "$status" -eq "$1" ]; }
told() { grep -Eq -- "$1" "$FAKE/told"; }
says() { cat "$work/out" "$work/err" | grep -Fq -- "$1"; }
left_nothing() { [ -z "$(ls -A "$TMPDIR")" ]; }
all_answer() {
    for d in "$FAKE"/c*; do
        [ "$(timeout 5 redis-cli -p "$(cat "$d/port")" ping)" = PONG ] || return 1
    done
}
seen() { grep -Eq "^  $1 +([0-9]+), seen to have an effect: \1$" "$work/out"; }

# ---- before anything is started ----

run --faults all --report "$work/report" --duration 20s
check 'a run that is too short for all of its faults is refused' exits 64
check 'how long it would have to be is told' says ' or more, or fewer --faults'
check 'and docker was told nothing' [ ! -s "$FAKE/told" ]
run --faults kill-rdb
check 'so is what can never be done to containers' exits 64
check 'and why is said' says 'the containers are started as their file says'
check 'and docker was told nothing of that' [ ! -s "$FAKE/told" ]

# ---- containers of ours ----

run --duration 40s --faults pause,kill,kill-aof,disconnect
check 'containers that did not exist are started, and pass' exits 0
for fault in pause kill kill-aof disconnect; do
    check "$fault is seen each time" seen $fault
done
check 'they were started once' [ "$(grep -c '^compose up -d$' "$FAKE/told")" -eq 1 ]
check 'an empty restart removes the volume' told '^docker volume rm -f data-c[123]$'
check 'a container is connected again with its alias' \
    told '^docker network connect --alias m[123] net c[123]$'
check 'as often paused as not' [ "$(grep -c '^docker pause' "$FAKE/told")" -eq \
    "$(grep -c '^docker unpause' "$FAKE/told")" ]
check 'they are removed at the end' [ "$(tail -n 1 "$FAKE/told")" = 'compose down -v -t 1' ]
check 'and nothing is left' left_nothing

FAKE_LAZY=yes
export FAKE_LAZY
# On a machine that stalls a master can be silent by itself. The run counts stalls: then again.
pause_shown() { exits 2 && says 'no effect was ever seen of pause'; }
told=no
for _ in 1 2 3 4 5; do
    run --duration 20s --faults pause
    if pause_shown || says 'stalls: 0,'; then
        told=yes
        break
    fi
done
if [ $told = yes ]; then
    check 'a pause that pauses nothing has shown nothing' exits 2
    check 'and it is said' says 'no effect was ever seen of pause'
else
    echo 'the machine stalled in each of five runs: whether a fault has an effect was not told'
fi
unset FAKE_LAZY

# ---- those of others ----

up
run --duration 20s --faults pause
check 'without --yes nothing is done to containers that ran before' exits 64
check 'really nothing' eval '! told "^docker (pause|kill|network|rm)"'
run --duration 20s --faults kill --yes
check 'nothing that loses data, not even with it' exits 64
run --duration 5s --faults none
check 'no faults at all need none' exits 0
check 'they are there afterwards' all_answer

: >"$FAKE/told"
PATH=$work/bin:$PATH "$chaos" --compose --yes --clients 3 --seed 1 --duration 60s \
    --faults pause,disconnect >"$work/out" 2>"$work/err" </dev/null &
pid=$!
tries=0
while ! told '^docker pause' && [ $tries -lt 600 ]; do sleep 0.1; tries=$((tries + 1)); done
kill -INT $pid
wait $pid
status=$?
check 'an end from outside' exits 2
check 'a container was paused then' told '^docker pause'
check 'all is undone' all_answer
check 'and nothing was removed' eval '! told "^compose down|^docker (rm|volume)"'
check 'but for what was ours' left_nothing

# ---- what is wrong ----

touch "$FAKE/c2/unpublished"
run --duration 5s --faults none
check 'a service without a master is left out' says '2 masters (compose)'
rm "$FAKE/c2/unpublished"
kill -KILL "$(cat "$FAKE/c3/pid")"
has_ended() { ! kill -0 "$(cat "$FAKE/$1/pid")" 2>/dev/null; }
await has_ended c3
run --duration 20s --faults none
check 'one that is there and does not run' exits 69
check 'is named' says 'service m3 is there but does not run'
PATH=$work/none "$chaos" --compose --duration 20s --faults none >"$work/out" 2>"$work/err"
status=$?
check 'no docker' exits 69
check 'is said' says 'neither "docker compose" nor "docker-compose" works'

tell
