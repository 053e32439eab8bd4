#!/bin/sh
# bound_names_test.sh - in a process that has its own copies of what the library needs, under the
# same names, the library uses its own; where it can't, it says so and opens nothing.

# shellcheck disable=SC1091,SC2154 # shell_rig.sh sets them
. "${srcdir:-.}/tests/support/shell_rig.sh"
root=$(cd "${srcdir:-.}" && pwd) || exit 99
build=$(cd "${builddir:-.}" && pwd) || exit 99
command -v redis-server >/dev/null || {
    echo "there is no redis-server"
    exit 77
}
[ -f "$build/.libs/libredlock.so" ] || {
    echo "no shared library was built"
    exit 77
}
! grep -q '^SANITIZE_CFLAGS *= *-' "$build/Makefile" || {
    echo "the sanitizers have a malloc of their own, and want to be loaded first"
    exit 77
}
make_work redlock-names
server=''
clean_up() {
    [ -z "$server" ] || kill_all $server
}
cc=${CC:-cc}
flags="-std=gnu11 -Wall -Wextra -Werror -I$root/include"

redis-server --port 0 --unixsocket "$work/socket" --save '' --appendonly no --dir "$work" \
    >"$work/server.log" 2>&1 &
server=$!
check 'a master' await test -S "$work/socket"
printf 'node unix://%s\nguard off\n' "$work/socket" >"$work/list"

# build OUTPUT FLAGS...
build() {
    output=$1
    shift
    # shellcheck disable=SC2086 # words
    $cc $flags -o "$work/$output" "$@" || {
        echo "$output can't be built"
        exit 99
    }
}
build other_hiredis.so -DOTHER_HIREDIS -fPIC -shared "$root/tests/support/other_names.c"
build other_openssl.so -DOTHER_OPENSSL -fPIC -shared "$root/tests/support/other_names.c"
build plain "$root/examples/minimal.c" "$build/.libs/libredlock.so" "-Wl,-rpath,$build/.libs"

# with PRELOADED PROGRAM...
with() {
    preloaded=$1
    shift
    (cd "$work" && LD_PRELOAD=$preloaded exec "$@") >"$work/out" 2>"$work/err"
}
# says TEXT PRELOADED PROGRAM...: it ends with a failure and these words, not by a signal.
says() {
    text=$1
    shift
    with "$@"
    code=$?
    [ $code -gt 0 ] && [ $code -lt 128 ] && grep -qF "$text" "$work/err"
}

# ---- a program is compiled and linked with our own package, and nothing else ----
mkdir "$work/include" "$work/pkgconfig" "$work/lib"
cp "$root/include/redlock.h" "$work/include"
cp "$build/.libs/"libredlock.so* "$work/lib"
[ ! -f "$build/.libs/libredlock.a" ] || cp "$build/.libs/libredlock.a" "$work/lib"
sed "s,^prefix=.*,prefix=$work,;s,^libdir=.*,libdir=$work/lib," "$build/redlock.pc" |
    sed "s,^includedir=.*,includedir=$work/include," >"$work/pkgconfig/redlock.pc"
alone() { PKG_CONFIG_LIBDIR=$work/pkgconfig PKG_CONFIG_PATH='' pkg-config "$@" redlock; }
only_ours() { [ "$(alone --cflags | tr -d ' ')" = "-I$work/include" ]; }
links() { # OUTPUT FLAGS...
    output=$1
    shift
    told=$(alone "$@") || return
    # shellcheck disable=SC2086 # words
    $cc -o "$work/$output" "$root/examples/minimal.c" $told "-Wl,-rpath,$work/lib"
}
check 'the flags for compiling are of our own header only' only_ours
check 'a program links with our own package' links ours --cflags --libs
check 'and runs' with '' "$work/ours" "$work/list"
if [ -f "$build/.libs/libredlock.a" ] && static_can_be_linked "$build"; then
    rm "$work/lib/"*.so*
    check 'so does one with the static library, and what it needs' \
        links ours_static --static --cflags --libs
    check 'which runs as well' with '' "$work/ours_static" "$work/list"
fi

# ---- hiredis ----
if grep -q '^#define HIDDEN_HIREDIS' "$build/config_auto.h"; then
    check 'a program with another hiredis takes its lock' \
        with "$work/other_hiredis.so" "$work/plain" "$work/list"
    check 'so does redlock(1)' with "$work/other_hiredis.so" "$build/bin/redlock" run \
        --nodes "$work/list" x -- true
    check 'no name of hiredis is looked up in the process' sh -c \
        "! nm -D --undefined-only '$build/.libs/libredlock.so' | grep -E ' (redis|sds|hi_)'"
    if [ -f "$build/.libs/libredlock.a" ]; then
        # shellcheck disable=SC2046 # words
        build static -DOTHER_HIREDIS "$root/examples/minimal.c" \
            "$root/tests/support/other_names.c" "$build/.libs/libredlock.a" \
            $(pkg-config --libs openssl uuid) -pthread
        check 'so does one that has both linked in' with '' "$work/static" "$work/list"
    fi
fi

# The files that differ in a library that was built --with-shared-hiredis.
soname=$(readelf -d "$(${CC:-cc} -print-file-name=libhiredis.so)" 2>/dev/null |
    sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
if [ -n "$soname" ]; then
    {
        sed '/HIDDEN_HIREDIS/d;/SHARED_HIREDIS/d' "$build/config_auto.h"
        echo "#define SHARED_HIREDIS \"$soname\""
    } >"$work/config_auto.h"
    # shellcheck disable=SC2046 # words
    build shared -I"$work" -iquote "$root/lib" "$root/examples/minimal.c" \
        "$root/lib/net/hiredis_reader.c" "$root/lib/net/resp_reader.c" \
        "$build/.libs/libredlock-core.a" $(pkg-config --libs openssl uuid hiredis) -pthread
    check 'with the hiredis that it was built for, it takes its lock' \
        with '' "$work/shared" "$work/list"
    check 'with another hiredis it says so, and opens nothing' \
        says 'this process has bound another hiredis, of ' \
        "$work/other_hiredis.so" "$work/shared" "$work/list"
fi

# ---- OpenSSL ----
printf 'node rediss://127.0.0.1:1\nmax-ttl 3s\n' >"$work/tls"
check 'with another TLS library it says so, and opens nothing' \
    says 'this process has bound another TLS library, BoringSSL, than ' \
    "$work/other_openssl.so" "$work/plain" "$work/tls"
check 'without TLS it is not asked' with "$work/other_openssl.so" "$work/plain" "$work/list"

# ---- malloc ----
build malloc "$root/tests/support/other_malloc.c" -ldl
check 'what the C library allocates for its callers is not freed by us' \
    with '' "$work/malloc" "$build/.libs/libredlock.so" "$work/list"

tell
