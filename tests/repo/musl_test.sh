#!/bin/sh
# tags: long
# musl_test.sh - the library's files compile with musl's headers: all that need nothing of a
# third party's, whose headers musl-gcc has not.

root=${srcdir:-$(dirname "$0")/../..}
build=${builddir:-.}
command -v musl-gcc >/dev/null || exit 77
work=$(mktemp -d "${TMPDIR:-/tmp}/rl-musl-XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' HUP INT TERM
checks=0
failed=0

# What configure finds there: musl has no epoll_pwait2().
grep -v HAVE_EPOLL_PWAIT2 "$build/config_auto.h" >"$work/config_auto.h"

for file in "$root"/lib/*/*.c "$root"/lib/*/*/*.c; do
    flags="-std=gnu11 -D_GNU_SOURCE -I$work -I$root/include -I$root/lib -I$build/lib"
    # shellcheck disable=SC2086 # words
    gcc $flags -I"$build" -MM "$file" 2>/dev/null >"$work/needs"
    ! grep -Eq 'tls_internal|hiredis_reader' "$work/needs" || continue
    ! grep -Eq '<(openssl|uuid)/' "$file" || continue
    checks=$((checks + 1))
    # shellcheck disable=SC2086 # words
    musl-gcc $flags -Wall -Wextra -Werror -c "$file" -o "$work/object.o" || {
        echo "$file does not compile with musl"
        failed=$((failed + 1))
    }
done
echo "Checks: $checks, Failures: $failed, Errors: 0"
[ $failed = 0 ] && [ $checks -gt 50 ]
