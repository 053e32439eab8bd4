#!/bin/sh
# layers.sh - tests/repo/layers.txt has the folders of lib/ and who may use whom. Here the files are
# held to it by their includes, and the objects by what they call. The pure ones use nothing but
# each other and the C library's functions named here. No circle of files goes through two
# folders, or is large. And in the whole library the time is a client's, and one file reckons with
# deadlines. No file of lib/ or tools/ is longer than CONTRIBUTING.md allows.

root=${srcdir:-$(dirname "$0")/../..}
build=${builddir:-.}
table=$root/tests/repo/layers.txt
work=$(mktemp -d "${TMPDIR:-/tmp}/rl-layers-XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' HUP INT TERM

# What every pure object may use; `memory` only those that the table names.
bytes='memchr memrchr memcmp bcmp memcpy memmem memmove memset strchr strcmp strlen strncmp strstr inet_pton'
text='snprintf vsnprintf'
memory='malloc calloc realloc free strdup'
headers='arpa/inet.h assert.h inttypes.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h
    sysexits.h redlock.h config_auto.h scripts.h'

# told WORD: what stands behind it in the table.
told() { sed -n "s/^$1 //p" "$table"; }
sources=$(cd "$root" && ls lib/*/*.[ch] lib/*/*/*.[ch])
folders=$(sed -n 's/^\([a-z/]*\):.*/\1/p' "$table")
: >"$work/faults"

for file in $sources; do
    folder=${file#lib/}
    echo "$folders" | grep -qx "${folder%/*}" || echo "the table knows no folder of $file" >>"$work/faults"
done
for file in $(told impure) $(told allocates) $(told up); do
    [ -f "$root/$file" ] || echo "the table names $file, which is not there" >>"$work/faults"
done

# broken_order TABLE: folders that may use one which is not below them, so not in a row before.
broken_order() {
    awk '$1 ~ /^[a-z\/]+:$/ {
        f = substr($1, 1, length($1) - 1)
        for (i = 2; i <= NF; i++) if (!($i in below)) print f " may use " $i ", which is not below it"
        below[f] = 1 }' "$1"
}
broken_order "$table" >>"$work/faults"

# ---- includes -----------------------------------------------------------------------------

# "FILE HEADER", quoted ones and those of the system.
for file in $sources; do
    sed -n 's/^#[ ]*include[ ]*[<"]\([^>"]*\)[>"].*/\1/p' "$root/$file" | sed "s|^|$file |"
done >"$work/includes"

folder_of='function folder_of(file) { sub(/\/[^\/]*$/, "", file); return file }
    '
# broken_includes TABLE: includes that it does not allow, one a line.
broken_includes() {
    awk -v headers="$headers" "$folder_of"'
        BEGIN { n = split(headers, list); for (i = 1; i <= n; i++) plain[list[i]] = 1 }
        FNR == NR && $1 ~ /^[a-z\/]+:$/ { f = substr($1, 1, length($1) - 1); known[f] = 1; may[f, f] = 1
            for (i = 2; i <= NF; i++) may[f, $i] = 1; next }
        FNR == NR && $1 == "pure" { for (i = 2; i <= NF; i++) pure[$i] = 1; next }
        FNR == NR && $1 == "impure" { impure[$2] = 1; next }
        FNR == NR && $1 == "up" { up[$2, $3] = 1; next }
        FNR == NR { next }
        { here = folder_of(substr($1, 5)); there = folder_of($2) }
        $2 ~ /\// && there in known {
            if ("lib/" $2 in impure && here in pure && !($1 in impure) && !(($1, "lib/" $2) in up))
                print $1 " is pure and includes " $2
            else if (!((here, there) in may) && !(($1, "lib/" $2) in up))
                print $1 " includes " $2 ": " here " may not use " there
            else if (($1, "lib/" $2) in up)
                used[$1, "lib/" $2] = 1
            next
        }
        here in pure && !($1 in impure) && !($2 in plain) { print $1 " is pure and includes " $2 }
        END { for (pair in up) if (!(pair in used)) { sub(SUBSEP, " ", pair)
            print "an exception that is none: up " pair } }
    ' "$1" "$work/includes"
}
broken_includes "$table" >>"$work/faults"

# ---- objects ------------------------------------------------------------------------------

object_of() { # FILE
    folder=${1%/*} name=${1##*/}
    for object in "$build/$folder/libredlock_core_la-${name%.c}.o" \
        "$build/$folder/.libs/libredlock_core_la-${name%.c}.o"; do
        [ ! -f "$object" ] || break
    done
    echo "$object"
}

# "d FILE SYMBOL" that it defines, "u FILE SYMBOL" that it uses.
for file in $(echo "$sources" | grep '\.c$'); do
    object=$(object_of "$file")
    if [ ! -f "$object" ]; then
        echo "layers: there is no $object: run make first"
        exit 1
    fi
    nm "$object" | awk -v file="$file" '
        NF == 3 && $2 ~ /[TDBR]/ { print "d", file, $3 }
        NF == 2 && $1 == "U" { print "u", file, $2 }'
done >"$work/symbols"

# broken_calls TABLE: what objects use and it does not allow, one a line.
broken_calls() {
    awk -v bytes="$bytes $text" -v memory="$memory" "$folder_of"'
        function compilers(symbol) { # what compilers, coverage and sanitizers put in
            return symbol ~ /^(__assert_fail|__popcountdi2|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_)$/ ||
                symbol ~ /^__(gcov|llvm|asan|ubsan|tsan|msan|sanitizer|atomic)_/
        }
        BEGIN {
            n = split(bytes, list); for (i = 1; i <= n; i++) plain[list[i]] = 1
            n = split(memory, list); for (i = 1; i <= n; i++) room[list[i]] = 1
        }
        FILENAME == ARGV[1] && $1 ~ /^[a-z\/]+:$/ { f = substr($1, 1, length($1) - 1); may[f, f] = 1
            for (i = 2; i <= NF; i++) may[f, $i] = 1; next }
        FILENAME == ARGV[1] && $1 == "pure" { for (i = 2; i <= NF; i++) pure[$i] = 1; next }
        FILENAME == ARGV[1] && $1 == "impure" { impure[$2] = 1; next }
        FILENAME == ARGV[1] && $1 == "allocates" { allocates[$2] = 1; next }
        FILENAME == ARGV[1] && $1 == "calls" { up[$2, $3] = 1; next }
        FILENAME == ARGV[1] { next }
        $1 == "d" { where[$3] = $2; next }
        { here = folder_of(substr($2, 5)) }
        $3 in where {
            there = folder_of(substr(where[$3], 5))
            if (here in pure && !($2 in impure) && where[$3] in impure)
                print $2 " is pure and uses " $3
            else if (!((here, there) in may) && !(($2, $3) in up))
                print $2 " uses " $3 " of " where[$3] ": " here " may not use " there
            else if (($2, $3) in up)
                used[$2, $3] = 1
            next
        }
        here in pure && !($2 in impure) {
            symbol = $3
            if (symbol ~ /^__.*_chk$/) # fortified
                symbol = substr(symbol, 3, length(symbol) - 6)
            if (!compilers($3) && !(symbol in plain) && !(symbol in room && $2 in allocates))
                print $2 " is pure and uses " $3
        }
        END { for (pair in up) if (!(pair in used)) { sub(SUBSEP, " ", pair)
            print "an exception that is none: calls " pair } }
    ' "$1" "$work/sorted"
}
sort "$work/symbols" >"$work/sorted" # what is defined comes first
broken_calls "$table" >>"$work/faults"

# ---- circles ------------------------------------------------------------------------------

# broken_circles TABLE SYMBOLS: circles of files by what objects use. One may exist inside one
# folder, of three files at most: a driver and what calls it back.
broken_circles() {
    awk -v most=3 "$folder_of"'
        FILENAME == ARGV[1] { if ($1 == "circle") known[$2] = 1; next }
        $1 == "d" { where[$3] = $2; if (!($2 in number)) { number[$2] = ++n; file[n] = $2 }; next }
        $3 in where && where[$3] != $2 { reach[number[$2], number[where[$3]]] = 1 }
        END {
            for (k = 1; k <= n; k++)
                for (i = 1; i <= n; i++)
                    if ((i, k) in reach)
                        for (j = 1; j <= n; j++)
                            if ((k, j) in reach)
                                reach[i, j] = 1
            for (i = 1; i <= n; i++) {
                if (i in seen || !((i, i) in reach))
                    continue
                count = 0; text = ""; wide = 0
                for (j = i; j <= n; j++) {
                    if (!((i, j) in reach && (j, i) in reach))
                        continue
                    seen[j] = 1
                    member[++count] = file[j]
                    text = text " " file[j]
                    wide = wide || folder_of(file[j]) != folder_of(file[i])
                }
                if (wide)
                    print "a circle of folders:" text
                if (count <= most)
                    continue
                for (m = 1; m <= count; m++) {
                    if (!(member[m] in known))
                        print member[m] " is in a circle of " count " files:" text
                    used[member[m]] = 1
                }
            }
            for (name in known) if (!(name in used))
                print "an exception that is none: circle " name
        }
    ' "$1" "$2"
}
broken_circles "$table" "$work/sorted" >>"$work/faults"

# ---- the clock ----------------------------------------------------------------------------

# Only clock.c reads the kernel's clock: it may go back, and a client's does not.
(cd "$root" && grep -l 'rl_clock_now_ns' lib/*/*.c lib/*/*/*.c) | grep -vx 'lib/base/clock.c' |
    sed 's/$/ reads the kernel'\''s clock, and not the client'\''s: rl_client_now_ns()/' >>"$work/faults"

# ---- deadlines ----------------------------------------------------------------------------

# Only validity.c reckons with the deadline of a hold: with its bounds, or with the field.
bounds='RL_(VALIDITY_GRAIN|DRIFT_FIXED|LOST_MARGIN_M(IN|AX))_NS'
field='hold(->|\.)(deadline_ns|drift_factor)'
broken_deadlines() { # FILE ...
    (cd "$root" && grep -nE "$bounds|$field [-+*/<>]|[-+*/<>]=? ([a-z_]+(->|\.))*$field" "$@") |
        sed 's/^\([^:]*:[0-9]*\):.*/\1 reckons with a deadline: core\/validity.c does/'
}
# Words, all of them.
# shellcheck disable=SC2046
broken_deadlines $(echo "$sources" | grep -vx 'lib/core/validity.c\|lib/base/limits.h') \
    >>"$work/faults"

# ---- size ---------------------------------------------------------------------------------

most=$(sed -n 's|.*file has one job and at most \([0-9]*\) lines.*|\1|p' "$root/CONTRIBUTING.md")
[ -n "$most" ] || echo 'CONTRIBUTING.md does not say how many lines a file may have' >>"$work/faults"
broken_sizes() { # TREE, whose lib/kinds/scripts.h may have been made there
    (cd "$1" && find lib tools -name '*.[ch]' ! -path lib/kinds/scripts.h -exec wc -l {} +) |
        awk -v most="$most" '$2 != "total" && $1 > most {
            print $2 " has " $1 " lines, more than " most ": split it by subject" }'
}
broken_sizes "$root" >>"$work/faults"

# ---- and these checks see what they are for -----------------------------------------------

grep -v '^impure\|^up' "$table" >"$work/strict"
sed 's/^engine:.*/engine: base/; s/^\(engine.wait:\).*/\1 base/' "$table" >"$work/narrow"
sees() { # WHAT COMMAND TABLE ...
    what=$1
    shift
    "$@" | grep -q "$what" || echo "not seen: $what: the check is broken" >>"$work/faults"
}
sees '^lib/core/validity.c:[0-9]* reckons ' broken_deadlines lib/core/validity.c lib/core/hold.c
sees '^lib/base/clock.c is pure and uses clock_gettime$' broken_calls "$work/strict"
sees '^lib/base/entropy.c is pure and includes ' broken_includes "$work/strict"
sed 's/^engine.wait:/& engine\/lease/' "$table" >"$work/upside"
sees '^engine/wait may use engine/lease, which is not below it$' broken_order "$work/upside"
sees '^lib/engine/.* engine may not use node$' broken_includes "$work/narrow"
sees '^lib/engine/.* engine may not use node$' broken_calls "$work/narrow"
sees '^lib/engine/wait/.* engine/wait may not use engine/masters$' broken_includes "$work/narrow"
sees '^lib/engine/wait/.* engine/wait may not use engine/masters$' broken_calls "$work/narrow"
# Four files in a ring, and two of two folders.
ring() { # SYMBOL FILE ...
    made=$1
    first=$2
    shift
    while [ $# -gt 0 ]; do
        echo "d $1 $made$#"
        echo "u ${2:-$first} $made$#"
        shift
    done
}
{ ring a lib/net/1.c lib/net/2.c lib/net/3.c lib/net/4.c; ring b lib/net/5.c lib/node/6.c; } |
    sort >"$work/rings"
grep -v '^circle' "$table" >"$work/round"
sees '^lib/net/1.c is in a circle of 4 files:' broken_circles "$work/round" "$work/rings"
sees '^a circle of folders: lib/net/5.c lib/node/6.c$' broken_circles "$work/round" "$work/rings"
mkdir -p "$work/tree/lib/net" "$work/tree/tools/chaos"
for file in lib/net/long.c tools/chaos/long.h; do
    yes '' | head -n $((${most:-0} + 1)) >"$work/tree/$file"
    sees "^$file has " broken_sizes "$work/tree"
done

cat "$work/faults"
failed=$(wc -l <"$work/faults")
count=$(echo "$sources" | wc -l)
if [ "$count" -lt 100 ]; then
    echo "layers: only $count files in $root/lib: not understood"
    failed=1
fi
echo "Checks: $((count + 18)), Failures: $failed, Errors: 0"
[ "$failed" -eq 0 ]
