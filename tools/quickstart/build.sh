# build.sh - quickstart's builds, each in a directory below ./build. Sourced.
# shellcheck disable=SC2016 # what stands in single quotes is meant so

build_limit_s=600

# A step of a build that must succeed: its log is shown where it doesn't.
must() { # WHAT LOG COMMAND...
    goal=$1 step_log=$2
    shift 2
    run_logged $build_limit_s "$step_log" "$@" && return
    tail -n 40 "$step_log" >&2
    say "quickstart: $goal failed; above is the end of $step_log" >&2
    exit 1
}

generate_configure() {
    if [ -f configure ] && [ -f Makefile.in ] &&
        [ -z "$(find configure.ac Makefile.am ./*/local.mk tests/*/local.mk -newer configure)" ]; then
        return
    fi
    must 'generating configure' build/logs/autoreconf.log ./autogen.sh
}

# The same configure with the same arguments in the same place is not run twice.
configure_build() { # NAME ARGUMENT...
    build=$PWD/build/$1
    shift
    stamp="$(cksum <configure) $build $*"
    if [ -f "$build/config.status" ] && [ "$(cat "$build/stamp" 2>/dev/null)" = "$stamp" ]; then
        return
    fi
    # A distcheck that failed leaves a tree that can't be written to.
    [ ! -d "$build" ] || chmod -R u+w "$build"
    rm -rf "$build"
    mkdir -p "$build"
    run_logged $build_limit_s "$build.log" sh -c 'cd "$1" && shift && exec ../../configure "$@"' \
        sh "$build" --quiet "$@" || return
    printf '%s\n' "$stamp" >"$build/stamp"
}
