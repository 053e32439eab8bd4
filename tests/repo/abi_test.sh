#!/bin/sh
# abi_test.sh - programs that were built with another version's redlock.h run with this library:
# with structs that are shorter at their end than ours, and longer (abi_program.c).

# shellcheck disable=SC1091,SC2154 # shell_rig.sh sets them
. "${srcdir:-.}/tests/support/shell_rig.sh"
root=${srcdir:-$(dirname "$0")/..}
library=${builddir:-.}/.libs/libredlock.so
command -v redis-server >/dev/null || {
    echo "there is no redis-server"
    exit 77
}
[ -f "$library" ] || {
    echo "no shared library was built"
    exit 77
}
sanitizers=$(sed -n 's/^SANITIZE_CFLAGS *= *//p' "${builddir:-.}/Makefile" 2>/dev/null)
make_work redlock-abi
server=''
clean_up() {
    [ -z "$server" ] || kill_all $server
}

redis-server --port 0 --unixsocket "$work/socket" --save '' --appendonly no --dir "$work" \
    >"$work/server.log" 2>&1 &
server=$!
for _ in $(seq 100); do
    [ ! -S "$work/socket" ] || break
    sleep 0.05
done

checks=0 failed=0

# run_with VERSION FLAGS...: the program, built with that version's header.
run_with() {
    mkdir -p "$work/$1"
    awk -v version="$1" -f "$root/tests/repo/abi_header.awk" "$root/include/redlock.h" \
        >"$work/$1/redlock.h" || exit 99
    # shellcheck disable=SC2086 # words
    ${CC:-cc} $sanitizers -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror $2 -I"$work/$1" \
        "$root/tests/repo/abi_program.c" -o "$work/$1/program" "$library" \
        -Wl,-rpath,"$(cd "${builddir:-.}/.libs" && pwd)" || {
        echo "it does not compile with the $1 header"
        failed=$((failed + 1))
        return
    }
    "$work/$1/program" "unix://$work/socket" >"$work/$1/out" 2>&1 || {
        echo "built with the $1 header:"
        cat "$work/$1/out"
        failed=$((failed + 1))
    }
    checks=$((checks + $(sed -n 's/^Checks: \([0-9]*\),.*/\1/p' "$work/$1/out")))
}
run_with same ''
run_with older ''
run_with newer -DNEWER
echo "Checks: $checks, Failures: $failed, Errors: 0"
[ $failed = 0 ]
