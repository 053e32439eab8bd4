#!/bin/sh
# tags: long unsanitized
# play_test.sh - a short check-failover: a master is killed, and another is ordered to step down.
# shellcheck disable=SC2154 # what make sets

command -v python3 >/dev/null || {
    echo 'there is no python3'
    exit 77
}
exec python3 -B "${srcdir:-.}/tests/failover/suite.py" \
    --contend "$builddir/tests/failover/contend" --play one --round kill --round order --rounds 1
