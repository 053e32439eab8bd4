# shell_rig.sh - what the tests in shell share: a directory that is gone when they end, checks
# that are counted, and what is shown of those that fail. To be sourced.
# shellcheck shell=sh
# shellcheck disable=SC2034 # whoever sources it uses what it sets

set -u
LC_ALL=C
export LC_ALL
checks=0 failures=0

# What a test has begun is ended here, before its directory goes. Those that begin something
# have one of their own.
clean_up() { :; }

# Sets work: a directory that is removed on every way out. (A shell that a signal ends does not
# come by its EXIT trap.)
make_work() { # NAME
    work=$(mktemp -d "${TMPDIR:-/tmp}/$1.XXXXXX") || exit 99
    trap 'clean_up; rm -rf "$work"' EXIT
    trap 'exit 99' HUP INT TERM
}

# COMMAND must succeed. What it says is only seen where it does not.
check() { # WHAT COMMAND...
    what=$1
    shift
    checks=$((checks + 1))
    "$@" >"$work/check.out" 2>&1 && return
    fail "$what ($*)"
    show_files "$work/check.out"
}

fail() { # WHAT
    failures=$((failures + 1))
    printf 'FAILED: %s\n' "$1"
    show
}

# What is shown of every failure: the last words of what was tested, where a test keeps them so.
show() { show_files "$work/out" "$work/err"; }

show_files() { # FILE...
    for shown in "$@"; do
        [ ! -s "$shown" ] || tail -n 40 "$shown" | sed "s/^/    ${shown##*/}| /"
    done
}

# The processes that work in a directory, or below it.
working_in() { # DIRECTORY
    find /proc/[0-9]*/cwd -maxdepth 0 '(' -lname "$1" -o -lname "$1/*" ')' 2>/dev/null |
        cut -d / -f 3
}

kill_all() { # PID...
    for p in "$@"; do kill -KILL "$p" 2>/dev/null; done
}

# Until a command succeeds, ten seconds long.
await() { # COMMAND...
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ $tries -lt 500 ] || return 1
        sleep 0.02
    done
}

# OpenSSL names libraries for static linking whose files may not be installed.
static_can_be_linked() { # BUILD
    echo 'int main(void) { return 0; }' >"$work/none.c"
    # shellcheck disable=SC2046 # words are wanted
    ${CC:-cc} -o "$work/none" "$work/none.c" $(sed -n 's/^PRIVATE_LIBS = //p' "$1/Makefile") \
        >"$work/out" 2>&1
}

# The end of a test, and its exit status.
tell() {
    printf 'Checks: %d, Failures: %d, Errors: 0\n' "$checks" "$failures"
    [ "$failures" -eq 0 ]
}
