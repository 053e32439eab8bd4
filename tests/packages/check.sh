#!/bin/sh
# check.sh - the packages in bare Debian systems: built, installed, used, upgraded and removed.
# `make check-packages` calls it, before a release. It must be root, and needs debootstrap.
#
#   check.sh TARBALL [SUITE...]     of `make dist`; bookworm and trixie where none is named
#
# PACKAGES_MIRROR   where debootstrap fetches from
# PACKAGES_OVERLAY  a directory that is copied over each system: what its apt-get needs to
#                   reach a mirror from here
# PACKAGES_ROOTS    a directory where the systems are kept, and found again as SUITE.bare

set -eu
if [ $# -lt 1 ] || [ "$(id -u)" != 0 ]; then
    echo 'usage, as root: check.sh TARBALL [SUITE...]' >&2
    exit 64
fi
command -v debootstrap >/dev/null || {
    echo 'check.sh: there is no debootstrap' >&2
    exit 77
}
here=$(cd "$(dirname "$0")" && pwd)
tarball=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- bookworm trixie
work=$(mktemp -d "${TMPDIR:-/tmp}/redlock-packages.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
roots=${PACKAGES_ROOTS:-$work}

# What is mounted in a system, and each process that it starts, ends with it.
within() { # ROOT COMMAND...
    root=$1
    shift
    unshare --mount --pid --fork --kill-child -- sh -c \
        'mount -t proc proc "$1/proc" && shift && exec chroot "$@"' sh "$root" "$root" \
        env -i HOME=/root TERM=dumb DEBIAN_FRONTEND=noninteractive LC_ALL=C \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        ${http_proxy:+"http_proxy=$http_proxy"} ${https_proxy:+"https_proxy=$https_proxy"} \
        ${no_proxy:+"no_proxy=$no_proxy"} "$@" </dev/null
}

failed=
for suite; do
    root=$work/$suite
    bare=$roots/$suite.bare
    [ -d "$bare" ] || {
        # shellcheck disable=SC2086 # may be no word at all
        debootstrap --variant=minbase "$suite" "$bare.new" ${PACKAGES_MIRROR:-} >"$work/$suite.log" 2>&1 || {
            tail -n 20 "$work/$suite.log"
            exit 1
        }
        mv "$bare.new" "$bare"
    }
    cp -a "$bare" "$root"
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
    [ -z "${PACKAGES_OVERLAY:-}" ] || cp -RL "$PACKAGES_OVERLAY/." "$root/"
    mkdir "$root/check"
    cp "$tarball" "$here/inside.sh" "$here/use.sh" "$here/holder.c" "$root/check/"
    echo "== $suite"
    within "$root" sh /check/inside.sh "/check/${tarball##*/}" || failed="$failed $suite"
    [ -z "${PACKAGES_KEEP:-}" ] || { mkdir -p "$PACKAGES_KEEP" && cp -R "$root/check" "$PACKAGES_KEEP/$suite"; }
    rm -rf --one-file-system "$root"
done
[ -z "$failed" ] || {
    echo "packages: FAILED in$failed" >&2
    exit 1
}
