#!/bin/sh
# docs_test.sh - the documents against the tree: every file, function and state that
# docs/ARCHITECTURE.md names exists, docs/RULES.md has every rule that the tree names and tests
# that are there, docs/SAFETY.md has a test or a reason in every row, links lead somewhere, versions
# agree. What README.md and docs/GUIDE.md have typed is played by tests/programs/pages_test.sh.

# shellcheck disable=SC1091,SC2154 # shell_rig.sh sets them
. "${srcdir:-.}/tests/support/shell_rig.sh"
root=$(cd "${srcdir:-.}" && pwd) || exit 99
make_work redlock-docs

clean_up() { [ ! -d "$work/five" ] || "$cluster" down --dir "$work/five"; }

cd "$root" || exit 99
design=docs/DESIGN.md

# ---- docs/ARCHITECTURE.md: its folders, files, functions and states are those that there are ----

# names_in PAGE: a line for each name in backticks: "file PATH", "in PATH NAME" (a function, or a
# struct or enum, of that file), "public NAME", "internal NAME" (of some header).
names_in() {
    awk '{
        n = split($0, part, "`")
        file = ""
        for (i = 2; i <= n; i += 2) {
            name = part[i]
            if (name ~ /^[a-z_.\/-]+\/[a-z_.-]+\.[a-z]+(:[a-z0-9_]+)?$/) {
                split(name, at, ":")
                file = at[1]
                print at[2] ? "in " file " " at[2] : "file " file
            } else if (name ~ /^redlock_[a-z_]+\(\)$/)
                print "public " substr(name, 1, length(name) - 2)
            else if (name ~ /^[a-z]+[a-z_]*$/ && file != "")
                print "in " file " " name
            else if (name ~ /^rl_[a-z_]+$/)
                print "internal " name
        }
    }' "$1"
}
path_of() { # PATH: as in the page, below lib/ or from the top
    [ -e "lib/$1" ] && echo "lib/$1" || echo "$1"
}
is_there() { # KIND PATH-OR-NAME [NAME]
    case $1 in
    file) [ -f "$(path_of "$2")" ] ;;
    in) grep -qE "\b$3\(|(struct|enum) $3 \{" "$(path_of "$2")" ;;
    public) grep -qE "\b$2\(" include/redlock.h ;;
    internal) grep -qE "\b$2\(|(struct|enum) $2 \{" lib/*/*.h lib/*/*/*.h ;;
    esac
}
architecture=docs/ARCHITECTURE.md
names_in $architecture | sort -u >"$work/names"
check "$architecture names files and functions" [ "$(wc -l <"$work/names")" -gt 60 ]
while read -r kind what name; do
    check "$architecture: $what ${name:-}" is_there "$kind" "$what" "$name"
done <"$work/names"
for folder in lib/*/ lib/engine/*/; do
    folder=${folder#lib/}
    check "$architecture draws $folder" grep -qE "^ .* $folder +[a-z]" $architecture
done
# Each state of an enum that the page names is drawn there.
grep ' .*\.h rl_' "$work/names" | while read -r kind file name; do
    awk -v begin="^enum $name {" '$0 ~ begin { on = 1 } on { print } /}/ { on = 0 }' \
        "$(path_of "$file")" | sed 's|/\*.*\*/||' | grep -oE 'RL_[A-Z_]+' | sed 's/.*_//'
done >"$work/states"
check "$architecture draws state machines" [ "$(wc -l <"$work/states")" -gt 20 ]
while read -r state; do
    check "$architecture: state $state" grep -qw "$state" $architecture
done <"$work/states"
check 'a page that names what is not there is noticed' eval \
    '! is_there in core/hold.c rl_hold_revive && ! is_there file core/poem.c &&
        ! is_there internal rl_poem && ! is_there public redlock_poem'
check "$architecture stays short" [ "$(wc -l <$architecture)" -le 150 ]
check "$design stays short" [ "$(wc -l <$design)" -le 600 ]

# ---- functions that the other pages name, and docs/RULES.md: its tests, and all rules ----

# shellcheck disable=SC2016 # no command is meant
grep -ohE '`rl_[a-z_]+`' $design docs/ENGINE.md docs/RULES.md | tr -d '`' | sort -u >"$work/functions"
while read -r name; do
    check "function $name exists" is_there internal "$name"
done <"$work/functions"

# "`NAME` in `FILE`", over the end of a line too; and each `FILE` by itself.
file_of() { # FILE: where it is in lib/
    find lib -path "*/${1#lib/}" | head -n 1
}
is_in() { # NAME FILE
    [ -n "$(file_of "$2")" ] && grep -qw "$1" "$(file_of "$2")"
}
# shellcheck disable=SC2016
cat $design docs/ENGINE.md docs/RULES.md | tr -s '\n ' ' ' >"$work/words"
# shellcheck disable=SC2016
grep -oE '`[a-z_]+` in `[a-z_/]+\.(c|h|lua)`' "$work/words" | tr -d '`' | sed 's/ in / /' |
    grep -v ' test_' | sort -u >"$work/in_files"
check 'pages say what is in which file' [ "$(wc -l <"$work/in_files")" -gt 15 ]
while read -r name file; do
    check "$name is in $file" is_in "$name" "$file"
done <"$work/in_files"
# shellcheck disable=SC2016
grep -oE '`[a-z_/]+\.(c|h|lua)`' "$work/words" | tr -d '`' | grep -v ^test_ | sort -u >"$work/files"
while read -r file; do
    check "there is a $file" [ -n "$(file_of "$file")" ]
done <"$work/files"

# tests_of PAGE: the tests and stories (sim:NAME) in the last column of its tables.
tests_of() {
    grep '^| ' "$1" | awk -F '|' '{
        n = split($(NF - 1), part, "`")
        for (i = 2; i <= n; i += 2)
            print part[i]
    }' | sort -u
}
test_exists() { # NAME, sim:NAME, FILE, FILE:NAME
    case $1 in
    sim:*) [ -f "tests/sim/golden/${1#sim:}.txt" ] ;;
    *.c:*) find tests -name "${1%%:*}" -exec cat {} + | grep -q "^TEST([a-z0-9_]*, ${1#*:}[,)]" ;;
    *.c | *.sh) find tests -name "$1" | grep -q . ;;
    *) grep -qx "$1" "$work/cases" ;;
    esac
}
# parts_of PAGE: what keeps a rule, by its third or second column: files and words of lib/.
parts_of() {
    grep '^| ' "$1" | awk -F '|' 'NF >= 5 {
        n = split($(NF - 2), part, "`")
        for (i = 2; i <= n; i += 2)
            print part[i]
    }' | sort -u
}
part_exists() { # FILE or NAME
    case $1 in
    sim:*) ;; # an assumption's
    *.*) find lib -path "*/$1" | grep -q . ;;
    *) grep -rqw "$1" lib ;;
    esac
}
# Names of rules, counter-examples and assumptions in comments and stories, and those that tests
# begin with; "peer case 5" is a05 or the like.
grep -rhoE --include='*.[ch]' --include='*.lua' --include='*.txt' --exclude-dir=corpus \
    --exclude-dir=interop '\b(R|CE)[0-9]+\b|\bA[1-9]\b|[Pp]eer case [0-9]+|^TEST\([a-z0-9_]+, [a-z0-9_]+' lib tests |
    sort -u >"$work/found"
sed -n 's/^TEST(.*, //p' "$work/found" >"$work/cases"
{
    grep -v '^TEST(' "$work/found" | sed 's/.* /[a-z]0*/'
    grep -oE '^(r|ce)[0-9]+_' "$work/cases" | tr -d _ | tr rce RCE
    grep -oE '^[a-j][0-9]+_' "$work/cases" | tr -d _
} | sort -u >"$work/rules"
missing_rules() { # PAGE: those of $work/rules that have no line
    while read -r rule; do
        grep -qE "^\| $rule \|" "$1" || echo "$rule"
    done <"$work/rules"
}
check 'rules are named in comments and tests' [ "$(wc -l <"$work/rules")" -gt 90 ]
check 'each has its line in docs/RULES.md' [ -z "$(missing_rules docs/RULES.md)" ]
missing_rules docs/RULES.md
tests_of docs/RULES.md >"$work/tests"
check 'docs/RULES.md names tests' [ "$(wc -l <"$work/tests")" -gt 150 ]
while read -r name; do
    check "docs/RULES.md: test $name" test_exists "$name"
done <"$work/tests"
parts_of docs/RULES.md >"$work/parts"
while read -r name; do
    check "docs/RULES.md: $name" part_exists "$name"
done <"$work/parts"
# And these checks see what they are for.
# shellcheck disable=SC2016
{
    cat docs/RULES.md
    echo '| R99 | made up | `no_such_function` | `r99_no_such_test`, `sim:no-such-story` |'
} >"$work/made_up.md"
grep -v '^| R7 ' docs/RULES.md >"$work/less.md"
check 'a rule without a line is seen' [ "$(missing_rules "$work/less.md")" = R7 ]
# shellcheck disable=SC2016
check 'a test that is not there is seen' eval 'tests_of "$work/made_up.md" | grep -qx r99_no_such_test &&
    ! test_exists r99_no_such_test && ! test_exists sim:no-such-story && ! part_exists no_such_function'

# ---- docs/SAFETY.md: each row has a test, with its file, or says why there is none ----

safety=docs/SAFETY.md
# rows_of PAGE: those of its tables whose last column has tests.
rows_of() {
    awk '/^\| .*\| tests \|$/ { on = 1; next } !/^\|/ { on = 0 } on && !/^\|---/' "$1"
}
is_proven() { # ROW
    case ${1##*" | "} in
    none:* | *'; none for '* | '`'* | 'the cost: `'*) ;;
    *) return 1 ;;
    esac
}
# unproven_in FILE: the rows of it that are not.
unproven_in() {
    while read -r row; do
        is_proven "$row" || echo "$row"
    done <"$1"
}
rows_of $safety >"$work/safety"
check "$safety has rows with tests" [ "$(wc -l <"$work/safety")" -gt 80 ]
check 'each has a test, or says why none' [ -z "$(unproven_in "$work/safety")" ]
unproven_in "$work/safety"
tests_of "$work/safety" >"$work/tests"
check "$safety names tests" [ "$(wc -l <"$work/tests")" -gt 120 ]
while read -r name; do
    check "$safety: test $name, with its file" [ "${name#*:}" != "$name" ]
    check "$safety: test $name" test_exists "$name"
done <"$work/tests"
# unkept PAGE: the assumptions of docs/RULES.md of which it does not say who sees to them.
unkept() {
    grep -oE '^\| A[0-9]+ ' docs/RULES.md | while read -r row; do
        grep -F "$row |" "$1" | grep -qE '\*\*([Ee]nforced|[Dd]etected|[Ss]tated)\*\*' || echo "$row"
    done
}
check "$safety says who sees to each assumption" [ -z "$(unkept $safety)" ]
# shellcheck disable=SC2016 # no command is meant
sed -n '/^| check | what it finds/,/^$/p' $safety | awk -F '|' 'NR > 2 { print $2 }' | grep -oE '`[a-z]+`' |
    tr -d '`' | sort -u >"$work/asked"
sed -n 's/.*check_[a-z]*([^"]*"\([a-z]*\)".*/\1/p; s/^ *[a-z_]*(check, "\([a-z]*\)".*/\1/p' \
    tools/redlock/status_checks.c tools/redlock/status_assume.c | sort -u >"$work/checks"
check "$safety has the checks of redlock status" cmp "$work/asked" "$work/checks"
check "$safety stays short" [ "$(wc -l <$safety)" -le 226 ]
grep -v '^| A4 ' $safety >"$work/less.md"
check 'an assumption without a row is seen' [ "$(unkept "$work/less.md")" = '| A4' ]
# shellcheck disable=SC2016
check 'a row without a test is seen, and a test that is not there' eval \
    '! is_proven "| a fault | what comes of it | |" && ! is_proven "| a fault | none: \`x\` | it is so |" &&
        test_exists test_hold.c:r1_won_too_late_is_lost && ! test_exists test_hold.c:no_such_test &&
        ! test_exists test_quorum.c:r1_won_too_late_is_lost && ! test_exists no_such_file.c:main'

# ---- public names ----

public_is_there() { # NAME: a function, or a constant, of redlock.h
    case $1 in
    REDLOCK_NODES) ;; # in the environment of programs
    REDLOCK_ERROR_INIT) grep -qw "$1" include/redlock.h ;;
    REDLOCK_E*) grep -qE "X\\(${1#REDLOCK_}," include/redlock.h ;;
    *) grep -qw "$1" include/redlock.h ;;
    esac
}
grep -ohE '\bredlock_[a-z_]+\(|\bREDLOCK_[A-Z_]+' README.md docs/ARCHITECTURE.md $design docs/ENGINE.md \
    docs/GUIDE.md $safety | tr -d '(' | sort -u >"$work/public"
check 'pages name what is public' [ "$(wc -l <"$work/public")" -gt 20 ]
while read -r name; do
    check "redlock.h has $name" public_is_there "$name"
done <"$work/public"
check 'a public name that is none is seen' eval '! public_is_there redlock_poem && ! public_is_there REDLOCK_EPOEM'

# ---- links ----

for page in README.md CONTRIBUTING.md SECURITY.md CHANGES.md docs/*.md; do
    grep -o '](\([^)#]*\)' "$page" | sed 's/](//' | grep -v '^https:' | grep . >"$work/links"
    while read -r link; do
        check "$page: the link to $link" [ -e "${page%"${page##*/}"}$link" ]
    done <"$work/links"
done

anchors_of() { # PAGE: of its headings
    awk '/^```/ { code = !code }
        !code && /^#/ {
            sub(/^#+ */, "")
            $0 = tolower($0)
            gsub(/[^a-z0-9_ -]/, "")
            gsub(/ /, "-")
            print
        }' "$1"
}
for page in README.md CONTRIBUTING.md docs/*.md; do
    grep -oE '\]\([^)#]*#[^)]+\)' "$page" | grep -v https: | sed 's/^](//; s/)$//' >"$work/links"
    while IFS='#' read -r link anchor; do
        case $link in
        '') there=$page ;;
        *) there=${page%"${page##*/}"}$link ;;
        esac
        anchors_of "$there" >"$work/anchors"
        check "$page: the heading $link#$anchor" grep -qxF "$anchor" "$work/anchors"
    done <"$work/links"
done

# ---- paths: what pages name in the tree is there, by itself or as a program's source ----

# shellcheck disable=SC2086 # patterns are meant to be expanded
a_path_is_there() {
    case $1 in
    *[A-Z]*/*[A-Z]* | *NAME* | */KIND/*) return 0 ;; # a placeholder
    esac
    for found in $1 $1.c; do
        [ ! -e "$found" ] || return 0
    done
    return 1
}
grep -ohE '(^|[ `(])(lib|tools|tests|man|examples|include)/[A-Za-z0-9_./*-]*[A-Za-z0-9_*]' README.md CONTRIBUTING.md \
    SECURITY.md docs/*.md | tr -d ' `(' | sort -u >"$work/paths"
check 'pages name files of the tree' [ "$(wc -l <"$work/paths")" -gt 30 ]
while read -r path; do
    check "$path exists" a_path_is_there "$path"
done <"$work/paths"
check 'a path that leads nowhere is seen' eval '! a_path_is_there lib/core/poem.c'

# ---- versions ----

version=$(sed -n 's/^AC_INIT(\[libredlock\], \[\([^]]*\)\].*/\1/p' configure.ac)
check 'configure.ac has a version' [ -n "$version" ]
check 'it is that of redlock.h' grep -q "^#define REDLOCK_VERSION \"$version\"$" include/redlock.h
check 'in parts too' [ "$version" = "$(sed -n \
    's/^#define REDLOCK_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' include/redlock.h | paste -sd .)" ]
check 'and the first of CHANGES.md' \
    [ "$version" = "$(sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGES.md | head -n 1)" ]

# ---- figures ----

figures_in() { # PAGE: the rows of its table of figures
    sed -n '/^<!-- .*figures -->$/,/^<!-- end of figures -->$/p' "$1" | grep '^| [^|]' | grep -v '^| | median'
}
check 'README.md has ten figures' [ "$(figures_in README.md | wc -l)" -eq 10 ]
check 'docs/PERFORMANCE.md has more' [ "$(figures_in docs/PERFORMANCE.md | wc -l)" -gt 20 ]
figures_in docs/PERFORMANCE.md >"$work/all_figures"
figures_in README.md | sed 's/^[^|]*|[^|]*| *//' | sort -u >"$work/figures"
while read -r figure; do
    check "docs/PERFORMANCE.md has README.md's $figure" grep -qF "$figure" "$work/all_figures"
done <"$work/figures"
check 'README.md stays short' [ "$(wc -l <README.md)" -le 150 ]

# ---- the wait of the restart guard: told in one way ----

wait_words='max-ttl[`]* and its drift in whole seconds, rounded up, and one second more'
flat() { sed 's/^ \* *//' "$1" | tr '\n' ' ' | tr -s ' '; }
for file in README.md docs/GUIDE.md lib/core/trust.h man/redlock.7 man/redlock-cluster.1; do
    check "$file says how long a restarted master waits" sh -c \
        'printf %s "$1" | grep -q "$2"' - "$(flat $file)" "$wait_words"
done

# ---- messages: what the guide explains is said by something ----

# messages_in PAGE: what begins the rows of its tables of messages.
# shellcheck disable=SC2016
messages_in() { sed -n '/^| message |/,/^$/p' "$1" | sed -n 's/^| `\([^`]*\)`.*/\1/p'; }
for page in docs/GUIDE.md docs/OPERATING.md; do
    messages_in $page | grep -v 'cannot open shared object' >"$work/messages"
    check "$page explains messages" [ "$(wc -l <"$work/messages")" -gt 5 ]
    while read -r message; do
        check "$page: somebody says $message" grep -rqF "$message" lib tools include
    done <"$work/messages"
done

# ---- docs/OPERATING.md: each status, state and loss has a row, and metrics are those that there are ----

manual=docs/OPERATING.md
has_row() { grep -qF "| $1 |" $manual; } # WORDS
sed -n '/^enum cli_exit {/,/^};/p' tools/redlock/cli.h | grep -oE '= [0-9]+' | tr -d '= ' | sort -u >"$work/statuses"
check 'there are exit statuses' [ "$(wc -l <"$work/statuses")" -gt 10 ]
while read -r status; do
    check "$manual: exit status $status" has_row "$status"
done <"$work/statuses"
# shellcheck disable=SC2016 # no command is meant
quoted() { grep -oE '"[a-z ]+"' | tr -d '"' | sed 's/.*/`&`/'; }
sed -n '/loss_word/,/^}/p' tools/redlock/run_account.c | grep LOSS_ | quoted >"$work/words"
sed -n '/^static const char \*state_word/,/^}/p' tools/redlock/status_print.c | quoted >>"$work/words"
check 'there are losses and states' [ "$(wc -l <"$work/words")" -eq 18 ]
while read -r word; do
    check "$manual: $word" has_row "$word"
done <"$work/words"
# shellcheck disable=SC2016
sed -n '/^| word | the line says/,/^$/p' $manual | sed -n 's/^| `[a-z ]*` | `\([^`]*\)`.*/\1/p' >"$work/lines"
check "$manual explains losses" [ "$(wc -l <"$work/lines")" -eq 10 ]
while read -r line; do
    check "$manual: somebody says $line" grep -rqF "$line" lib/engine tools/redlock
done <"$work/lines"
grep -oE '\bredlock_[a-z_]+' $manual | sort -u >"$work/metrics"
check "$manual has metrics" [ "$(wc -l <"$work/metrics")" -gt 5 ]
while read -r metric; do
    check "$manual: metric $metric" grep -qE "\"(redlock_)?${metric#redlock_}[\" ]" \
        tools/redlock/status_metrics.c tools/redlock/cli_outcome.c
done <"$work/metrics"
check 'a status, a word and a metric that are none are seen' eval '! has_row 99 && ! has_row "\`poem\`" &&
    ! grep -qE "\"(redlock_)?poems[\" ]" tools/redlock/status_metrics.c'

tell
