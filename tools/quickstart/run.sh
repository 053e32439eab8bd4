# run.sh - how quickstart runs other programs: so that it can always end them, and all that
# they started, on every way out. Sourced.
#
# A process is ours if it carries our mark in its environment or works in our temporary
# directory (a Redis server overwrites its environment, but its data are there).
# shellcheck disable=SC2034 # what others use

tmp=           # our temporary directory, $TMPDIR of all that we run
child=         # the session that runs now
beside=        # the session that runs beside it
ahead=         # another one, which compiles what later stages need
watcher=       # the process that tells how far the child is
interrupted=   # the signal that told us to stop

say() { printf '%s\n' "$*"; }

begin() {
    tell_time
    check_started=$now # a check's time counts from here, installing and all
    tmp=$(mktemp -d "${TMPDIR:-/tmp}/rlq.XXXXXX") || exit 1
    mark=REDLOCK_QUICKSTART=${tmp##*.}-$$
    trap at_exit EXIT
    for signal in HUP INT TERM; do
        # shellcheck disable=SC2064 # of this turn
        trap "interrupted=$signal; exit 1" $signal
    done
    TMPDIR=$tmp
    export TMPDIR
    mkdir -p build/logs
    # A shell starts background commands with these ignored; tests must not inherit that.
    default_signals=--default-signal=INT,QUIT
    env $default_signals true 2>/dev/null || default_signals=
    job_count=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
}

at_exit() {
    code=$?
    trap '' HUP INT TERM
    [ -z "$interrupted" ] || say "quickstart: stopped by SIG$interrupted, cleaning up" >&2
    end_watcher
    end_child
    end_beside
    end_ahead
    end_leftovers
    rm -rf "$tmp"
    if [ -n "$interrupted" ]; then
        trap - EXIT "$interrupted"
        kill -s "$interrupted" $$
    fi
    exit $code
}

# Seconds since boot.
tell_time() {
    read -r now rest </proc/uptime
    now=${now%.*}
}

# True once COMMAND succeeds; false if it has not within SECONDS.
await() { # SECONDS COMMAND...
    tell_time
    await_until=$((now + $1))
    shift
    until "$@"; do
        tell_time
        [ "$now" -lt "$await_until" ] || return 1
        sleep 0.1
    done
}

end_child() {
    [ -n "$child" ] || return 0
    kill -s TERM -- "-$child" 2>/dev/null
    await 5 child_has_ended || kill -s KILL -- "-$child" 2>/dev/null
    child=
}

child_has_ended() { ! kill -s 0 -- "-$child" 2>/dev/null; }

end_beside() {
    [ -z "$beside" ] || beside_has_ended || kill -s TERM -- "-$beside" 2>/dev/null
    beside=
}

# It ends what it runs, and then itself.
end_ahead() {
    [ -n "$ahead" ] || return 0
    kill -s TERM "$ahead" 2>/dev/null
    wait "$ahead"
    ahead=
}

beside_has_ended() { ! kill -s 0 "$beside" 2>/dev/null; }

# The pids of processes that are ours and still there.
leftovers() (
    unset "${mark%%=*}" # or we would find the programs that look
    {
        grep -lzxF -e "$mark" /proc/[0-9]*/environ 2>/dev/null | cut -d / -f 3
        for process in /proc/[0-9]*; do
            case $(readlink "$process/cwd" 2>/dev/null) in
            "$tmp" | "$tmp"/*) echo "${process#/proc/}" ;;
            esac
        done
    } | sort -un
)

no_leftovers() { [ -z "$(leftovers)" ]; }

end_leftovers() {
    for pid in $(leftovers); do
        kill -s KILL "$pid" 2>/dev/null
    done
}

# How far the child is, in a line: whoever runs something long has words of its own.
tell_where() { echo "${2##*/}: $1 s so far"; }

# On a terminal a line that is written over each second, elsewhere a line a minute. The sleeping
# program has no output that a reader could wait for.
watch_child() { # LOG
    (
        trap - EXIT HUP INT TERM
        seconds=0
        while sleep 1 >/dev/null 2>&1; do
            seconds=$((seconds + 1))
            if [ -t 1 ]; then
                printf '\r   %s\033[K' "$(tell_where $seconds "$1")"
            elif [ $((seconds % 60)) -eq 0 ]; then
                say "   $(tell_where $seconds "$1")"
            fi
        done
    ) &
    watcher=$!
}

end_watcher() {
    [ -n "$watcher" ] || return 0
    kill $watcher 2>/dev/null
    wait $watcher 2>/dev/null
    watcher=
    [ ! -t 1 ] || printf '\r\033[K'
}

# Run COMMAND in a session of its own, without input, for at most SECONDS; its output goes to
# LOG. 124: it took too long.
run_logged() { # SECONDS LOG COMMAND...
    limit=$1 log=$2
    shift 2
    # shellcheck disable=SC2086 # may be no word at all
    setsid env $default_signals "$mark" timeout -k 10 "$limit" "$@" \
        </dev/null >"$log" 2>&1 &
    child=$!
    watch_child "$log"
    wait $child
    result=$?
    child=
    end_watcher
    return $result
}
