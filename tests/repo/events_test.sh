#!/bin/sh
# events_test.sh - the tables of docs/ENGINE.md against the code: each function in "A turn of the
# loop" and "All events" is there and makes the calls that its row names, in their order; and
# there is a row for each step of a tick and for each way into a hold, a waiter and a callback.

# shellcheck disable=SC1091,SC2154 # shell_rig.sh sets them
. "${srcdir:-.}/tests/support/shell_rig.sh"
root=$(cd "${srcdir:-.}" && pwd) || exit 99
make_work redlock-events
cd "$root" || exit 99
page=docs/ENGINE.md

# body_of FILE FUNCTION: its definition, without comments.
body_of() {
    awk -v name="$2" '
        function drop() { text = ""; on = 0 }
        !on && /^[a-z]/ && $0 ~ "(^|[ *])" name "\\(" { on = 1 }
        on { text = text $0 "\n" }
        on && /;$/ && text !~ /{/ { drop() }
        on && /^}/ { print text; exit }' "$1" | sed 's|/\*.*\*/||; /^ *\/\*/,/\*\//d'
}
# calls_in_order FILE FUNCTION CALL...: does it make them, each behind the one before?
calls_in_order() {
    body_of "$1" "$2" | tail -n +2 >"$work/body"
    shift 2
    awk -v names="$*" '
        BEGIN { count = split(names, name, " "); n = 1 }
        { line = $0
          while (n <= count && match(line, "(^|[^a-z_])" name[n] "[(,)]")) {
              line = substr(line, RSTART + RLENGTH)
              n++
          } }
        END { exit n <= count }' "$work/body"
}
# rows_of PAGE HEADING: "FILE FUNCTION CALL..." of each row of its table.
rows_of() {
    awk -v heading="## $2" '$0 == heading { on = 1; next } /^## / { on = 0 } on && /^\| / && /`/' "$1" |
        awk -F ' [|] ' '{
            sub(/^\| /, ""); sub(/ \|$/, "")
            count = split($3, where, /, /)
            calls = $4
            gsub(/[`,|]/, "", calls)
            for (i = 1; i <= count; i++) {
                gsub(/[`| ]/, "", where[i])
                if (split(where[i], part, ":") == 2)
                    file = part[1]
                print "lib/" file, part[2] ? part[2] : part[1], calls
                delete part
            }
        }'
}
is_true() { # FILE FUNCTION CALL...: of a row
    [ -f "$1" ] && [ -n "$(body_of "$1" "$2")" ] && calls_in_order "$@"
}
rows_of $page 'A turn of the loop' >"$work/turn"
rows_of $page 'All events' >"$work/events"
check 'a turn has twelve lines' [ "$(wc -l <"$work/turn")" -eq 12 ]
check 'there are many events' [ "$(wc -l <"$work/events")" -gt 50 ]
cat "$work/turn" "$work/events" >"$work/rows"
while read -r file name calls; do
    # shellcheck disable=SC2086 # words
    check "$page: $file:$name calls $calls" is_true "$file" "$name" $calls
done <"$work/rows"

# ---- the other way: what the code has must be in a row ----

tr ' ' '\n' <"$work/rows" | sort -u >"$work/named"
unnamed() { # those of its input that no row names
    sort -u | comm -23 - "$work/named"
}
# The steps of a tick and of a flush, and what a turn asks for its end.
steps_of() { # FILE FUNCTION
    body_of "$1" "$2" | tail -n +2 | grep -oE '\b[a-z_]+\(' | tr -d '(' |
        grep -vxE 'assert|atomic_load|for|if|while|rl_earlier_ns|rl_fill_in_busy'
}
{
    steps_of lib/engine/engine.c tick
    steps_of lib/engine/engine.c flush
    steps_of lib/engine/engine.c due_ns
} >"$work/steps"
# What changes a hold, and what a waiter is told.
changes_in() { # HEADER STRUCT
    tr '\n' ' ' <"$1" | grep -oE "\b[a-z_]+\(struct $2 \*" | sed 's/(.*//'
}
{
    changes_in lib/core/hold.h rl_hold | grep -vxE 'rl_hold_init|rl_hold_set_lock_delay'
    changes_in lib/core/waking.h rl_waking | grep -vx rl_waking_init
    changes_in lib/core/waking.h rl_pause | grep -vx rl_pause_init
    changes_in lib/core/waking.h rl_refusals | grep -vx rl_refusals_begin
} >"$work/changes"
# The handlers of what nodes and subscribers tell, and the callbacks of a call.
sed -n 's/^    \.[a-z_]* = \([a-z_]*\),$/\1/p' lib/engine/engine.c |
    grep -vxE 'unflushed|overdue|rl_client_log|rl_lease_is_next|rl_lease_name' >"$work/handlers"
sed -n 's/.*(\*\([a-z_]*\))(\(const \)*struct rl_call \*.*/\1/p' lib/engine/loop/call.h |
    grep -vx ended >"$work/callbacks"
for list in steps changes handlers callbacks; do
    check "there are $list" [ "$(wc -l <"$work/$list")" -gt 4 ]
    check "$page names all $list" [ -z "$(unnamed <"$work/$list")" ]
    unnamed <"$work/$list"
done

# ---- and these checks see what they are for ----

cat >"$work/made_up.c" <<'END'
static void later(struct x *x);
static void step(struct x *x)
{
    first(x); /* third(x) */
    second(x);
}
END
check 'calls in order are seen' is_true "$work/made_up.c" step first second
# shellcheck disable=SC2016 # eval expands it
check 'another order, and a call in a comment, are seen' eval \
    '! is_true "$work/made_up.c" step second first && ! is_true "$work/made_up.c" step third'
# shellcheck disable=SC2016
check 'a function that is not there is seen, and one that is declared only' eval \
    '! is_true "$work/made_up.c" walk first && ! is_true "$work/made_up.c" later'
check 'a name in no row is seen' [ "$(echo rl_hold_revive | unnamed)" = rl_hold_revive ]

tell
