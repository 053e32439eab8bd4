#!/bin/sh
# servers_check.sh - tests of locks, markers, rights and status, on each other server that
# build_peers.sh has fetched, and on the one that is installed.
#
#   [SERVERS='redis-6.2 ...'] tests/interop/servers_check.sh BUILD PEERS [TEST...]
#
# By default all servers, two at a time, and the tests of servers_tests.txt.
# A test that a server can't pass is in servers_tests.txt with its reason. Such a test is not run.
set -u
build=$(cd "$1" && pwd) || exit 64
peers=$(cd "$2" && pwd) || exit 64
here=$(cd "$(dirname "$0")" && pwd)
shift 2
work=$(mktemp -d "${TMPDIR:-/tmp}/rl-servers.XXXXXX") || exit 71
trap 'rm -rf "$work"' EXIT
trap 'exit 99' HUP INT TERM
srcdir=$here/../.. builddir=$build
REDLOCK=$build/bin/redlock REDLOCK_CLUSTER=$build/bin/redlock-cluster
CK_TIMEOUT_MULTIPLIER=10
export srcdir builddir REDLOCK REDLOCK_CLUSTER CK_TIMEOUT_MULTIPLIER

play() { # SERVER TEST
    reason=$(awk -v server="$1" -v test="$2" '
        /^#/ { next }
        $1 == test { sub(/^[^ ]* */, ""); n = split($0, part, / *; */)
            for (i = 1; i <= n; i++) if (index(part[i], server ":") == 1) print substr(part[i], length(server) + 2)
        }' "$here/servers_tests.txt")
    if [ -n "$reason" ]; then
        echo "skipped - $1, $2:$reason"
        return
    fi
    PATH=$work/$1:$PATH "$build/$2" >"$work/$1.log" 2>&1
    status=$?
    if [ $status = 0 ]; then
        echo "ok - $1, $2: $(grep -m 1 'Checks:' "$work/$1.log")"
    else
        echo "FAILED - $1, $2: exit status $status"
        grep -E ':[FE]:' "$work/$1.log" | cut -c 1-300 | sed 's/^/    /'
    fi
}

# shellcheck disable=SC2046 # words are wanted
[ $# -gt 0 ] || set -- $(awk '!/^#/ && NF { print $1 }' "$here/servers_tests.txt")
wanted() { case " ${SERVERS:-$1} " in *" $1 "*) ;; *) return 1 ;; esac; } # SERVER
if wanted installed; then
    mkdir "$work/installed"
    ln -s "$(command -v redis-server || command -v valkey-server)" "$work/installed/redis-server"
fi
for server in "$peers"/servers/*/redis-server; do
    name=$(basename "$(dirname "$server")")
    { [ -x "$server" ] && wanted "$name"; } || continue
    mkdir "$work/$name"
    ln -s "$server" "$work/$name/redis-server"
done
at_once=0
for dir in "$work"/*/; do
    [ -d "$dir" ] || continue
    name=$(basename "$dir")
    for test; do play "$name" "$test"; done >"$work/$name.said" &
    at_once=$(((at_once + 1) % 2))
    [ $at_once -ne 0 ] || wait
done
wait
: >"$work/none.said"
cat "$work"/*.said
count() { cat "$work"/*.said | grep -c "^$1 - "; }
passed=$(count ok) failed=$(count FAILED) skipped=$(count skipped)
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
