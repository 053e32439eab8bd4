# demo.sh - builds the programs, and plays quickstart's story with them. Sourced.
# shellcheck disable=SC2154 # what run.sh and build.sh set

# QUICKSTART_BUILD names a build below ./build that is configured already.
configure_demo() {
    if [ -n "${QUICKSTART_BUILD:-}" ] && [ -f "build/$QUICKSTART_BUILD/config.status" ]; then
        build=$PWD/build/$QUICKSTART_BUILD
        return
    fi
    configure_build demo --disable-shared || {
        tail -n 20 "$build.log" >&2
        say "quickstart: configure failed; above is the end of $build.log" >&2
        exit 1
    }
}

build_demo() {
    tell_time
    started=$now
    say "building (logs are in build/) ..."
    configure_demo
    must make build/logs/make.log make -C "$build" -j "$job_count"
    tell_time
    say "built in $((now - started)) s"
    PATH=$build:$build/bin:$PATH
    export PATH
}

demo() {
    build_demo
    play_story
    say "Try the programs on masters of your own:"
    say "  export PATH=$build/bin:\$PATH REDLOCK_NODES=/tmp/five/redlock.conf"
    say "  redlock-cluster up 5 --dir /tmp/five --max-ttl 3s"
    say "  redlock run NAME -- COMMAND"
    say "  redlock-cluster down --dir /tmp/five"
}
