# story.sh - quickstart's story: five masters, one lock, and masters dying under it. It is played
# with the programs that $PATH has. Sourced.
#
# Each command is shown, run, and must end as the story says; else the story ends there.
# shellcheck disable=SC2154 # what run.sh sets

step=0
max_ttl=3s
shown=    # what to show instead of the command, once

tell() { # TEXT: a step begins
    step=$((step + 1))
    say ""
    say "$step. $*"
}

wrong() {
    say "" >&2
    say "quickstart: step $step did not go as said: $*" >&2
    exit 1
}

# STATUS PATTERN COMMAND...: show it, run it; it must end with STATUS and say PATTERN. What it
# said on stdout is in $output.
show() {
    want=$1 pattern=$2
    shift 2
    say "   \$ ${shown:-$*}"
    shown=
    timeout 20 "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    got=$?
    output=$(cat "$tmp/out")
    sed 's/^/     /' "$tmp/out" "$tmp/err"
    [ $got = 0 ] || say "     (exit status $got)"
    [ $got = "$want" ] || wrong "exit status $got where $want was expected"
    [ -z "$pattern" ] || grep -q -e "$pattern" "$tmp/out" "$tmp/err" ||
        wrong "it said nothing like '$pattern'"
}

all_vote() {
    timeout 20 redlock status >"$tmp/out" 2>&1 </dev/null
    grep -q '^fit: 5 of 5' "$tmp/out"
}

await_votes() {
    await 20 all_vote || {
        cat "$tmp/out" >&2
        wrong "some votes are still withheld after 20 s"
    }
    show 0 '^fit: 5 of 5' redlock status
}

start_masters() {
    tell "Five independent Redis masters. A lock is held when a majority of them, three, granted it.
   max-ttl is the longest lease, and also how long a master that was just started has no
   vote: it may have forgotten a lock that it granted before. The usual 30s would make this
   a slow show, so it is $max_ttl here, and the masters vote after 5 seconds."
    show 0 'masters up: 5' redlock-cluster up 5 --max-ttl $max_ttl
    say "   (waiting for their votes)"
    await_votes
}

take_and_release() {
    tell "A lock is taken, and released. validity_ms is how long it is certainly ours: the lease
   less the time it took and less what clocks may drift apart."
    show 0 '"validity_ms":[0-9]' redlock lock --json orders
    handle=$(printf '%s\n' "$output" | sed -n 's/.*"handle":"\([^"]*\)".*/\1/p')
    validity_ms=$(printf '%s\n' "$output" | sed -n 's/.*"validity_ms":\([0-9]*\).*/\1/p')
    if [ "${validity_ms:-0}" -lt 1000 ] || [ "$validity_ms" -ge 3000 ]; then
        wrong "a validity of ${validity_ms:-0} ms where nearly 3000 were expected"
    fi
    shown="redlock release HANDLE"
    show 0 '' redlock release "$handle"
}

# The holder works until it is told to end, far beyond one lease: `run` extends it.
start_holder() {
    mkfifo "$tmp/end"
    : >"$tmp/holder"
    say "   \$ redlock run orders -- ./worker &"
    # A session of its own, lest it takes the terminal that we might have.
    # shellcheck disable=SC2016 # for the inner shell
    setsid redlock run orders -- sh -c 'echo "worker: I hold the lock"; read -r line <"$1"' \
        sh "$tmp/end" >"$tmp/holder" 2>&1 </dev/null &
    holder=$!
    await 10 grep -q 'I hold' "$tmp/holder" || {
        cat "$tmp/holder" >&2
        wrong "the worker did not get the lock"
    }
    sed 's/^/     /' "$tmp/holder"
}

end_holder() {
    # shellcheck disable=SC2016 # for the inner shell
    timeout 5 sh -c 'echo end >"$1"' sh "$tmp/end"
    wait "$holder" || wrong "the worker's 'redlock run' ended with exit status $?"
}

exclude_a_second() {
    tell "A second contender is refused while the first holds the lock."
    start_holder
    show 75 '.' redlock run --try orders -- echo "this must not run"
    [ -z "$output" ] || wrong "the second contender's command ran"
}

lose_two() {
    tell "Two masters are killed. The worker goes on, and so does the lock: three are left."
    show 0 '' redlock-cluster kill 1
    show 0 '' redlock-cluster kill 2
    show 75 '.' redlock run --try orders -- echo "this must not run"
    say "   (the worker ends, and gives the lock up)"
    end_holder
    show 0 'got the lock' redlock run --wait 5s orders -- echo "got the lock with two masters dead"
}

lose_a_third() {
    tell "A third is killed. Two of five are no majority: nobody gets a lock any more."
    show 0 '' redlock-cluster kill 3
    show 69 'no quorum' redlock run --try orders -- echo "this must not run"
    [ -z "$output" ] || wrong "the command ran without a quorum"
}

come_back() {
    tell "They are started again. They answer at once, but their votes are withheld: with what they
   may have forgotten, a second holder could get a majority."
    for i in 1 2 3; do
        show 0 '' redlock-cluster restart $i
    done
    show 69 'guard: votes in .*vote is withheld' redlock status
    say "   (waiting for their votes)"
    await_votes
    show 0 'all well' redlock run orders -- echo "all well again"
}

play_story() {
    XDG_RUNTIME_DIR=$tmp # where redlock-cluster puts a cluster by default
    REDLOCK_NODES=$tmp/redlock-cluster-$(id -u)/redlock.conf
    export XDG_RUNTIME_DIR REDLOCK_NODES
    # What is started from here on is ours.
    # shellcheck disable=SC2163 # it holds NAME=VALUE
    export "$mark"
    tell_time
    started=$now
    start_masters
    take_and_release
    exclude_a_second
    lose_two
    lose_a_third
    come_back
    tell "Everything is put away."
    show 0 '' redlock-cluster down
    no_leftovers || wrong "processes were left behind"
    tell_time
    say ""
    say "All of it went as said, in $((now - started)) s."
}
