#!/bin/sh
# peers_test.sh - do the drivers of the other clients still work? A short run of each without
# faults: many locks, and no two at once. Only `make check-peers` runs it, since
# build_peers.sh, which it calls, downloads.

set -u
LC_ALL=C
export LC_ALL
chaos=${REDLOCK_CHAOS:-./redlock-chaos}
here=$(cd "$(dirname "$0")" && pwd)
command -v redis-server >/dev/null || command -v valkey-server >/dev/null || exit 77
command -v go >/dev/null || command -v node >/dev/null || exit 77

work=$(mktemp -d "${TMPDIR:-/tmp}/redlock-peers.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' HUP INT TERM
checks=0 failures=0

"$here/build_peers.sh" "$work" || exit 99

try() { # WHAT COMMAND
    checks=$((checks + 1))
    if "$chaos" --local 3 --faults none --duration 10s --ttl 2s --clients 3 --names 2 \
        --min-holds 30 --client "exec $2" >"$work/said" 2>&1; then
        return
    fi
    failures=$((failures + 1))
    echo "FAILED: $1"
    sed 's/^/    | /' "$work/said"
}

if [ -x "$work/redsync/redsync" ]; then
    try 'redsync' "$work/redsync/redsync"
    try 'redsync, best settings' "$work/redsync/redsync --best"
fi
if [ -d "$work/node-redlock/node_modules" ]; then
    try 'node-redlock 5' "node $work/node-redlock/index.js"
    try 'node-redlock 5, best settings' "node $work/node-redlock/index.js --best"
    try 'node-redlock 4' "node $work/node-redlock/index.js --v4"
fi
if command -v python3 >/dev/null; then
    try 'one master' "python3 $here/single_master.py"
fi

printf 'Checks: %d, Failures: %d, Errors: 0\n' "$checks" "$failures"
[ "$failures" -eq 0 ]
