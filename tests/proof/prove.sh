#!/bin/sh
# prove.sh - proves the arithmetic of the core by Frama-C's WP, and that broken copies are not
# proved.
#
#   make check-proof
#
# Each FILE.c here has the contracts of some functions, and includes the library's source, which
# is read as it is. mutants.txt has the form of the simulator's tables (tests/sim/mutants.sh),
# but for its ways: "by FILE FUNCTION" is a proof that must fail.

set -u
root=$(cd "${srcdir:-.}" && pwd) || exit 99
build=$(pwd) # has config_auto.h
here=$root/tests/proof
# What a prover may do for a goal. Counted are its steps, so that a busy machine makes no
# difference; the hardest goal needs 656,000. The seconds are for a prover that hangs, and for
# mutants, whose functions have just been proved in one or two.
steps=1000000 seconds=300

missing=
for program in frama-c why3 z3 cvc4; do
    command -v $program >/dev/null || missing="$missing $program"
done
[ -z "$missing" ] || {
    echo "missing:$missing; Debian's packages are frama-c-base why3 z3 cvc4"
    exit 77
}
work=$(mktemp -d "${TMPDIR:-/tmp}/redlock-proof.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# The user's own configuration of provers is left alone.
export WHY3CONFIG="$work/why3.conf"
why3 -C "$WHY3CONFIG" config detect >"$work/detect.log" 2>&1

# FILE: the functions that it proves, which are those that it gives a contract. Those of the
# drift are in the header as well, since others take them from there.
functions()
{
    contracts=$here/$1.c
    [ "$1" != drift ] || set -- "$1" "$here/drift.h"
    shift
    awk '
        contract && /^[a-z].*\(/ {
            sub(/\(.*/, "")
            sub(/.*[ *]/, "")
            if (!/^__builtin/)
                print
        }
        { contract = /^\*\/$/ }
    ' "$contracts" "$@" | sort -u
}

# FILE PATH OPTION...: WP's report. PATH is where sources are looked for first.
wp()
{
    file=$1 path=$2 model=Typed
    [ "$file" = drift ] && model=Typed+real
    shift 2
    frama-c -cpp-extra-args="-I$here -I$path -I$root/lib -I$root/include -I$build" \
        -wp -wp-rte -warn-unsigned-overflow -wp-model "$model" -wp-prover z3,cvc4 \
        -wp-steps "$steps" -wp-timeout "$seconds" -wp-par 2 "$@" "$here/$file.c" 2>&1
}

# FILE FUNCTIONS REPORT: a line a function, and "open" where a goal is not proved.
table()
{
    awk -v file="$1" -v names="$2" '
        BEGIN { count = split(names, name, ",") }
        function owner(goal,    i, best) {
            for (i = 1; i <= count; i++)
                if (index(goal, name[i] "_") == 1 && length(name[i]) > length(best))
                    best = name[i]
            return best
        }
        / Goal typed_/ {
            goal = $0
            sub(/.* Goal typed_(real_)?/, "", goal)
            sub(/ .*/, "", goal)
            goals[owner(goal)]++
            if (/ : Valid/)
                proved[owner(goal)]++
            else
                left[owner(goal)] = left[owner(goal)] " " goal
        }
        END {
            for (i = 1; i <= count; i++) {
                printf "%-10s %-26s %5d %6d\n", file, name[i], goals[name[i]], proved[name[i]]
                if (left[name[i]] != "" || !goals[name[i]])
                    print "  open:" left[name[i]]
            }
        }' "$3"
}

# FILE FUNCTIONS [PATH]: are all of them proved? $work/table has a line for each. The function
# "lemma" stands for the lemmas.
is_proved()
{
    wp "$1" "${3:-$root/lib}" -wp-fct "${2#lemma,}" >"$work/report"
    case $2 in
    lemma,*) wp "$1" "${3:-$root/lib}" -wp-prop=@lemma >>"$work/report" ;;
    esac
    table "$1" "$2" "$work/report" >"$work/table"
    grep -q '^\[wp\] Proved goals' "$work/report" || {
        tail -n 5 "$work/report"
        return 2
    }
    ! grep -q '^  open:' "$work/table"
}

failures=0
printf '%-10s %-26s %5s %6s\n' file function goals proved
for file in sets quorum validity drift guard lease; do
    names=$(functions "$file" | paste -s -d ,)
    case $file in quorum | drift) names=lemma,$names ;; esac
    is_proved "$file" "$names" || failures=$((failures + 1))
    cat "$work/table"
done

apply()
{
    awk -f "$root/tests/sim/mutants/apply.awk" "$@" "$here/mutants.txt"
}

seconds=30
for name in $(apply -v mode=list); do
    rm -rf "${work:?}/lib"
    apply -v mode=show -v name="$name" >"$work/shown"
    for source in $(sed -n 's/^file //p' "$work/shown"); do
        mkdir -p "$(dirname "$work/$source")"
        apply -v mode=change -v name="$name" -v file="$source" -v source="$root/$source" \
            >"$work/$source" || exit 1
    done
    while read -r word file function; do
        [ "$word" = by ] || continue
        is_proved "$file" "$function" "$work/lib"
        case $? in
        0) verdict='IS PROVED' failures=$((failures + 1)) ;;
        1) verdict='is not proved' ;;
        *) verdict='IS NOT READ' failures=$((failures + 1)) ;;
        esac
        echo "mutant $name: $function $verdict"
    done <"$work/shown"
done
echo "failures: $failures"
[ "$failures" = 0 ]
