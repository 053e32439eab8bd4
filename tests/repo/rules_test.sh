#!/bin/sh
# rules_test.sh - docs/RULES.md against the comments of lib/: the comment of each function and
# script that keeps a rule with a number begins with that number ("R4:", or "R6, R8:"), and each
# comment that begins so is of one that the page names for that rule.

# shellcheck disable=SC1091,SC2154 # shell_rig.sh sets them
. "${srcdir:-.}/tests/support/shell_rig.sh"
root=$(cd "${srcdir:-.}" && pwd) || exit 99
make_work redlock-rules
cd "$root" || exit 99
page=docs/RULES.md

# kept_by PAGE: "RULE NAME FILE" for each function, and "RULE FILE.lua" for each script, in the
# third column of the rules with a number. FILE is empty where a function has none.
kept_by() {
    awk -F ' [|] ' '/^\| R[0-9]+ / {
        rule = substr($1, 3)
        count = split($3, part, "`")
        for (i = 2; i <= count; i += 2)
            if (part[i] ~ /\.lua$/ && part[i - 1] != " in ")
                print rule, part[i]
            else if (part[i] ~ /\.[ch]$/ && part[i - 1] != " in ")
                print rule, "no-function:" part[i]
            else if (part[i] ~ /^[a-z_0-9]+$/ && part[i + 2] ~ /\.lua$/ && part[i + 1] == " in ")
                print rule, part[i + 2]
            else if (part[i] ~ /^[a-z_0-9]+$/)
                print rule, part[i], part[i + 1] == " in " ? part[i + 2] : ""
    }' "$1" | sort -u
}
# marked FILE...: "RULE NAME FILE" for each function below a comment that begins with rules.
marked() {
    awk '
        FNR == 1 { on = 0; rules = "" }
        /^\/\* R[0-9]+[:,]/ { rules = $0; sub(/^\/\* /, "", rules); sub(/:.*/, "", rules) }
        /^\/\*/ { on = 1 }
        on { if (/\*\//) { on = 0; getline; }
             if (on || rules == "") next
             line = $0
             if (line !~ /\(/) { getline; line = line " " $0 }
             name = "nothing"
             if (match(line, /[a-z_0-9]+\(/) && line ~ /^[a-z]/) name = substr(line, RSTART, RLENGTH - 1)
             count = split(rules, rule, /, */)
             for (i = 1; i <= count; i++) print rule[i], name, FILENAME
             rules = "" }' "$@" | sort -u
}
# marked_scripts FILE...: "RULE NAME.lua" for each script whose first words are rules.
marked_scripts() {
    awk 'FNR == 1 && /^-- R[0-9]+[:,]/ {
        sub(/^-- /, ""); sub(/:.*/, "")
        name = FILENAME
        sub(/.*\//, "", name)
        count = split($0, rule, /, */)
        for (i = 1; i <= count; i++) print rule[i], name
    }' "$@" | sort -u
}
kept_by $page >"$work/kept"
marked lib/*/*.[ch] lib/*/*/*.[ch] >"$work/marked"
marked_scripts lib/kinds/*/*.lua >"$work/scripts"
check 'rules are kept by functions' [ "$(wc -l <"$work/kept")" -gt 90 ]
check 'comments begin with rules' [ "$(wc -l <"$work/marked")" -gt 80 ]

pairs() { cut -d ' ' -f 1,2 "$@" | sort -u; }
unlike() { # KEPT MARKED...: the pairs of rule and name that only one side has
    pairs "$1" >"$work/one"
    shift
    pairs "$@" | comm -3 "$work/one" - | tr -d '\t'
}
check "$page and the comments name the same" [ -z "$(unlike "$work/kept" "$work/marked" "$work/scripts")" ]
unlike "$work/kept" "$work/marked" "$work/scripts"
while read -r rule name file; do
    [ -z "$file" ] || check "$rule: $name is in $file" grep -qE "^$rule $name lib/(.*/)?$file$" "$work/marked"
done <"$work/kept"

# ---- and these checks see what they are for ----

cat >"$work/made_up.c" <<'END'
/* R4: it goes behind. */
static void
step(struct x *x)
{
}

/* R98, R99: two of them,
 * in two lines. */
void rl_poem(void)
{
    /* R1: not at a function's head. */
}

/* No rule. */
void rl_prose(void)
END
marked "$work/made_up.c" | cut -d ' ' -f 1,2 >"$work/seen"
printf '%s\n' 'R4 step' 'R98 rl_poem' 'R99 rl_poem' >"$work/meant"
check 'comments with rules are seen, also in two lines' cmp "$work/meant" "$work/seen"
{
    grep -v ' rl_hold_void ' "$work/marked"
    echo 'R3 rl_poem lib/core/poem.c'
} >"$work/other"
check 'a comment without its rule is seen, and a rule too many' \
    [ "$(unlike "$work/kept" "$work/other" "$work/scripts" | paste -sd ' ')" = 'R3 rl_poem R9 rl_hold_void' ]

tell
