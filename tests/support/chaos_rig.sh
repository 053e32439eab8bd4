# chaos_rig.sh - what the tests of redlock-chaos share: runs side by side, each in a directory
# of its own, and what must be left of them when they have ended. To be sourced.
# shellcheck shell=sh
# shellcheck disable=SC2034 # whoever sources it uses what it sets

# shellcheck disable=SC1091 # shell_rig.sh has what all tests in shell share
. "${srcdir:-.}/tests/support/shell_rig.sh"
chaos=${REDLOCK_CHAOS:-./redlock-chaos}
case $chaos in /*) ;; *) chaos=$PWD/$chaos ;; esac
command -v redis-server >/dev/null || command -v valkey-server >/dev/null || exit 77

make_work rl-chaos
it='' status=''

# The processes that work below a directory, or were told a file in it. Masters and runs begin
# below it, and so does whatever they start.
ours() { # DIRECTORY
    set -- "$1/" /proc/[0-9]*/cmdline # now: grep is told the directory, too
    {
        working_in "${1%/}"
        grep -lsaF "$@"
    } | sed 's|^/proc/\([0-9]*\)/.*|\1|' | sort -u
}

# shellcheck disable=SC2046 # words are wanted
clean_up() { kill_all $(ours "$work"); }

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

show() {
    printf '    of %s, status %s\n' "$it" "$status"
    show_files "$work/$it.out" "$work/$it.err"
}

left_nothing() { [ -z "$(ls -A "$work/$it")" ] && [ -z "$(ours "$work/$it")" ]; }
says() { grep -q -- "$1" "$work/$it.$2"; }
exits() { [ "$status" -eq "$1" ]; }
