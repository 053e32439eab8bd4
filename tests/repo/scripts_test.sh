#!/bin/sh
# scripts_test.sh - the shell scripts are what they say, POSIX sh, and shellcheck finds
# nothing in them.

set -u
cd "${srcdir:-.}" || exit 99
set -- tests/*.sh tests/*/*.sh tests/operating/bin/* tools/cluster/redlock-cluster.in
for script in quickstart autogen.sh tools/quickstart/*.sh docker/build-*image docker/*.sh tools/packages/make-deb \
    tools/packages/debian/tests/[!c]* .ci/run; do
    [ ! -f "$script" ] || set -- "$@" "$script"
done

command -v shellcheck >/dev/null || {
    echo 'there is no shellcheck'
    exit 77
}
failures=0
for script in "$@"; do
    { sh -n "$script" && shellcheck -x -S warning -s sh "$script"; } || failures=$((failures + 1))
done
echo "Checks: $#, Failures: $failures, Errors: 0"
[ $failures = 0 ]
