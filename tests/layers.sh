#!/bin/sh
# layers.sh - the core is pure: its objects (CORE_SOURCES in Makefile.am) use nothing but each
# other and the C library's functions named here, and its files include only core headers. And
# in the whole library the time is a client's.

root=${srcdir:-$(dirname "$0")/..}
build=${builddir:-.}
failed=0

# What every core object may use; and what only those may that read a node list, and the one
# that makes room for timers.
bytes='memchr memcmp bcmp memcpy memmem memmove memset strchr strcmp strlen strncmp'
text='snprintf vsnprintf'
memory='malloc calloc realloc free strdup'
memory_users='config config_parse host node_options settings timer url url_text wipe'
headers='assert.h inttypes.h stdarg.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h
    redlock.h config_auto.h scripts.h'

# in_list WORD WORD...
in_list()
{
    word=$1
    shift
    for other in "$@"; do
        [ "$word" != "$other" ] || return 0
    done
    return 1
}

# What compilers, coverage and sanitizers put in.
is_compilers()
{
    case $1 in
    __assert_fail | __popcountdi2 | __stack_chk_fail | _GLOBAL_OFFSET_TABLE_) ;;
    __gcov_* | __llvm_* | __asan_* | __ubsan_* | __tsan_* | __msan_* | __sanitizer_*) ;;
    *) return 1 ;;
    esac
}

object_of()
{
    for object in "$build/lib/libredlock_core_la-$1.o" "$build/lib/$1.o" \
        "$build/lib/.libs/libredlock_core_la-$1.o" "$build/lib/.libs/$1.o"; do
        [ ! -f "$object" ] || break
    done
    echo "$object"
}

# undefined_in MODULE: what it uses and must not, a symbol a line.
undefined_in()
{
    nm -u "$(object_of "$1")" | awk '{ print $NF }' | while read -r symbol; do
        plain=$(expr "$symbol" : '__\(.*\)_chk$') || plain=$symbol # fortified
        # shellcheck disable=SC2086 # lists of words
        if is_compilers "$symbol" || in_list "$plain" $bytes $text $defined; then
            continue
        elif in_list "$plain" $memory && in_list "$1" $memory_users; then
            continue
        fi
        echo "$symbol"
    done
}

# includes_in FILE: the headers that it includes and must not.
includes_in()
{
    sed -n 's/^#[ ]*include[ ]*[<"]\([^>"]*\)[>"].*/\1/p' "$1" | while read -r header; do
        # shellcheck disable=SC2086
        in_list "$header" $headers || in_list "lib/$header" $sources || echo "$header"
    done
}

sources=$(awk '/^CORE_SOURCES/ { on = 1 }
    on { for (i = 1; i <= NF; i++) if ($i ~ /\.[ch]$/) print $i }
    on && !/\\$/ { exit }' "$root/Makefile.am")
modules=$(echo "$sources" | sed -n 's/^lib\/\(.*\)\.c$/\1/p')
count=$(echo "$modules" | wc -l)
if [ "$count" -lt 10 ]; then
    echo "layers: CORE_SOURCES of $root/Makefile.am names $count modules: not understood"
    exit 1
fi
defined=
for module in $modules; do
    object=$(object_of "$module")
    if [ ! -f "$object" ]; then
        echo "layers: there is no $object: run make first"
        exit 1
    fi
    defined="$defined $(nm --defined-only "$object" | awk '$2 ~ /[TDBR]/ { print $3 }')"
done

for module in $modules; do
    for symbol in $(undefined_in "$module"); do
        echo "lib/$module.c is core and uses $symbol"
        failed=1
    done
done
for file in $sources; do
    for header in $(includes_in "$root/$file"); do
        echo "$file is core and includes $header"
        failed=1
    done
done

# Only clock.c reads the kernel's clock: it may go back, and a client's does not.
for file in $(cd "$root" && grep -l 'rl_clock_now_ns' lib/*.c); do
    if [ "$file" != lib/clock.c ]; then
        echo "$file reads the kernel's clock, and not the client's: rl_client_now_ns()"
        failed=1
    fi
done

# And these checks see what they are for.
if ! undefined_in clock | grep -q '^clock_gettime$' ||
    ! includes_in "$root/lib/link.c" | grep -q '^sys/socket.h$'; then
    echo "layers: lib/clock.c and lib/link.c look pure: the check is broken"
    failed=1
fi
echo "Checks: $(($(echo "$sources" | wc -l) + count)), Failures: $failed, Errors: 0"
exit $failed
