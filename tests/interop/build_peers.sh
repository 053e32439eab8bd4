#!/bin/sh
# build_peers.sh - fetch and build the other clients of docs/CHAOS.md, each in a directory of
# its own below DIR. This downloads; no test and no build of the project does, or needs it.
#
#   tests/interop/build_peers.sh DIR

set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 1 ] || { echo 'Usage: build_peers.sh DIR' >&2; exit 64; }
mkdir -p "$1"
into=$(cd "$1" && pwd)

if command -v go >/dev/null; then
    mkdir -p "$into/redsync"
    cp "$here"/redsync/* "$into/redsync/"
    (cd "$into/redsync" && go build -o redsync .)
    echo "redsync: $into/redsync/redsync"
else
    echo 'redsync: skipped, there is no go'
fi

if command -v node >/dev/null && command -v npm >/dev/null; then
    mkdir -p "$into/node-redlock"
    cp "$here"/node-redlock/* "$into/node-redlock/"
    (cd "$into/node-redlock" && npm ci --no-audit --no-fund --ignore-scripts >/dev/null)
    echo "node-redlock: node $into/node-redlock/index.js"
else
    echo 'node-redlock: skipped, there is no node, or no npm'
fi
