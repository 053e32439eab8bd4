# chaos_rig.sh - what the tests of redlock-chaos share: runs side by side, each in a directory
# of its own, and what must be left of them when they have ended. To be sourced.
# shellcheck shell=sh
# shellcheck disable=SC2034 # whoever sources it uses what it sets

set -u
LC_ALL=C
export LC_ALL
chaos=${REDLOCK_CHAOS:-./redlock-chaos}
case $chaos in /*) ;; *) chaos=$PWD/$chaos ;; esac
command -v redis-server >/dev/null || command -v valkey-server >/dev/null || exit 77

work=$(mktemp -d "${TMPDIR:-/tmp}/rl-chaos.XXXXXX") || exit 99
checks=0 failures=0
it='' status=''

# The processes that work below a directory, or were told a file in it. Masters and runs begin
# below it, and so does whatever they start.
ours() { # DIRECTORY
    {
        find /proc/[0-9]*/cwd -maxdepth 0 '(' -lname "$1" -o -lname "$1/*" ')'
        grep -lsaF "$1/" /proc/[0-9]*/cmdline
    } 2>/dev/null | cut -d / -f 3 | sort -u
}

clean_up() {
    for p in $(ours "$work"); do kill -KILL "$p" 2>/dev/null; done
    rm -rf "$work"
}
trap 'clean_up' EXIT
trap 'exit 99' HUP INT TERM

# Begin a run called NAME, which is not waited for. It has the directory $work/NAME, which must
# be empty afterwards; what it says is in $work/NAME.out and .err. (Names are short: there are
# sockets below it, whose paths can't be long.)
begin() { # NAME ARGUMENT...
    it=$1
    shift
    rm -rf "${work:?}/$it"
    mkdir "$work/$it"
    (
        TMPDIR=$work/$it
        export TMPDIR
        cd "$TMPDIR" && exec "$chaos" "$@"
    ) >"$work/$it.out" 2>"$work/$it.err" &
    echo $! >"$work/$it.pid"
}

# Wait for a run; what is checked from now on is about it.
end() { # NAME
    it=$1
    wait "$(cat "$work/$it.pid")" 2>/dev/null
    status=$?
}

run() { # ARGUMENT...
    begin now "$@"
    end now
}

check() { # WHAT COMMAND...
    what=$1
    shift
    checks=$((checks + 1))
    "$@" && return
    failures=$((failures + 1))
    printf 'FAILED: %s: %s (status %s)\n' "$it" "$what" "$status"
    for f in out err; do
        [ ! -s "$work/$it.$f" ] || tail -n 30 "$work/$it.$f" | sed "s/^/    $f| /"
    done
}

left_nothing() { [ -z "$(ls -A "$work/$it")" ] && [ -z "$(ours "$work/$it")" ]; }
says() { grep -q -- "$1" "$work/$it.$2"; }
exits() { [ "$status" -eq "$1" ]; }

# Until a command succeeds, ten seconds long.
await() { # COMMAND...
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ $tries -lt 500 ] || return 1
        sleep 0.02
    done
}

tell() {
    printf '%d checks, %d failures\n' "$checks" "$failures"
    [ "$failures" -eq 0 ]
}
