#!/bin/sh
# manpages.sh - the manual against the library: every exported name has a page, prototypes,
# structs and errors are the header's, every example of section 3 compiles, every script is
# told of, and mandoc finds nothing to complain of.

# shellcheck disable=SC1091,SC2154 # shell_rig.sh sets them
. "${srcdir:-.}/tests/support/shell_rig.sh"
root=$(cd "${srcdir:-.}" && pwd) || exit 99
header=$root/include/redlock.h
cc=${CC:-cc}
make_work redlock-man

same() { # WHAT FILE FILE
    check "$1" diff "$2" "$3"
}

# What stands between two lines of a page: .Sh SECTION and the next .Sh.
section() { # PAGE SECTION
    awk -v section="$2" '/^\.Sh / { on = ($0 == ".Sh " section); next } on' "$1"
}

# Numbered files with the literal displays of what is read: text as the reader sees it.
displays() { # PREFIX
    awk -v prefix="$1" '
        /^\.Bd -literal/ { file = prefix "." ++n ".c"; next }
        /^\.Ed/ { if (file) close(file); file = ""; next }
        file { gsub(/\\e/, "\\"); gsub(/\\-/, "-"); gsub(/\\&/, ""); print > file }'
}

# ---- macros ----

# Words that are macros of mdoc, too: one at the beginning of a title is not printed.
grep -nE '^\.(It|Sh|Ss) (No|In|An|At|Do|So|Me|On|Os) [a-z]+( |$)' "$root"/man/*.[0-9] >"$work/swallowed"
check 'no title begins with a word that is a macro' [ ! -s "$work/swallowed" ]

# A word that is one delimiter is moved out of what it stands in: "[ -f x ]" loses its blanks.
grep -nE '^\.D[l1] (.* )?[][()|.,:;!?]( |$)' "$root"/man/*.[0-9] >"$work/delimiters"
check 'no word of a displayed command is a lone delimiter (write \&[)' [ ! -s "$work/delimiters" ]
# These macros quote all of their line; Do and Dc, and their like, quote one word of several.
grep -nE '^\.(It )?[BDPQS]q .* [,;:|] [A-Z][a-z] ' "$root"/man/*.[0-9] >"$work/quoted"
check 'no quotation goes on behind a comma' [ ! -s "$work/quoted" ]

# ---- names ----

sed -n 's/^ *\(redlock_[a-z_]*\);$/\1/p' "$root/lib/redlock.map" | sort >"$work/exported"
for page in "$root"/man/*.3; do
    section "$page" NAME | sed -n 's/^\.Nm \([a-z_]*\).*/\1/p' | grep '^redlock_' | sort >"$work/names"
    file=${page##*/}
    while read -r name; do echo "$name ${file%.3}"; done <"$work/names"
done | sort >"$work/documented"
cut -d ' ' -f 1 "$work/documented" >"$work/documented.names"
check 'the library exports something' [ -s "$work/exported" ]
same 'every exported name has one page, and no other name has' "$work/exported" "$work/documented.names"
awk '$1 != $2' "$work/documented" | sed 's/ /:/' >"$work/aliases"
awk '/^man_aliases *=/ { on = 1; sub(/.*=/, "") }
     on { line = $0; sub(/\\$/, "", line); n = split(line, word, " ")
          for (i = 1; i <= n; i++) print word[i]
          if ($0 !~ /\\$/) exit }' "$root/man/local.mk" | sort >"$work/installed"
same 'man/local.mk installs a page under each name' "$work/aliases" "$work/installed"
sed -n '/^man_structs *=/,/[^\\]$/p' "$root/man/local.mk" | tr ' \t' '\n\n' | grep : >"$work/structs"
check 'and under those of structs' grep -q '^redlock_options:' "$work/structs"
while IFS=: read -r name page; do
    check "$page.3 tells of $name" grep -q "$name" "$root/man/$page.3"
    check "redlock.h has $name" grep -q "^} $name;" "$root/include/redlock.h"
done <"$work/structs"

# ---- prototypes: declared again, they must be the same ----

for page in "$root"/man/*.3; do
    section "$page" SYNOPSIS | awk '
        function words(from,    out, i, text) {
            text = from
            gsub(/"/, "", text)
            return text
        }
        function arguments(text,    out) {
            out = ""
            while (match(text, /^ *("[^"]*"|[^ ]+)/)) {
                part = substr(text, 1, RLENGTH)
                text = substr(text, RLENGTH + 1)
                sub(/^ */, "", part)
                gsub(/"/, "", part)
                out = out (out == "" ? "" : ", ") part
            }
            return out
        }
        /^\.Ft / { type = words(substr($0, 5)) }
        /^\.Fn / { line = substr($0, 5); name = line; sub(/ .*/, "", name)
                   sub(/^[^ ]+ /, "", line); print type " " name "(" arguments(line) ");" }
        /^\.Fo / { name = substr($0, 5); all = "" }
        /^\.Fa / { all = all (all == "" ? "" : ", ") words(substr($0, 5)) }
        /^\.Fc/ { print type " " name "(" all ");" }'
done >"$work/prototypes"
{ echo '#include <redlock.h>'; cat "$work/prototypes"; } >"$work/prototypes.c"
sed -n 's/.*[ *]\(redlock_[a-z_]*\)(.*/\1/p' "$work/prototypes" | sort >"$work/declared"
same 'every exported name is in a synopsis' "$work/exported" "$work/declared"
sed -n 's/^\.Fn \(redlock_[a-z_]*\).*/\1/p' "$root"/man/*.[0-9] | sort -u |
    comm -13 "$work/exported" - >"$work/unknown"
same 'every function that a page names is exported' /dev/null "$work/unknown"
# shellcheck disable=SC2086 # $cc may have options in it
check 'prototypes are those of redlock.h' \
    $cc -std=c11 -Wall -Wextra -Werror -I"$root/include" -c -o "$work/o.o" "$work/prototypes.c"

# ---- the calls of C++ ----

sed -n 's/^REDLOCK_API .*[ *]\(redlock_[a-z_]*\)(.*/\1/p' "$header" | grep -v '_n$' | sort >"$work/calls"
sed -n 's/^\.It Fn \(redlock_[a-z_]*\) Ta .*/\1/p' "$root/man/redlock.hpp.3" | sort >"$work/told"
same 'redlock.hpp(3) has a row for every call of C' "$work/calls" "$work/told"

# ---- structs and errors ----

# Declarations without comments and needless blanks.
plain() { sed 's|/\*.*\*/||; s/  */ /g; s/^ //; s/ $//' "$@" | grep -v '^$'; }
plain "$header" >"$work/header"
for page in "$root"/man/*.3; do
    section "$page" DESCRIPTION | displays "$work/struct"
    for display in "$work"/struct.*.c; do
        [ -f "$display" ] || continue
        # shellcheck disable=SC2013 # names have no blanks
        for struct in $(sed -n 's/^typedef struct \([a-z_]*\) {$/\1/p' "$display"); do
            sed -n "/^typedef struct $struct {/,/^}/p" "$display" | plain >"$work/told"
            sed -n "/^typedef struct $struct {/,/^}/p" "$work/header" >"$work/meant"
            same "${page##*/}: struct $struct" "$work/meant" "$work/told"
        done
    done
    rm -f "$work"/struct.*
done
sed -n 's/^ *X(\(E[A-Z]*\),.*/REDLOCK_\1/p' "$header" | sort >"$work/errors"
section "$root/man/redlock.3" ERRORS | sed -n 's/^\.It Bq Er //p' | sort >"$work/told"
same 'redlock(3) tells of every error' "$work/errors" "$work/told"

# ---- examples ----

examples=0
for page in "$root"/man/*.3; do
    section "$page" EXAMPLES | displays "$work/example"
    for example in "$work"/example.*.c; do
        [ -f "$example" ] || { fail "${page##*/} has no example"; continue; }
        examples=$((examples + 1))
        if [ "${page##*/}" = redlock.hpp.3 ]; then
            ! command -v c++ >/dev/null || check 'redlock.hpp.3: its example compiles' c++ \
                -std=c++17 -x c++ -Wall -Wextra -Werror -I"$root/include" -fsyntax-only "$example"
            continue
        fi
        {
            for h in ctype signal stdatomic stdbool stdint stdio stdlib string time redlock; do
                echo "#include <$h.h>"
            done
            cat "$example"
        } >"$work/whole.c"
        # shellcheck disable=SC2086
        check "${page##*/}: ${example##*/} compiles" $cc -std=c11 -D_GNU_SOURCE -Wall -Wextra \
            -Werror -I"$root/include" -c -o "$work/o.o" "$work/whole.c"
    done
    rm -f "$work"/example.*
done
check 'there are examples' [ $examples -gt 8 ]

# ---- scripts ----

for script in "$root"/lib/kinds/*/*.lua; do
    script=${script##*/}
    echo "${script%.lua}"
done | sort >"$work/scripts"
sed -n 's/^\.It Cm \([a-z_]*\) Va.*/\1/p' "$root/man/redlock-scripts.7" | sort >"$work/told"
same 'redlock-scripts(7) tells of every script' "$work/scripts" "$work/told"

# ---- mandoc: in a directory with all of the pages, where it looks for those referred to ----

if ! command -v mandoc >/dev/null; then
    echo 'there is no mandoc'
    [ $failures -eq 0 ] || exit 1
    exit 77
fi
mkdir "$work/man"
cp "$root"/man/*.[1-9] "$work/man"
while IFS=: read -r name page; do
    cp "$root/man/$page.3" "$work/man/$name.3"
done <"$work/aliases"
cd "$work/man" || exit 99
for page in "$root"/man/*.[1-9]; do
    page=${page##*/}
    # Pages of the system that are not installed are no fault of ours.
    mandoc -T lint "$page" 2>&1 | grep -v -e 'outdated mandoc.db' >"$work/all"
    awk '!/referenced manual not found: Xr / || /: Xr redlock/' "$work/all" >"$work/lint"
    check "mandoc -T lint $page" diff /dev/null "$work/lint"
done

tell
