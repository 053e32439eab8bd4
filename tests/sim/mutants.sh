#!/bin/sh
# mutants.sh - breaks one rule at a time, and expects the simulator, or a test, to find out.
#
#   make sim-mutants                    all of tests/sim/mutants
#   make code-mutants                   all of tests/mutants: what the simulator does not reach
#   make sim-mutants MUTANTS='a b'      these
#   make sim-mutants BUDGET=60s         begin no more after so long, each day with others; of
#                                       those that MUTANTS names, where it names some
#   MUTANTS_ONLY_TABLES=yes mutants.sh  do the tables still fit the source?
#
# The tables have a few lines for each:
#
#   mutant NAME
#   # what it breaks
#   file lib/FOLDER/FILE.c
#   -a line that is there, exactly, and exactly once
#   +the line in its place
#   by seeds K          random worlds of plain locks: found by one of the first K seeds
#   by shared K         the same, of readers and writers
#   by reentrant K      the same, of reentrant locks
#   by fair K           the same, of fair locks on one master
#   by rw K             the same, of readers and writers on one
#   by several K        the same, of several names at once
#   by marked K         the same, of all kinds, with markers at the masters
#   by partial K        the same, of all kinds, restarts that keep some keys and lose others
#   by delayed K        the same, of all kinds, with a lock-delay
#   by kept K           the same, of all kinds, with least times
#   by members K        the same, of all kinds, while the list of masters is changed
#   by limited K        the same, of all kinds, with small bounds
#   by crowded K        the same, of all kinds, with 8 to 31 masters
#   by failover K       the same, with replicas and Sentinels, which fail over
#   by scenario NAME    found by that named scenario
#   by small            found by the exhaustive small worlds
#   by stops            found by one history that is stopped at each of its system calls
#   by replies K        found by one of K worlds in which a master lies
#   by test PROGRAM     found by that program of tests/
#   by test PROGRAM CASE    found by that one of its cases
#
# A table may change more than one place of a file, and more than one file. The changed copy is
# compiled with the build's flags, and linked in front of the library, which is left as it is,
# and of what a program of tools/ is made of.
# Each way that a mutant names has to find it, else it has survived, and so has the status 1.

root=${srcdir:-$(dirname "$0")/../..}
form="$root/tests/sim/mutants/apply.awk"
tables=${MUTANTS_TABLES:-$root/tests/sim/mutants}
seconds=${MUTANTS_SECONDS:-300} # for one way: tests may wait for long for what never comes
jobs=${MUTANTS_JOBS:-2}
work=$(mktemp -d "${TMPDIR:-/tmp}/redlock-mutants.XXXXXX") || exit 2
export srcdir="$root"

clean_up()
{
    trap - EXIT INT TERM
    for pid in $workers; do
        kill "$pid" 2>/dev/null
    done
    rm -rf "$work"
}
trap clean_up EXIT
trap 'clean_up; exit 130' INT TERM

apply()
{
    awk -f "$form" "$@" "$tables"/*.txt
}

# What a run that failed has found: a word or two.
found_what()
{
    if grep -q '^simulator: .*never sleeps' "$2"; then
        echo "stuck"
    elif grep -q '^[^ ]*:[0-9]*:[EF]:[^:]*:[^:]*:' "$2"; then
        sed -n 's/^[^ ]*:[0-9]*:[EF]:[^:]*:\([^:]*\):.*/\1/p' "$2" | sed 1q
    elif grep -q 'Assertion' "$2"; then
        echo "an assertion"
    elif grep -q 'violation: ' "$2"; then
        sed -n 's/.*violation: \([a-z ]*\):.*/\1/p' "$2" | sed 1q
    elif grep -q 'not as expected: ' "$2"; then
        echo "expectation"
    elif grep -q 'the story differs' "$2"; then
        echo "the story"
    elif grep -q '^seed [0-9]*: ' "$2"; then
        sed -n 's/^seed [0-9]*: \([a-z ]*\).*/\1/p' "$2" | sed 1q
    else
        echo "status $1"
    fi
}

# What test programs share, and what the programs of tools/ are made of: archives, of which the
# linker takes what a changed file has not brought.
bundle()
{
    rm -f "$work/$1"
    archive=$work/$1
    shift
    ${AR:-ar} cr "$archive" "$@"
}

# A test program, as make calls it.
test_path()
{
    find "$root/tests" -name "$1.c" | sed "s|^$root/||; s|\.c\$||"
}

# Made once, of the tests that are named by what is to run.
prepare_tests()
{
    programs=$(for name in $names; do
        apply -v mode=show -v name="$name" | sed -n 's/^by test \([^ ]*\).*/\1/p'
    done | sort -u | while read -r program; do test_path "$program"; done)
    # Words, all of them.
    # shellcheck disable=SC2086
    $MUTANTS_MAKE $programs $MUTANTS_PROGRAMS >"$work/make.log" 2>&1 || {
        tail -n 20 "$work/make.log"
        return 1
    }
    # shellcheck disable=SC2086
    bundle redlock.a $MUTANTS_REDLOCK
}

# NAME PROGRAM: what some tests have beside themselves, and no other one may have.
beside()
{
    case $(cat "$root/tests/local.mk" "$root/tests/sim/local.mk" | grep "_$2_SOURCES = ") in
    *'(link_scene)'*) echo tests/support/link_scene.o ;;
    *'(fuzz_link)'*) echo tests/fuzz/input_link.o ;;
    *'(sim_real_pair)'*) echo tests/sim/sim_master_rig.o tests/sim/sim_real_*.o ;;
    *'(status_facts)'*)
        if [ -f "$work/$1/status_facts.c.o" ]; then
            echo "$work/$1/status_facts.c.o"
        else
            echo tools/redlock/status_facts.o
        fi ;;
    esac
}

# One test program with the changed files in it, and redlock(1) where that is what it runs.
link_test()
{
    main=$(test_path "$2").o
    [ -f "$main" ] || main=${main%.o}-$2.o
    # shellcheck disable=SC2046,SC2086
    $MUTANTS_LINK -o "$work/$1/$2" "$main" $(beside "$1" "$2") $objects $MUTANTS_LIBS || return 1
    case $2 in
    test_cli* | test_run*)
        # shellcheck disable=SC2086
        $MUTANTS_LINK -o "$work/$1/redlock" $objects $own "$work/redlock.a" $MUTANTS_LIBS ;;
    esac
}

# by_test NAME PROGRAM [CASE]: run it; 0 where it failed.
by_test()
{
    out=$work/$1/out
    link_test "$1" "$2" >"$work/$1/log" 2>&1 || {
        tail -n 3 "$work/$1/log" >>"$work/$1/report"
        return 1
    }
    env ${3:+CK_RUN_CASE="$3"} REDLOCK="$work/$1/redlock" \
        timeout "$seconds" "$work/$1/$2" >"$out" 2>&1
    status=$?
    rm -f "$work/$1/$2"
    case $status in
    0) echo "NOT BY $2 $3" ;;
    77) echo "not played: $2 is skipped here" ;;
    124) echo "NOT BY $2 $3 within $seconds s" ;;
    *) echo "$(found_what "$status" "$out"), $2" ;;
    esac >>"$work/$1/report"
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ]
}

# NAME FILE: where a changed file goes. A script goes among copies of all others.
place_of()
{
    case $2 in
    *.lua)
        [ -d "$work/$1/kinds" ] || { mkdir "$work/$1/kinds" &&
            cp -R "$root"/lib/kinds/*/ "$work/$1/kinds"; } || return 1
        echo "$work/$1/${2#lib/}"
        ;;
    *) echo "$work/$1/$(basename "$2")" ;;
    esac
}

# NAME SOURCE OBJECT: a changed file, or of a script what has it with all others.
compile()
{
    source=$2
    case $2 in
    *.lua)
        source=$work/$1/kind.c # finds the changed scripts.h first
        cp "$root/lib/kinds/kind.c" "$source" &&
            awk -f "$root/lib/kinds/shared/embed.awk" "$work/$1"/kinds/*/*.lua \
                >"$work/$1/kinds/scripts.h" || return 1
        ;;
    esac
    $MUTANTS_COMPILE -iquote "$root/tests/sim" -iquote "$root/tools" -w -c -o "$3" "$source"
}

# The changed files of a mutant, compiled; then the simulator with them in it.
build()
{
    apply -v mode=show -v name="$1" | sed -n 's/^file //p' >"$work/$1/files"
    objects="" own=""
    while read -r file; do
        copy=$(place_of "$1" "$file") &&
            apply -v mode=change -v name="$1" -v file="$file" -v source="$root/$file" >"$copy" &&
            compile "$1" "$copy" "$copy.o" || return 1
        case $file in
        tools/chaos/* | tools/cluster/*) objects="$objects $copy.o" ;; # tests have these as well
        tools/*) own="$own $copy.o" ;;
        *) objects="$objects $copy.o" ;;
        esac
    done <"$work/$1/files"
    [ -z "$MUTANTS_MAKE" ] || return 0
    # Words, all of them.
    # shellcheck disable=SC2086
    $MUTANTS_LINK -o "$work/$1/sim" $MUTANTS_OBJECTS $objects $MUTANTS_LIBS
}

# by NAME WAY...: run it; 0 where it was found. What was found goes to the report.
by()
{
    name=$1 out=$work/$1/out
    shift
    if [ "$1" = test ]; then
        # The program, and a case of it or none.
        # shellcheck disable=SC2086
        by_test "$name" $2
        return
    fi
    case $1 in
    seeds) set -- "$@" --seeds "$2" --kinds plain ;;
    shared | reentrant | fair | rw | several | fenced | marked | partial | delayed | kept | members | limited | crowded | failover) set -- "$@" --seeds "$2" --kinds "$1" ;;
    scenario) set -- "$@" --named "$2" ;;
    small | stops) set -- "$1" '' "--$1" ;;
    replies) set -- "$@" --replies --worlds "$2" ;;
    *) return 1 ;;
    esac
    way=$1 which=$2
    shift 2
    timeout "$seconds" "$work/$name/sim" "$@" >"$out" 2>&1
    status=$?
    if [ "$status" -eq 0 ] || [ "$status" -eq 124 ]; then
        late=
        [ "$status" -eq 0 ] || late=" within $seconds s"
        echo "NOT BY $way $which$late" >>"$work/$name/report"
        return 1
    elif grep -q '^seed [0-9]*: watchdog' "$out"; then # slow, or it hangs: nothing was judged
        echo "NOT BY $way $which: watchdog" >>"$work/$name/report"
        return 1
    elif [ "$status" -eq 2 ]; then # nothing was played
        sed 1q "$out" >>"$work/$name/report"
        return 1
    fi
    # Failed, but was it played? A name that is none, or a story that was never written, is no
    # finding.
    if [ "$status" -eq 1 ] && [ "$way" = scenario ] &&
        { ! grep -q "^FAIL $which\$" "$out" || grep -q '^  there is no ' "$out"; }; then
        echo "NOT PLAYED: $way $which" >>"$work/$name/report"
        return 1
    fi
    what=$(found_what "$status" "$out")
    case $way in
    seeds | shared | reentrant | fair | rw | several)
        after=$(sed -n 's/^seed \([0-9]*\): .*/\1/p' "$out" | sed 1q)
        [ "$way" = seeds ] && way=
        echo "$what, ${way:+$way }seed ${after:-?}" >>"$work/$name/report"
        ;;
    scenario) echo "$what, $which" >>"$work/$name/report" ;;
    *) echo "$what, $way" >>"$work/$name/report" ;;
    esac
}

# One mutant: killed, survived or broken.
run()
{
    began=$(date +%s)
    verdict=killed
    : >"$work/$1/report"
    if build "$1" >"$work/$1/log" 2>&1; then
        apply -v mode=show -v name="$1" | sed -n 's/^by //p' >"$work/$1/ways"
        [ -s "$work/$1/ways" ] || verdict=BROKEN
        while read -r way which; do
            by "$1" "$way" "$which" || verdict=SURVIVED
        done <"$work/$1/ways"
    else
        verdict=BROKEN
        tail -n 3 "$work/$1/log" >"$work/$1/report"
    fi
    echo "$verdict" >"$work/$1/verdict"
    took=$(($(date +%s) - began))
    awk -v name="$1" -v verdict="$verdict" -v took="$took" '
        NR == 1 { printf "%-38s %-9s %3ds  %s\n", name, verdict, took, $0; next }
        { printf "%-38s %-9s %4s  %s\n", "", "", "", $0 }
    ' "$work/$1/report"
    rm -f "$work/$1/sim" "$work/$1"/*.o
}

# A worker takes the next one that nobody has taken, while there is time.
worker()
{
    for name in $names; do
        [ "$(date +%s)" -lt "$until" ] || return
        mkdir "$work/$name" 2>/dev/null || continue
        run "$name"
    done
}

# The table may be stale in what nobody runs today.
apply -v mode=list >"$work/names" || exit 1
count=$(wc -l <"$work/names")
if [ -n "$MUTANTS_ONLY_TABLES" ]; then
    while read -r name; do
        apply -v mode=show -v name="$name" | sed -n 's/^file //p' | while read -r file; do
            apply -v mode=change -v name="$name" -v file="$file" -v source="$root/$file" \
                >/dev/null || exit 1
        done || exit 1
    done <"$work/names"
    echo "the tables fit: $count mutants"
    exit 0
fi
names=${MUTANTS:-$(cat "$work/names")}
now=$(date +%s)
until=$((now + 86400))
if [ -n "$BUDGET" ]; then
    until=$((now + ${BUDGET%s}))
fi
if [ -n "$BUDGET" ] && [ -z "$MUTANTS" ]; then
    # Each day begins where the one before may have ended.
    day=$((now / 86400))
    first=$((day * 11 % count + 1))
    names=$(awk -v first="$first" 'NR >= first' "$work/names"
        awk -v first="$first" 'NR < first' "$work/names")
fi

[ -z "$MUTANTS_MAKE" ] || prepare_tests || exit 2
printf '%-38s %-9s %4s  %s\n' mutant '' time 'found by'
workers=
i=0
while [ "$i" -lt "$jobs" ]; do
    worker &
    workers="$workers $!"
    i=$((i + 1))
done
wait
workers=

cat "$work"/*/verdict >"$work/verdicts" 2>/dev/null
ran=$(wc -l <"$work/verdicts")
killed=$(grep -c killed "$work/verdicts")
printf '%d of %d mutants killed' "$killed" "$ran"
if [ "$ran" -lt "$count" ]; then
    printf ' (%d of %d were run)' "$ran" "$count"
fi
echo " in $(($(date +%s) - now)) s"
[ "$ran" -gt 0 ] && [ "$killed" -eq "$ran" ]
