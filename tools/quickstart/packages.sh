# packages.sh - what quickstart needs on the machine, and how it gets it. Sourced.
#
# What counts is whether a thing works, not which package it came from.
# shellcheck disable=SC2154 # tmp is run.sh's

missing=

need() { # PACKAGE CONDITION...
    package=$1
    shift
    "$@" >/dev/null 2>&1 && return
    case "$missing " in
    *" $package "*) ;;
    *) missing="$missing $package" ;;
    esac
}

compiles() { # COMPILER
    echo '#include <stdio.h>' | "$1" -x c -c -o "$tmp/probe.o" -
}

# The linker is asked too: a sanitizer's runtime comes in packages of its own.
sanitizes() { # COMPILER SANITIZER
    echo 'int main(void) { return 0; }' | "$1" "-fsanitize=$2" -x c -o "$tmp/probe" -
}

find_missing() { # demo|check
    missing=
    need gcc command -v gcc
    need libc6-dev compiles gcc
    need make command -v make
    need autoconf command -v autoreconf
    need automake command -v aclocal
    need libtool command -v libtoolize
    need pkg-config command -v pkg-config
    need libhiredis-dev pkg-config --exists hiredis
    need libssl-dev pkg-config --exists openssl
    need uuid-dev pkg-config --exists uuid
    need openssl command -v openssl
    # valkey will do as well
    need redis-server sh -c 'command -v redis-server || command -v valkey-server'
    need redis-tools sh -c 'command -v redis-cli || command -v valkey-cli'
    [ "$1" = check ] || return 0
    need check pkg-config --exists check
    need libuv1-dev pkg-config --exists libuv
    need libevent-dev pkg-config --exists 'libevent >= 2'
    need g++ command -v g++
    need libasio-dev sh -c 'echo "#include <asio.hpp>" | g++ -E -x c++ -'
    need clang command -v clang
    need valgrind valgrind --version
    need shellcheck command -v shellcheck
    need mandoc command -v mandoc
    need abigail-tools command -v abidiff
    need musl-tools command -v musl-gcc
    need python3 command -v python3
    need python3-yaml python3 -c 'import yaml'
    need sqlite3 command -v sqlite3
    need zsh command -v zsh
    need fish command -v fish
    need cmake command -v cmake
    need gcc sanitizes gcc address
    need gcc sanitizes gcc thread
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif [ -t 0 ]; then
        sudo "$@"
    else
        sudo -n "$@"
    fi
}

# What apt-get would install, and how much: "105 newly installed", "Need to get 99 MB of ...".
tell_amount() {
    # shellcheck disable=SC2086 # words are wanted
    apt-get --assume-no --no-install-recommends install $missing 2>/dev/null |
        sed -n 's/^.*, \([0-9]* newly installed\),.*/   \1/p; /^Need to get/s/^/   /p; /^After this/s/^/   /p'
}

install_failed() {
    end_watcher
    tail -n 20 build/logs/packages.log >&2
    say "quickstart: apt-get could not $1 them; above is what it said" >&2
    exit 1
}

# Only what comes over the network has a limit: what is being unpacked is not to be ended.
fetch_limit_s=600

install_missing() {
    say "to be installed, by apt-get:$missing"
    # An update that fails for some other source is no reason to stop.
    as_root timeout -k 10 $fetch_limit_s env DEBIAN_FRONTEND=noninteractive \
        apt-get -q update >build/logs/packages.log 2>&1 ||
        say "(apt-get update failed; going on with the lists that are there)"
    tell_amount
    watch_child build/logs/packages.log
    # shellcheck disable=SC2086 # words are wanted
    as_root timeout -k 10 $fetch_limit_s env DEBIAN_FRONTEND=noninteractive \
        apt-get -q -y -d --no-install-recommends -o DPkg::Lock::Timeout=300 \
        install $missing >>build/logs/packages.log 2>&1 </dev/null || install_failed fetch
    # shellcheck disable=SC2086 # words are wanted
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends \
        -o DPkg::Lock::Timeout=300 install $missing >>build/logs/packages.log 2>&1 </dev/null ||
        install_failed install
    end_watcher
    case "$missing " in
    *' redis-server '*)
        say "(the package may start a server of its own on port 6379, which is not used here:"
        say " 'systemctl disable --now redis-server' ends it)" ;;
    esac
}

need_packages() { # demo|check
    find_missing "$1"
    [ -n "$missing" ] || return 0
    if ! command -v apt-get >/dev/null; then
        say "quickstart: please install what Debian calls:$missing" >&2
        exit 69
    fi
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
        say "quickstart: not root, and there is no sudo. As root, please run:" >&2
        say "  apt-get install --no-install-recommends$missing" >&2
        exit 69
    fi
    install_missing
    find_missing "$1"
    [ -z "$missing" ] || {
        say "quickstart: installed, but still not working:$missing" >&2
        exit 69
    }
}

# The runtimes of other lock clients: each is had or not, and nothing fails. Debian's go is not
# asked for: it is too old for redsync.
runtime_fetch_s=120

want_runtimes() {
    missing=
    need openjdk-17-jdk-headless sh -c 'java -version && javac -version'
    need maven mvn --version
    need nodejs node --version
    need npm npm --version
    need python3-venv python3 -c 'import ensurepip, venv'
    [ -n "$missing" ] && command -v apt-get >/dev/null || return 0
    say "   to be installed, if they can be had:$missing"
    install_wanted 3>&1 >build/logs/runtimes.log 2>&1 </dev/null
}

install_wanted() {
    as_root timeout -k 10 $runtime_fetch_s apt-get -q update
    for package in $missing; do
        # The network may take too long, unpacking does not: what is begun there is ended.
        if ! { as_root timeout -k 10 $runtime_fetch_s \
            apt-get -q -y -d --no-install-recommends install "$package" &&
            as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends \
                -o DPkg::Lock::Timeout=60 install "$package"; }; then
            say "   $package can't be had; build/logs/runtimes.log says why" >&3
        fi
    done
}
