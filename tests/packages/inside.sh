#!/bin/sh
# inside.sh - what check.sh plays in a bare Debian: the packages are built, and then used.
# Its argument is the tarball.
# shellcheck disable=SC1091 # use.sh is beside it

set -u
cd /check || exit 1
tarball=$1 tree=$(basename "$1" .tar.gz)
read -r started rest </proc/uptime
started=${started%.*}

fail() {
    echo "   FAILED: $*"
    exit 1
}
step() { # WHAT COMMAND...
    what=$1
    shift
    "$@" >log 2>&1 || {
        tail -n 40 log
        fail "$what"
    }
    read -r now rest </proc/uptime
    echo "   $((${now%.*} - started)) s: $what"
}
apt() { apt-get -q -y --no-install-recommends "$@"; }

# ---- made as docs/PACKAGES.md says ----

prepare() {
    printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d # no server starts by itself
    chmod +x /usr/sbin/policy-rc.d
    apt update && apt install build-essential && tar -xf "$tarball" &&
        apt build-dep "/check/$tree/tools/packages" && apt install g++ redis-server redis-tools
}
make_them() { (cd "$tree" && ./configure --quiet && make deb && mv packages ../new); }
# Elsewhere, and by somebody whose surroundings are others. The tarball is that of this Debian,
# whose tar and gzip may write another one than those that made the first.
make_again() (
    umask 077
    TMPDIR=/var/tmp/elsewhere TZ=Asia/Tokyo CFLAGS=-O0
    export TMPDIR TZ CFLAGS
    mkdir "$TMPDIR" && cd "$TMPDIR" && tar -xf "/check/$tree/$tree.tar.gz" && cd "$tree" &&
        ./configure --quiet && make dist-gzip && tools/packages/make-deb "$tree.tar.gz" /check/again
)
# What is the same but for its version: what is upgraded is replaced all the same.
make_lower() {
    mkdir lower
    for deb in new/*.deb; do
        case $deb in *-dbgsym_*) continue ;; esac
        rm -rf repacked && dpkg-deb -R "$deb" repacked &&
            sed -i "s/$(dpkg-deb -f "$deb" Version)/0.0.9-0/" repacked/DEBIAN/control &&
            dpkg-deb -b repacked lower || return 1
    done
}
same_sources() { # TARBALL TARBALL: what is in them
    for one; do
        mkdir unpacked && tar -C unpacked -xf "$one" || return 1
        (cd unpacked && find . -type f -exec sha256sum {} + | sort && find . -mindepth 1 -printf '%p %m %T@\n' | sort)
        rm -r unpacked
    done >contents
    half=$(($(wc -l <contents) / 2))
    [ "$half" -gt 500 ] && [ "$(head -n $half contents)" = "$(tail -n +$((half + 1)) contents)" ]
}
same_tarball() { cmp "$tree/$tree.tar.gz" "/var/tmp/elsewhere/$tree/$tree.tar.gz"; }
same_packages() { for deb in new/*.deb; do cmp "$deb" "again/${deb#new/}" || return 1; done; }

step 'what building needs is installed' prepare
step 'make deb' make_them
step 'the tarball that it makes has the same in it' same_sources "$tarball" "$tree/$tree.tar.gz"
step 'made again elsewhere' make_again
step 'the tarball is the same, byte by byte' same_tarball
step 'the packages are the same, byte by byte' same_packages
step 'and packed with a lower version' make_lower

. ./use.sh
