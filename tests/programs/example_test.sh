#!/bin/sh
# tags: early
# example_test.sh - the examples as their readers meet them: the library is configured, built
# and installed below a prefix of our own, the examples are compiled against it with what
# pkg-config says, and run on five real masters that are killed and restarted under them. With
# EXAMPLES_BUILD_ONLY=1 they are not run: out of a tarball they would do the same once more.
#
# A job's number in its file must be the sum of the slices that the services say they did:
# one less is an update that was lost, one more is work that was done twice.

# shellcheck disable=SC1091,SC2154 # shell_rig.sh sets them
. "${srcdir:-.}/tests/support/shell_rig.sh"
srcdir=$(cd "${srcdir:-.}" && pwd) || exit 99
for program in redis-server redis-cli pkg-config make; do
    command -v $program >/dev/null || {
        echo "there is no $program"
        exit 77
    }
done
[ -x "$srcdir/configure" ] || {
    echo "there is no $srcdir/configure"
    exit 77
}
cc=${CC:-cc}
# Where we are part of a build with sanitizers, so is what we build.
sanitizers=$(sed -n 's/^SANITIZE_CFLAGS *=.*-fsanitize=\([^ ]*\).*/\1/p' \
    "${builddir:-.}/Makefile" 2>/dev/null)
unset REDLOCK_SERVER REDISCLI_AUTH CFLAGS CPPFLAGS LDFLAGS MAKEFLAGS MFLAGS MAKELEVEL DESTDIR

make_work redlock-example
cluster=$work/build/bin/redlock-cluster
max_ttl_s=4
services='' asking=''

clean_up() {
    # shellcheck disable=SC2086 # words are wanted
    kill_all $services $asking
    [ ! -d "$work/c" ] || "$cluster" down --dir "$work/c"
}

give_up() {
    printf 'FAILED: %s\n' "$1"
    [ ! -f "$work/log" ] || tail -n 20 "$work/log"
    exit 1
}

tell_time() { # sets now: hundredths of a second since boot
    read -r uptime rest </proc/uptime
    now=$((${uptime%.*} * 100 + 1${uptime#*.} - 100))
}

eventually() { # SECONDS COMMAND...
    tell_time
    until_cs=$((now + $1 * 100))
    shift
    until "$@"; do
        tell_time
        [ $now -lt $until_cs ] || return 1
        sleep 0.02
    done
}

# ---- asking the services ----

ask() { # SOCKET REQUEST
    "$work/locksmith" ask "$1" "$2" >"$work/out" 2>&1
    cat "$work/out" >>"$work/answers"
}
says() { grep -Eq -e "$1" "$work/out"; }                     # PATTERN
answer_is() { ask "$2" "$3"; says "$1"; }                    # PATTERN SOCKET REQUEST
in_background() { # FILE SOCKET REQUEST
    "$work/locksmith" ask "$2" "$3" >"$work/$1" 2>&1 &
    asking="$asking $!"
    last=$!
}

number() { # JOB
    n=0
    { read -r n <"$work/jobs/$1"; } 2>/dev/null
    echo "${n:-0}"
}
has_begun() { [ "$(number "$1")" -gt 0 ]; }                # JOB
number_is() { [ "$(number "$2")" -eq "$1" ]; }             # NUMBER JOB
slices_in() { sed -n 's/.* slices=\([0-9]*\).*/\1/p' "$@" | awk '{ n += $1 } END { print n + 0 }'; }
has_ended() { ! kill -0 "$1" 2>/dev/null; }                # PID

# Every line is one of the answers that there are.
all_sane() { # FILE...
    ! cat "$@" | grep -Evq \
        -e '^done [a-z0-9-]+ slices=[0-9]+ extended=[0-9]+$' \
        -e '^(late|lost|stopped) [a-z0-9-]+ slices=[0-9]+ extended=[0-9]+$' \
        -e '^held [a-z0-9-]+ holder=[0-9a-f]{32}:[!-~]+ ttl_ms=[0-9]+$' \
        -e '^no-quorum [a-z0-9-]+ [0-9] of 5 masters:( redis://127\.0\.0\.1:[0-9]+: [^;]+;)+$'
}

key_count() { # KEY: the masters that have it
    for i in 1 2 3 4 5; do
        redis-cli -s "$work/c/$i/redis.sock" EXISTS "$1" 2>/dev/null
    done | grep -c 1
}

start_service() { # LETTER: its socket is $work/LETTER; sets pid
    "$work/locksmith" serve "$work/c/redlock.conf" "$work/$1" "$work/jobs" 2>>"$work/log" &
    pid=$!
    services="$services $pid"
    eventually 10 test -S "$work/$1" || give_up "service $1 does not listen"
}

# ---- the library, as it is installed ----

mkdir "$work/build" "$work/jobs" "$work/home"
if [ -z "$sanitizers" ]; then
    kind='--with-pic' static='' instrument=''
else
    kind="--disable-shared --enable-sanitize=$sanitizers" static=--static
    instrument="-fsanitize=$sanitizers"
fi
# shellcheck disable=SC2086 # words are wanted
(
    cd "$work/build" &&
        "$srcdir/configure" -q $kind --prefix="$work/inst" CC="$cc" CFLAGS='-O0 -g' &&
        make -s lib/kinds/scripts.h && make -s libredlock.la &&
        make -s install-libLTLIBRARIES install-includeHEADERS install-pkgconfigDATA \
            install-nodist_cmakeDATA
) >"$work/log" 2>&1 || give_up 'the library can not be built and installed'
PKG_CONFIG_PATH=$work/inst/lib/pkgconfig
LD_LIBRARY_PATH=$work/inst/lib
export PKG_CONFIG_PATH LD_LIBRARY_PATH
# shellcheck disable=SC2016 # no command is meant
block() { # LANGUAGE PAGE: what stands there between ```LANGUAGE and ```
    sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$2" | grep -v '^```'
}
guide=$srcdir/docs/GUIDE.md
block c "$srcdir/README.md" >"$work/first.c"
block c "$guide" >"$work/minimal.c"
check "README.md's program is examples/first.c" cmp "$work/first.c" "$srcdir/examples/first.c"
check 'it has 15 lines at most' [ "$(wc -l <"$work/first.c")" -le 15 ]
check "the guide's program is examples/minimal.c" cmp "$work/minimal.c" "$srcdir/examples/minimal.c"
compile() { # PROGRAM SOURCE [PACKAGE]
    # shellcheck disable=SC2046,SC2086 # words are wanted
    $cc -std=c11 -Wall -Wextra -Werror -O1 -g -pthread $instrument -o "$work/$1" "$2" \
        $(pkg-config $static --cflags --libs redlock ${3:-}) >"$work/out" 2>&1
}
check 'the example of README.md compiles' compile first "$work/first.c"
check 'that of the guide compiles' compile minimal "$work/minimal.c"
block C "$guide" >"$work/readme_parts.c"
cp "$srcdir/tests/programs/example_readme.c" "$work/parts.c"
check 'the other examples of the guide compile' compile parts "$work/parts.c"
compile_cxx() { # SOURCE STANDARD
    # shellcheck disable=SC2046,SC2086 # words are wanted
    c++ -std=$2 -Wall -Wextra -Werror $instrument -c -o "$work/cxx.o" "$1" \
        $(pkg-config --cflags redlock) >"$work/out" 2>&1
}
block cpp "$guide" >"$work/guide.cc"
check 'the guide has an example in C++' grep -q redlock.hpp "$work/guide.cc"
cat >>"$work/guide.cc" <<'END'
using namespace std; /* no name of the example is one of these */
int main()
{
    redlock::client client{"five/redlock.conf"};
    return work_on(client, "orders:42");
}
END
! command -v c++ >/dev/null || check 'and it compiles' compile_cxx "$work/guide.cc" c++17
{
    printf '#include <iostream>\n#include <redlock.hpp>\nint main()\n{\n'
    block cpp "$srcdir/README.md"
    echo '}'
} >"$work/readme.cc"
check 'README.md shows C++ in three lines' [ "$(block cpp "$srcdir/README.md" | wc -l)" -eq 3 ]
! command -v c++ >/dev/null ||
    check 'and they compile' compile_cxx "$work/readme.cc" c++17
! grep -qx 'have_asio = yes' "${builddir:-.}/Makefile" ||
    check 'the loop of Asio compiles' compile_cxx "$srcdir/examples/asio.cc" c++20
check 'the store that fences compiles' compile fenced_store "$srcdir/examples/fenced_store.c"
check 'the service compiles' compile locksmith "$srcdir/examples/locksmith.c"
check 'the loop around poll() compiles' compile poll "$srcdir/examples/poll.c"
for loop in libuv libevent; do
    ! pkg-config --exists $loop ||
        check "the loop of $loop compiles" compile $loop "$srcdir/examples/$loop.c" $loop
done
[ $failures -eq 0 ] || exit 1
ldd "$work/locksmith" >"$work/out"
[ -n "$sanitizers" ] ||
    check 'it runs with the library just installed' says "$work/inst/lib/libredlock.so.0 "

# The static library, with all that pkg-config says it needs; nothing but that is static.
compile_static() {
    # shellcheck disable=SC2046 # words are wanted
    $cc -o "$work/static" "$srcdir/examples/minimal.c" $(pkg-config --static --cflags --libs redlock |
        sed 's/-lredlock/-l:libredlock.a/') >"$work/out" 2>&1
}
# OpenSSL names libraries there whose files for the linker may not be installed.
openssl_links() {
    echo 'int main(void) { return 0; }' >"$work/none.c"
    # shellcheck disable=SC2046 # words are wanted
    $cc -o "$work/none" "$work/none.c" $(pkg-config --static --libs openssl) >"$work/out" 2>&1
}
if [ -n "$sanitizers" ]; then
    :
elif openssl_links; then
    check 'the static library links by pkg-config --static' compile_static
    ldd "$work/static" >"$work/out"
    check 'and is all that is needed of it' eval '! says libredlock'
else
    echo "not linked by pkg-config --static: what OpenSSL needs for that is not installed"
fi

# The build systems of the guide, with the lines that it shows.
build_by() { # COMMAND...
    (cd "$work/project" && "$@") >"$work/out" 2>&1 && [ -x "$work/project/b/my_program" ]
}
new_project() {
    rm -rf "$work/project"
    mkdir "$work/project"
    cp "$work/minimal.c" "$work/project/my_program.c"
}
if [ -z "$sanitizers" ] && command -v cmake >/dev/null; then
    new_project
    {
        echo 'cmake_minimum_required(VERSION 3.7)'
        echo 'project(my_program C)'
        echo 'add_executable(my_program my_program.c)'
        block cmake "$guide"
    } >"$work/project/CMakeLists.txt"
    check "CMake builds with the guide's lines" build_by \
        sh -c "mkdir b && cd b && cmake -DCMAKE_PREFIX_PATH='$work/inst' .. && cmake --build ."
fi
if [ -z "$sanitizers" ] && command -v meson >/dev/null && command -v ninja >/dev/null; then
    new_project
    { echo "project('my_program', 'c')" && block meson "$guide"; } >"$work/project/meson.build"
    check "meson builds with the guide's lines" build_by sh -c 'meson b && ninja -C b'
fi

# What both pages have typed after `make install`, where our own prefix stands in for /usr/local.
# shellcheck disable=SC2016
check 'README.md lets programs find the library' grep -qF '`make install && ldconfig`' "$srcdir/README.md"
for page in README.md:first docs/GUIDE.md:minimal; do
    program=${page#*:} page=${page%:*}
    check "$page compiles the program that it shows" [ "$(grep -c '^cc ' "$srcdir/$page")" -eq 1 ]
    sed -n "s|^cc -o $program |$cc $instrument -o $work/typed-$program |p" "$srcdir/$page" |
        sed "s|pkg-config|pkg-config $static|" >"$work/typed.sh"
    # shellcheck disable=SC2016
    check 'so that it is there' eval \
        '(cd "$srcdir" && sh -e "$work/typed.sh") && [ -x "$work/typed-$program" ]'
done
(cd "$work/home" && "$work/typed-minimal") >"$work/out" 2>&1
status=$?
check 'without a node list it ends' [ $status -eq 1 ]
check 'and says which file is missing' says 'redlock\.conf.*No such file'
if [ -n "${EXAMPLES_BUILD_ONLY-}" ]; then
    tell
    exit
fi

# ---- masters that were just started: the guard withholds their votes ----

"$cluster" up 5 --max-ttl ${max_ttl_s}s --dir "$work/c" >"$work/out" 2>&1 || give_up 'no masters'
start_service a
a=$pid
ask "$work/a" 'first 1 0 0'
check 'no vote of young masters counts' says '^no-quorum first .*restart guard'
check 'they vote when they are old enough' \
    eventually 60 answer_is '^done first slices=1 extended=0$' "$work/a" 'first 1 0 0'
check 'what was refused had no effect' number_is 1 first
start_service b
b=$pid
check 'also in the other service' \
    eventually 60 answer_is '^done other slices=1 extended=0$' "$work/b" 'other 1 0 0'

# ---- done, held, extended, late, lost, bad ----

in_background long "$work/a" 'long 200 50 0'
long=$last
check 'the long job begins' eventually 10 has_begun long
check 'the other service is told who is at it' \
    answer_is '^held long holder=[0-9a-f]{32}:[^ ]+ ttl_ms=[0-9]+$' "$work/b" 'long 1 0 0'
check 'other jobs are free meanwhile' \
    answer_is '^done ink slices=3 extended=0$' "$work/b" 'ink 3 1 0'
check 'and their work is done' number_is 3 ink
check 'who is slower than the lease is late' \
    answer_is '^late slow slices=0 extended=0$' "$work/b" "slow 1 $((max_ttl_s * 1000 + 500)) 0"
check 'late work has no effect' number_is 0 slow
"$work/parts" "$work/c/redlock.conf" >"$work/out" 2>&1
check 'what the guide says of readers, and of two names at once, is so' says '^all of it$'
mkdir "$work/home/five"
cp "$work/c/redlock.conf" "$work/home/five/redlock.conf"
(cd "$work/home" && "$work/typed-first") >"$work/out" 2>&1
check "README.md's program takes the lock" says '^orders:42 is ours for [1-9][0-9]* ms$'
for bad in '' ' ' nonsense 'UP 1 1 1' '../up 1 1 1' 'x 1 1' 'x 1 1 1 1' 'x -1 1 1' 'x 1 1 one' \
    'x 99999999999999999999 1 1' "$(printf '%0500d' 0 | tr 0 x) 1 1 1"; do
    check "bad: '$bad'" answer_is '^bad ' "$work/b" "$bad"
done
wait "$long"
cp "$work/long" "$work/out"
check 'a long job extends its lock' says '^done long slices=200 extended=[1-9]'
check 'and is not disturbed' number_is 200 long

in_background lost "$work/a" 'lost 400 50 0'
lost=$last
check 'the job that is going to be lost begins' eventually 10 has_begun lost
for i in 1 2 3; do redis-cli -s "$work/c/$i/redis.sock" DEL job:lost >/dev/null; done
check 'it ends when a majority lost the lock' eventually 20 has_ended "$lost"
cp "$work/lost" "$work/out"
check 'and says so' says '^lost lost slices='
check 'nothing is done after it was found out' number_is "$(slices_in "$work/lost")" lost

# ---- many at once, while two masters are killed ----

cp "$work/c/redlock.conf" "$work/home/redlock.conf"
sum_of() { echo $(($(number one) + $(number two) + $(number three))); }
sum_reaches() { [ "$(sum_of)" -ge "$1" ]; }
crowd=
for client in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do
    (
        for job in one two three one two three; do
            [ $((client % 2)) = 0 ] && service=a || service=b
            "$work/locksmith" ask "$work/$service" "$job 5 10 60000"
        done >"$work/crowd.$client" 2>&1
    ) &
    crowd="$crowd $!"
done
for client in 1 2 3 4 5 6 7 8 9 10; do
    (cd "$work/home" && exec "$work/minimal") >"$work/minimal.$client" 2>&1 &
    crowd="$crowd $!"
done
asking="$asking $crowd"
check 'the crowd gets on' eventually 60 sum_reaches 60
"$cluster" kill 2 --dir "$work/c"
at_kill=$(sum_of)
check 'and with four masters' eventually 60 sum_reaches $((at_kill + 60))
"$cluster" kill 4 --dir "$work/c"
at_kill=$(sum_of)
check 'the masters died under them' [ "$at_kill" -lt 540 ]
bad_exits=0
for p in $crowd; do wait "$p" || bad_exits=$((bad_exits + 1)); done
: >"$work/out"
check 'all of the crowd was served' [ $bad_exits -eq 0 ]
check 'with sane answers' all_sane "$work"/crowd.*
check '18 clients were answered 6 times' [ "$(cat "$work"/crowd.* | wc -l)" -eq 108 ]
check 'every slice was reported' [ "$(slices_in "$work"/crowd.*)" -eq 540 ]
for job in one two three; do check "no slice was lost or done twice: $job" number_is 180 $job; done
check "and ten of the guide's program added ten" grep -qx 10 "$work/home/counter"

# ---- a third is killed, and all come back ----

check 'which had no such file at first' grep -qx 'counter is 1' "$work"/minimal.*
"$cluster" kill 5 --dir "$work/c"
for service in a b; do
    check "two of five are no quorum: $service" \
        answer_is '^no-quorum ink [0-2] of 5 masters: redis://' "$work/$service" 'ink 1 0 0'
    check 'which is a sane answer' all_sane "$work/out"
    check 'also after waiting' \
        answer_is '^no-quorum ink [0-2] of 5 masters: redis://' "$work/$service" 'ink 1 0 700'
done
(cd "$work/home" && "$work/minimal") >"$work/out" 2>&1 &
waiting=$!
asking="$asking $waiting"
tell_time
restarted=$now
for i in 2 4 5; do "$cluster" restart $i --empty --dir "$work/c" || give_up "master $i does not restart"; done
check 'restarted masters vote again' \
    eventually 60 answer_is '^done ink slices=1 extended=0$' "$work/a" 'ink 1 0 0'
tell_time
check 'but not before every lease could have run out' \
    [ $((now - restarted)) -ge $((max_ttl_s * 100)) ]
check 'in the other service too' \
    eventually 60 answer_is '^done ink slices=1 extended=0$' "$work/b" 'ink 1 0 0'
grep ' ink ' "$work/answers" | grep -v '^no-quorum ' >"$work/out"
check 'nothing was done without a quorum' number_is "$(slices_in "$work/out")" ink
wait "$waiting"
status=$?
check "README.md's program waited for the quorum" [ $status -eq 0 ]
check 'and added one' grep -qx 11 "$work/home/counter"

# ---- a service is killed in the middle of a job ----

in_background killed "$work/a" 'killed 400 50 0'
check 'the job begins' eventually 10 has_begun killed
kill -KILL "$a"
wait "$a" 2>/dev/null
before=$(number killed)
check 'the lock stays until its TTL' answer_is '^held killed ' "$work/b" 'killed 1 0 0'
check 'and is free after it' \
    answer_is '^done killed slices=2 extended=0$' "$work/b" 'killed 2 0 30000'
check 'the work went on where it stood' number_is $((before + 2)) killed

# ---- a service is told to end ----

in_background working "$work/b" 'ending 400 50 0'
working=$last
check 'the job begins' eventually 10 has_begun ending
in_background waiting "$work/b" 'ending 1 0 60000'
waiting=$last
kill -TERM "$b"
wait "$b"
status=$?
check 'TERM ends the service cleanly' [ $status -eq 0 ]
check 'its locks are free at once' [ "$(key_count job:ending)" -eq 0 ]
wait "$working"
cp "$work/working" "$work/out"
check 'who works is told how far it came' says '^stopped ending slices=[1-9]'
check 'and that is right' number_is "$(slices_in "$work/out")" ending
wait "$waiting"
cp "$work/waiting" "$work/out"
check 'who waits is told to stop, or was not heard any more' \
    says '^(stopped ending slices=0 extended=0|locksmith: .*)$'
check 'the socket is gone' [ ! -e "$work/b" ]

tell
