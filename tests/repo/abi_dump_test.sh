#!/bin/sh
# abi_dump_test.sh - the library's binary interface is the one that abi/libredlock.abi records:
# exported names, their arguments, and the members of every public struct.
#
#   abi_dump_test.sh           compare (in the build folder, as make check does)
#   abi_dump_test.sh record    write the dump anew, after a change that programs survive

root=${srcdir:-$(dirname "$0")/../..}
library=${builddir:-.}/.libs/libredlock.so
dump=$root/abi/libredlock.abi
skip() {
    echo "abi_dump_test.sh: $1"
    exit 77
}

command -v abidiff >/dev/null || skip 'there is no abidiff (package abigail-tools)'
[ -f "$library" ] || skip 'no shared library was built'
[ "$(uname -m)" = x86_64 ] || skip "the dump is one of x86_64, this is $(uname -m)"
nm -D --defined-only "$library" | grep -q '@@REDLOCK_' || skip 'it was built without the map of names'
readelf -S --wide "$library" | grep -q '\.debug_info' || skip 'it was built without -g'

# Both sides are dumps: lines, private types and the folder of the source are in neither.
write_dump() { # FILE
    abidw --exported-interfaces-only --drop-private-types --headers-dir "$root/include" \
        --no-show-locs --no-comp-dir-path --no-corpus-path --no-elf-needed --type-id-style hash \
        "$library" | sed "s|path='[^']*/\(lib/[^']*'\)|path='\1|" >"$1"
}

[ "${1:-}" != record ] || {
    write_dump "$dump"
    exit
}

work=$(mktemp -d "${TMPDIR:-/tmp}/rl-abi-dump-XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' HUP INT TERM
write_dump "$work/now.abi" || exit 99
abidiff --harmless "$dump" "$work/now.abi" || {
    echo 'The binary interface is not the recorded one. Programs survive new calls and members at'
    echo "the end of a struct: then record it with 'tests/repo/abi_dump_test.sh record' in the"
    echo 'build folder. They survive nothing else: then undo it, or give the library a new soname.'
    echo 'Checks: 1, Failures: 1, Errors: 0'
    exit 1
}
echo 'Checks: 1, Failures: 0, Errors: 0'
