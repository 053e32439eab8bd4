#!/bin/sh
# tags: unsanitized
# operating_test.sh - the first lists of docs/OPERATING.md and some that take no time, and one
# master restarted, beside eight programs that have locks. `make check-operating` plays the rest.
# And what is shipped for that: each list is played by someone, units are what systemd reads.

# shellcheck disable=SC1091,SC2154 # shell_rig.sh sets them
. "${srcdir:-.}/tests/support/shell_rig.sh"
root=$(cd "${srcdir:-.}" && pwd) || exit 99
make_work rl-operating
here=$root/tests/operating

# ---- the lists ----

if ! command -v python3 >/dev/null; then
    echo 'there is no python3'
    exit 77
fi
lists=$(python3 -B "$here/play.py" --list "$root" | grep -v '^every-task$')
check 'there are lists' [ "$(echo "$lists" | wc -l)" -ge 14 ]
for list in $lists; do
    check "$list is played" grep -qE "(^run|^with|START = ).*\b$list\b" "$here/whole.sh" "$here/play.py"
done

# ---- what is shipped ----

if command -v systemd-analyze >/dev/null; then
    for unit in "$root"/examples/systemd/*.service; do
        # Whether the programs are installed here is not the question.
        sed 's#^ExecStart=[^ ]*#ExecStart=/bin/true#' "$unit" >"$work/${unit##*/}"
        check "${unit##*/} is a unit" systemd-analyze verify "$work/${unit##*/}"
        check "${unit##*/}: nothing is said of it" [ ! -s "$work/check.out" ]
    done
    printf '[Service]\nExecStart=/bin/true\nRestrat=always\n' >"$work/bad.service"
    systemd-analyze verify "$work/bad.service" >"$work/out" 2>&1
    check 'a word that systemd does not know is seen' [ -s "$work/out" ]
else
    echo 'there is no systemd-analyze: units were not verified'
fi

# ---- the play ----

for program in redis-cli openssl setsid; do
    command -v $program >/dev/null || {
        echo "there is no $program"
        exit 77
    }
done
! grep -q '^SANITIZE_CFLAGS *= *-' "$builddir/Makefile" || {
    echo 'the sanitizers want to be loaded before what looks names up'
    tell
    exit
}
TMPDIR=$work python3 -B "$here/play.py" "$root" "$builddir" password certificate ca restart:redis-1 >"$work/out" 2>&1
status=$?
cat "$work/out"
[ $status -ne 77 ] || exit 77
check 'all went as the manual says, and no lock was lost' [ $status -eq 0 ]
check 'nothing is left running' [ -z "$(working_in "$work")" ]
tell
