#!/bin/sh
# docs_test.sh - the documents against the tree: every file has its line in docs/DESIGN.md,
# every function and test that is named there exists, links lead somewhere, versions agree,
# and the shell example of README.md does what it says.

# shellcheck disable=SC1091,SC2154 # shell_rig.sh sets them
. "${srcdir:-.}/tests/shell_rig.sh"
root=$(cd "${srcdir:-.}" && pwd) || exit 99
bin=${builddir:-$PWD}/bin
cluster=${REDLOCK_CLUSTER:-$bin/redlock-cluster}
make_work redlock-docs

clean_up() { [ ! -d "$work/five" ] || "$cluster" down --dir "$work/five"; }

cd "$root" || exit 99
design=docs/DESIGN.md

# ---- files: those of the tables, and those that there are ----

# "lib/core/x.c`, `.h" names two; "tools/bench/*.c" many.
# shellcheck disable=SC2016 # no command is meant
sed -n 's/^| \(`[a-z].*`\) |.*/\1/p' $design | awk -F '`' '{
    for (i = 2; i <= NF; i += 2) {
        if ($i ~ /^\.[a-z]+$/) { base = $(i - 2); sub(/\.[a-z]*$/, "", base); print base $i }
        else if ($i ~ /\// && $i !~ /^\./) print $i
    }
}' >"$work/patterns"
while read -r pattern; do
    for file in $pattern; do echo "$file"; done
done <"$work/patterns" | sort >"$work/told"
for file in lib/*.map lib/*/*.[ch] lib/kinds/*/* tools/*/*.[ch] tools/chaos/*/*.[ch] tools/*/*.in \
    tools/quickstart/*.sh; do
    echo "$file"
done | sort >"$work/there"
check 'every file has its line in DESIGN.md, and every line a file' diff "$work/there" "$work/told"

# ---- tests and functions that are named ----

# shellcheck disable=SC2016
sed -n '/^## The safety argument/,$p' $design | grep '^| ' | awk -F '|' '{ print $4 }' |
    grep -o '`[a-z0-9_]*`' | tr -d '`' >"$work/tests"
check 'tests are named' [ "$(wc -l <"$work/tests")" -gt 30 ]
while read -r name; do
    check "test $name exists" grep -qrE "START_TEST\($name\)" tests
done <"$work/tests"
# shellcheck disable=SC2016
grep -oE '`rl_[a-z_]+`' $design | tr -d '`' | sort -u >"$work/functions"
while read -r name; do
    check "function $name exists" grep -qE "\b$name\(" lib/*/*.h
done <"$work/functions"

# ---- links ----

for page in README.md CONTRIBUTING.md SECURITY.md CHANGES.md docs/*.md; do
    grep -o '](\([^)#]*\)' "$page" | sed 's/](//' | grep -v '^https:' | grep . >"$work/links"
    while read -r link; do
        check "$page: the link to $link" [ -e "${page%"${page##*/}"}$link" ]
    done <"$work/links"
done

# ---- versions ----

version=$(sed -n 's/^AC_INIT(\[libredlock\], \[\([^]]*\)\].*/\1/p' configure.ac)
check 'configure.ac has a version' [ -n "$version" ]
check 'it is that of redlock.h' grep -q "^#define REDLOCK_VERSION \"$version\"$" include/redlock.h
check 'in parts too' [ "$version" = "$(sed -n \
    's/^#define REDLOCK_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' include/redlock.h | paste -sd .)" ]
check 'and the first of CHANGES.md' \
    [ "$version" = "$(sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGES.md | head -n 1)" ]

# ---- the shell example ----

# shellcheck disable=SC2016
# What installs is left out, and so is the program in C, which example_test.sh takes from there.
sed -n '/^```sh$/,/^```$/p' README.md | grep -v '^```' | sed -n '/^redlock-cluster up/,$p' |
    grep -v -e '^cc ' -e '^\./minimal' >"$work/example.sh"
if command -v redis-server >/dev/null && [ -x "$bin/redlock" ]; then
    check 'README.md has a shell example' grep -q 'redlock run' "$work/example.sh"
    cd "$work" || exit 99
    PATH=$bin:$PATH sh -u ./example.sh >said 2>&1 </dev/null
    status=$?
    check 'the shell example ends well' [ $status -eq 0 ]
    check 'it ran its command under the lock' grep -qx 'nobody else is at it' said
    check 'three of five were fit' grep -q '^DEGRADED: 3 of 5 masters vote' said
    check 'it saw its lock with two masters down' grep -q "^'backup': held by " said
    [ $failures -eq 0 ] || show_files said
else
    echo 'there is no redis-server, or no redlock: the shell example was not run'
fi

tell
