#!/bin/sh
# cxx_test.sh - redlock.hpp compiles without a warning in C++17 and later, and does on real masters
# what it says (cxx.cc).

# shellcheck disable=SC1091,SC2154 # shell_rig.sh sets them
. "${srcdir:-.}/tests/support/shell_rig.sh"
srcdir=$(cd "${srcdir:-.}" && pwd) || exit 99
builddir=$(cd "${builddir:-.}" && pwd) || exit 99
compilers=
for compiler in g++ clang++; do
    command -v $compiler >/dev/null && compilers="$compilers $compiler"
done
[ -n "$compilers" ] || {
    echo 'there is no compiler for C++'
    exit 77
}
make_work redlock-cxx
cluster=$builddir/bin/redlock-cluster
clean_up() { [ ! -d "$work/c" ] || "$cluster" down --dir "$work/c" >/dev/null; }

warnings='-Wall -Wextra -Wconversion -Wshadow -Wold-style-cast -Wzero-as-null-pointer-constant
    -Woverloaded-virtual -pedantic-errors -Werror'
compiles() { # COMPILER STANDARD FILE
    # shellcheck disable=SC2086 # words are wanted
    $1 "-std=$2" $warnings -fsyntax-only -I"$srcdir/include" "$work/$3" >"$work/out" 2>&1
}
refuses() { # COMPILER: an older standard
    ! "$1" -std=c++14 -fsyntax-only -I"$srcdir/include" "$work/both.cc" 2>"$work/out" &&
        grep -q 'redlock.hpp needs C++17' "$work/out"
}
understands() { echo | "$1" "-std=$2" -x c++ -fsyntax-only - 2>/dev/null; } # COMPILER STANDARD

cp "$srcdir/tests/programs/cxx.cc" "$work"
printf '#include <redlock.h>\n#include <redlock.hpp>\n#include <redlock.hpp>\nint main() {}\n' \
    >"$work/both.cc"
for compiler in $compilers; do
    for standard in c++17 c++20 c++23 c++2b; do
        understands $compiler $standard || continue
        for file in cxx.cc both.cc; do
            check "$file in $standard by $compiler" compiles $compiler $standard $file
        done
    done
    check "$compiler is told which standard it needs" refuses $compiler
done

# It is run by the first compiler, in the build's own way: with its sanitizers, if there are some.
compiler=${compilers# }
compiler=${compiler%% *}
makefile() { sed -n "s/^$1 *= *//p" "$builddir/Makefile"; } # VARIABLE
sanitizers=$(makefile SANITIZE_CFLAGS)
library=$builddir/.libs/libredlock.so
needs=
[ -e "$library" ] || {
    library=$builddir/.libs/libredlock.a
    needs="$(makefile CRYPTO_LIBS) $(makefile HIREDIS_LIBS) $(makefile UUID_LIBS)"
}
links() {
    # shellcheck disable=SC2086 # words are wanted
    $compiler -std=c++17 -O1 -g $sanitizers -I"$srcdir/include" -o "$work/cxx" "$work/cxx.cc" \
        "$library" $needs -pthread -Wl,-rpath,"$builddir/.libs" >"$work/out" 2>&1
}
check 'it links' links
[ $failures -eq 0 ] || exit 1
"$cluster" up 3 --dir "$work/c" >"$work/out" 2>&1 || {
    fail 'three masters start'
    exit 1
}
check 'it does what it says' "$work/cxx" "unix://$work/c/1/redis.sock" \
    "unix://$work/c/2/redis.sock" "unix://$work/c/3/redis.sock"
tell
