#!/bin/sh
# exports.sh - what the library exports is what lib/redlock.map lists, and that is what redlock.h
# declares, and has in its list of calls.

root=${srcdir:-$(dirname "$0")/../..}
library=${builddir:-.}/.libs/libredlock.so
work=$(mktemp -d "${TMPDIR:-/tmp}/rl-exports-XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' HUP INT TERM
failed=0

if [ ! -f "$library" ]; then
    echo "exports: no shared library was built"
    exit 77
fi

sed -n 's/^ *\(redlock_[a-z_]*\);$/\1/p' "$root/lib/redlock.map" | sort >"$work/map"
sed -n 's/^REDLOCK_API .*[ *]\(redlock_[a-z_]*\)(.*/\1/p' "$root/include/redlock.h" | sort \
    >"$work/header"
# A declaration that the line above did not understand would be missed.
[ "$(grep -c '^REDLOCK_API' "$root/include/redlock.h")" = "$(wc -l <"$work/header")" ] || {
    echo 'exports: not every REDLOCK_API of redlock.h has its name on its own line'
    failed=1
}
nm -D --defined-only "$library" | awk '{ print $NF }' >"$work/all"
if grep -q '@@REDLOCK_' "$work/all"; then
    # The name of a version itself is a symbol too.
    grep -v '^REDLOCK_[0-9.]*$' "$work/all" | sed 's/@.*//' | sort >"$work/library"
else
    # Built without the map (sanitizers need to see more): our names still must be right.
    sed -n 's/^\(r\(ed\)\{0,1\}l\(ock\)\{0,1\}_[a-z_0-9]*\).*/\1/p' "$work/all" | sort \
        >"$work/library"
fi

# differ FILE FILE WHAT
differ()
{
    difference=$(diff "$work/$1" "$work/$2") && return
    printf '%s:\n%s\n' "$3" "$difference"
    failed=1
}
differ map header 'lib/redlock.map (<) is not what redlock.h declares (>)'
differ map library 'lib/redlock.map (<) is not what the library exports (>)'
sed -n '/^ \* Calls$/,/^ \*\/$/p' "$root/include/redlock.h" | grep -o 'redlock_[a-z_]*' | sort \
    >"$work/list"
differ map list "lib/redlock.map (<) is not what redlock.h's list of calls says (>)"
count=$(wc -l <"$work/map")
[ "$count" -gt 10 ] || {
    echo "exports: only $count names in lib/redlock.map: not understood"
    failed=1
}
echo "Checks: 3, Failures: $failed, Errors: 0"
exit $failed
