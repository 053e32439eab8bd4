#!/bin/sh
# peers_test.sh - do the drivers of the other clients still work? A short run of each without
# faults: many locks, and no two at once. Only `make check-peers` runs it, since
# build_peers.sh, which it calls, downloads.

# shellcheck disable=SC1091,SC2154 # shell_rig.sh sets them
. "$(dirname "$0")/../support/shell_rig.sh"
chaos=${REDLOCK_CHAOS:-./redlock-chaos}
here=$(cd "$(dirname "$0")" && pwd)
command -v redis-server >/dev/null || command -v valkey-server >/dev/null || exit 77
command -v go >/dev/null || command -v node >/dev/null || exit 77

make_work redlock-peers
"$here/build_peers.sh" "$work" || exit 99

try() { # WHAT COMMAND
    check "$1" "$chaos" --local 3 --faults none --duration 10s --ttl 2s --clients 3 --names 2 \
        --min-holds 30 --client "exec $2"
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

tell
