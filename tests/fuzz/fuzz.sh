#!/bin/sh
# fuzz.sh - let clang's fuzzer loose on a target, beginning from its corpus.
#
#   tests/fuzz/fuzz.sh TARGET [RUNS [SANITIZERS]]
#
# TARGET is config, reply, sub, text, tools or view; RUNS how many inputs to try, a million by default;
# SANITIZERS a list for -fsanitize, address,undefined by default. With none it is for speed, and
# comparisons are not traced either: let the slow way learn first. FUZZ_MAX_LEN is the longest
# input, 4096 by default. It builds below ./build/fuzz, keeps what it learns in
# build/fuzz/corpus/TARGET, and says how much was tried. An input that breaks something is left
# in build/fuzz and named.
set -eu
cd "$(dirname "$0")/../.."

case ${1:-} in
config | reply | sub | text | tools | view) target=$1 ;;
*)
    sed -n '4,11s/^# \{0,1\}//p' tests/fuzz/fuzz.sh >&2
    exit 64 ;;
esac
runs=${2:-1000000}
sanitizers=${3:-address,undefined}
options=''
case $sanitizers in
none)
    with='' dir=build/fuzz/fast untraced=-fno-sanitize-coverage=trace-cmp
    options='-entropic=0 -use_cmp=0 -reload=0 -detect_leaks=0' ;;
*)  with=,$sanitizers dir=build/fuzz/$sanitizers untraced='' ;;
esac

[ -x configure ] || ./autogen.sh
mkdir -p "$dir" "build/fuzz/corpus/$target"
tar -xf "tests/fuzz/corpus/$target.tar" -C "build/fuzz/corpus/$target"
top=$PWD
cd "$dir"
[ -f Makefile ] || "$top/configure" --quiet --disable-shared CC=clang \
    "CFLAGS=-g -O2 -fsanitize=fuzzer-no-link$with $untraced"
make --quiet lib/kinds/scripts.h libredlock-core.la
link=''
case $target in
reply | sub) link=$top/tests/fuzz/input_link.c ;;
tools)
    # shellcheck disable=SC2046 # words are wanted
    set -- $(sed -n '/^fuzz_tools_objects/,/[^\\]$/s/\(tools[^ ]*\)[.][$](OBJEXT)/\n\1.o\n/gp' \
        "$top/tests/local.mk" | grep '^tools/')
    make --quiet "$@" tools/libchaos.a
    link="$* $top/tests/support/json.c tools/libchaos.a -iquote $top/tools -iquote $top/tests/support"
    options="$options -close_fd_mask=3" ;;
esac
# shellcheck disable=SC2046,SC2086 # words are wanted
clang -g -O2 "-fsanitize=fuzzer$with" $untraced -DHAVE_CONFIG_H -I. -I"$top/include" \
    -iquote "$top/lib" $(pkg-config --cflags hiredis) -o "fuzz_$target" \
    "$top/tests/fuzz/fuzz_$target.c" $link $(find . -name 'libredlock-core.a' | head -n 1) \
    $(pkg-config --libs hiredis uuid openssl) -lpthread
cd "$top/build/fuzz"
# Memory that comes back at once, from the system or the sanitizer, is most of what an input costs.
export GLIBC_TUNABLES=glibc.malloc.trim_threshold=67108864:glibc.malloc.top_pad=16777216
export ASAN_OPTIONS="quarantine_size_mb=1:malloc_context_size=4:${ASAN_OPTIONS:-}"
words=$top/tests/fuzz/$target.dict
[ ! -f "$words" ] || options="$options -dict=$words"
# shellcheck disable=SC2086 # words are wanted
exec "$top/$dir/fuzz_$target" -runs="$runs" -max_len="${FUZZ_MAX_LEN:-4096}" -timeout=10 \
    -print_final_stats=1 $options -artifact_prefix="$top/build/fuzz/" \
    "corpus/$target"
