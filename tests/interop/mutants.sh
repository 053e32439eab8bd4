#!/bin/sh
# mutants.sh - breaks one rule of the library at a time, and expects the suite to find out.
#
#   make interop-mutants                     all of mutants.txt
#   make interop-mutants MUTANTS='a b'       these
#   make interop-mutants BUDGET=60           begin none after so many seconds, each day others
#
# mutants.txt has the form of the simulator's tables (tests/sim/mutants.sh), but for its ways:
# "by TEXT" is a case of the suite, whose line begins with TEXT and a colon. A copy of the
# sources is changed and built; each case that a mutant names has to fail on that, else the
# mutant has survived, and so has the status 1. What can't be played, since the peer can't be
# had, is told and is no failure.
#
#   mutants.sh SOURCES PEERS    SOURCES: a copy that may be changed

set -u
[ $# = 2 ] || { echo 'Usage: mutants.sh SOURCES PEERS' >&2; exit 64; }
here=$(cd "$(dirname "$0")" && pwd)
sources=$(cd "$1" && pwd) peers=$(cd "$2" && pwd)
table=$here/mutants.txt
build=$sources/mutant

apply() {
    awk -f "$here/../sim/mutants/apply.awk" "$@" "$table"
}

change() { # NAME: the files of a mutant
    apply -v mode=show -v name="$1" | sed -n 's/^file //p' | while read -r file; do
        cp -p "$sources/$file" "$sources/$file.whole" &&
            apply -v mode=change -v name="$1" -v file="$file" \
                -v source="$sources/$file.whole" >"$sources/$file" || exit 1
    done
}

restore() { # NAME
    apply -v mode=show -v name="$1" | sed -n 's/^file //p' | while read -r file; do
        mv "$sources/$file.whole" "$sources/$file" && touch "$sources/$file"
    done
}

# One case of a mutant: found, or NOT FOUND, or NO SUCH CASE, or why it was not played.
play() { # CASE
    python3 -B "$here/suite.py" --ours "$build/tests/interop/ours" --peers "$peers" --only "$1" \
        >"$build/case.log" 2>&1
    if grep -q "^FAILED - $1:" "$build/case.log"; then
        echo "found by $1"
    elif grep -q "^ok - $1:" "$build/case.log"; then
        echo "NOT FOUND by $1"
    elif grep -q "^skipped - " "$build/case.log"; then
        echo "not played: $(sed -n 's/^skipped - //p' "$build/case.log" | head -n 1)"
    else
        echo "NO SUCH CASE: $1"
    fi
}

make_ours() {
    make -s -C "$build" tests/interop/ours >"$build/make.log" 2>&1
}

mkdir -p "$build"
[ -f "$build/Makefile" ] || (cd "$build" && ../configure --quiet --disable-shared) || exit 2
make_ours || { tail -n 20 "$build/make.log"; exit 2; }
names=${MUTANTS:-$(apply -v mode=list)}
began=$(date +%s)
if [ -n "${BUDGET:-}" ]; then
    names=$(echo "$names" | awk -v day=$((began / 86400)) '{ line[NR] = $0 }
        END { for (i = 0; i < NR; i++) print line[(i + day * 5) % NR + 1] }')
fi
survived=0 found=0 left=0
for name in $names; do
    if [ $(($(date +%s) - began)) -gt "${BUDGET:-100000}" ]; then
        left=$((left + 1))
        continue
    fi
    change "$name" || { survived=$((survived + 1)); restore "$name" 2>/dev/null; continue; }
    if make_ours; then
        apply -v mode=show -v name="$name" | sed -n 's/^by //p' | while read -r case; do
            play "$case"
        done >"$build/report"
    else
        echo 'BROKEN: it does not compile' >"$build/report"
    fi
    restore "$name"
    sed "s/^/$name: /" "$build/report"
    if grep -q '^NOT FOUND\|^NO SUCH\|^BROKEN' "$build/report" || [ ! -s "$build/report" ]; then
        survived=$((survived + 1))
    else
        found=$((found + 1))
    fi
done
echo "mutants: $found found or not to be played, $survived not found, $left not begun"
[ $survived -eq 0 ]
