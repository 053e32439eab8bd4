#!/bin/sh
# fenced_sql.sh - a database that refuses writers which are too late, by fencing tokens.
#
#   $ redlock run --fenced shelf -- fenced_sql.sh shelf.db 'some text'
#   written with token 1796000000000001
#
# Its row has the highest token so far, and only a writer with that one or a higher one changes
# the row. Look and write are one statement, so nothing comes between them. Here the database is
# SQLite's; the same UPDATE does it in PostgreSQL or MySQL.
#
# Exit status: 0 written, 1 refused or not written, 64 wrongly called.
token=${REDLOCK_FENCING_TOKEN:-none}
case $#:$token in
2:*[!0-9]*) echo "fenced_sql.sh: no fencing token; use redlock run --fenced" >&2 && exit 64 ;;
2:*) ;;
*) echo "usage: redlock run --fenced NAME -- fenced_sql.sh DATABASE TEXT" >&2 && exit 64 ;;
esac
text=$(printf %s "$2" | sed "s/'/''/g")

changed=$(
    sqlite3 -batch -bail -init /dev/null -noheader -list "$1" <<END
.timeout 5000
CREATE TABLE IF NOT EXISTS shelf (id INTEGER PRIMARY KEY, text TEXT, token INTEGER NOT NULL);
INSERT OR IGNORE INTO shelf VALUES (1, '', 0);
UPDATE shelf SET text = '$text', token = $token WHERE id = 1 AND token <= $token;
SELECT changes();
END
) || exit 1
if [ "$changed" != 1 ]; then
    echo "refused: the database has seen a token above $token" >&2
    exit 1
fi
echo "written with token $token"
