#!/bin/sh
# example_sql_test.sh - examples/fenced_sql.sh on real masters: holders in turn write, and one
# whose token is older than what the database has seen is refused.
# shellcheck disable=SC1091,SC2154 # shell_rig.sh, and what make sets
. "${srcdir:-.}/tests/support/shell_rig.sh"
for program in redis-server sqlite3; do
    command -v $program >/dev/null || {
        echo "there is no $program"
        exit 77
    }
done
make_work rl-example-sql
bin=$(cd "${builddir:-.}/bin" && pwd) || exit 99
example=$(cd "${srcdir:-.}/examples" && pwd)/fenced_sql.sh
unset REDLOCK_NODES REDLOCK_FENCING_TOKEN

clean_up() {
    "$bin/redlock-cluster" down --dir "$work/c" >"$work/log" 2>&1
}

"$bin/redlock-cluster" up 3 --max-ttl 4s --dir "$work/c" >"$work/log" 2>&1 || {
    cat "$work/log"
    exit 99
}

write() { # TEXT
    "$bin/redlock" run --nodes "$work/c/redlock.conf" --wait 20s --fenced shelf -- \
        sh "$example" "$work/shelf.db" "$1" >"$work/out" 2>"$work/err"
}
late() { # TOKEN TEXT
    REDLOCK_FENCING_TOKEN=$1 sh "$example" "$work/shelf.db" "$2" >"$work/out" 2>"$work/err"
}
row() { sqlite3 -init /dev/null -noheader -list "$work/shelf.db" 'SELECT text, token FROM shelf'; }
token() { sed -n 's/^written with token \([0-9]*\)$/\1/p' "$work/out"; }

check 'a holder writes' write "Bob's first"
first=$(token)
check 'what it says' [ "$(row)" = "Bob's first|$first" ]
check 'the next holder writes' write second
second=$(token)
check 'with a greater token' [ "$second" -gt "$first" ]
check 'a late writer is refused' eval "! late $first early"
check 'and is told so' grep -q "^refused: .* above $first$" "$work/err"
check 'its text is not there' [ "$(row)" = "second|$second" ]
check 'the last holder may write again' late "$second" again
check 'no token, no write' eval '! late none text'
check 'and it says what would be right' grep -q 'redlock run --fenced' "$work/err"
no_database() { ! REDLOCK_FENCING_TOKEN=1 sh "$example" "$work" text 2>"$work/err"; }
check 'what is no database fails' no_database
tell
