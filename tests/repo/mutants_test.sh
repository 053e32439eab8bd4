#!/bin/sh
# mutants_test.sh - every mutant of every table still fits the code that it breaks, and the test
# that is to find it is there. Whether it is found is for sim-mutants, code-mutants and
# interop-mutants.
# shellcheck disable=SC1091,SC2154,SC2086 # shell_rig.sh, what make sets; words are wanted

. "${srcdir:-.}/tests/support/shell_rig.sh"
root=$(cd "${srcdir:-.}" && pwd) || exit 99
make_work rl-mutants
cd "$root" || exit 99

apply() { # ARGUMENT...
    awk -f tests/sim/mutants/apply.awk "$@" $tables
}
fits() { # NAME FILE
    apply -v mode=change -v name="$1" -v file="$2" -v source="$2" >"$work/changed" &&
        ! cmp -s "$2" "$work/changed"
}
# A test program by its name, a scenario of the simulator by its story; others are the simulator's
# other ways, or cases of other lock clients.
is_there() { # WORD...
    case $1 in
    test) [ -n "$(find tests -name "$2.c")" ] ;;
    scenario) [ -f "tests/sim/golden/$2.txt" ] ;;
    tests/*) false ;;
    esac
}

for tables in tests/sim/mutants/*.txt tests/mutants/*.txt tests/interop/mutants.txt; do
    for name in $(apply -v mode=list); do
        apply -v mode=show -v name="$name" >"$work/shown"
        while read -r word rest; do
            case $word in
            file) check "$name fits $rest" fits "$name" "$rest" ;;
            by) check "what finds $name is there" is_there $rest ;;
            esac
        done <"$work/shown"
    done
done
check 'there are some' [ "$checks" -gt 500 ]

tell
