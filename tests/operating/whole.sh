#!/bin/sh
# whole.sh - every list of docs/OPERATING.md, played; and a restart that does not wait, by which
# locks must be lost: so a lost one would have been seen.
#
#   whole.sh SOURCE BUILD SERVERS
set -u
source=$1 build=$2 servers=$3
here=$(cd "$(dirname "$0")" && pwd)
failed=0
run() { # TASK-OR-OPTION...
    echo "--- $*"
    python3 -B "$here/play.py" --max-ttl 8 --servers "$servers" "$source" "$build" "$@" || failed=1
}
# with SERVER TASK: where that server could be had. Those out of packages have no TLS.
with() {
    if [ -x "$servers/$1/redis-server" ]; then
        run --plain "$2"
    else
        echo "$2: skipped, $1 could not be had"
    fi
}
run restart password certificate
run replace
run ca grow shrink grow
run max-ttl
with redis-8.2 upgrade
with valkey-8.1 valkey
run --careless restart
exit $failed
