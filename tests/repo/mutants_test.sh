#!/bin/sh
# mutants_test.sh - every mutant of every table still fits the code that it breaks, and the test
# that is to find it is there. Whether it is found is for sim-mutants, code-mutants,
# interop-mutants and check-proof.
# shellcheck disable=SC1091,SC2154,SC2086 # shell_rig.sh, what make sets; words are wanted

. "${srcdir:-.}/tests/support/shell_rig.sh"
root=$(cd "${srcdir:-.}" && pwd) || exit 99
make_work rl-mutants
cd "$root" || exit 99

apply() { # ARGUMENT...
    awk -f tests/sim/mutants/apply.awk "$@" $tables
}
# NAME FILE, which is compiled alone, but for the other clients: a changed header reaches nobody.
fits() {
    case $tables:$2 in
    *interop*) ;;
    *.h) return 1 ;;
    esac
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

for tables in tests/sim/mutants/*.txt tests/mutants/*.txt tests/interop/mutants.txt \
    tests/proof/mutants.txt; do
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

# Those that are named are run, in a budget too. All are broken here: nothing compiles.
mkdir "$work/tables"
printf '#!/bin/sh\necho no; exit 1\n' >"$work/no_cc"
chmod +x "$work/no_cc"
for name in first second third; do
    printf 'mutant %s\nfile lib/base/list.h\n-#endif\n+#endif /**/\nby small\n' $name
done >"$work/tables/all.txt"
ran() { # NAMES [VARIABLE=VALUE...]
    wanted=$1
    shift
    env "$@" srcdir="$root" MUTANTS_TABLES="$work/tables" MUTANTS_COMPILE="$work/no_cc" \
        MUTANTS_JOBS=1 sh tests/sim/mutants.sh >"$work/out" 2>"$work/err"
    [ "$(sed -n 's/ *BROKEN .*//p' "$work/out" | tr '\n' ' ')" = "$wanted" ]
}
check 'all are run' ran 'first second third '
check 'or those that MUTANTS names' ran 'third first ' MUTANTS='third first'
check 'in a budget too' ran 'second ' MUTANTS=second BUDGET=60s
check 'which ends' ran '' MUTANTS=second BUDGET=0s

# What is linked here in place of the simulator says the words that a test gives it.
cat >"$work/link" <<'EOF'
#!/bin/sh
printf '#!/bin/sh\necho "%s"\nexit 1\n' "$SAYS" >"$2" && chmod +x "$2"
EOF
chmod +x "$work/link"
verdict() { # VERDICT WORDS
    env SAYS="$2" MUTANTS=first MUTANTS_LINK="$work/link" srcdir="$root" MUTANTS_JOBS=1 \
        MUTANTS_TABLES="$work/tables" MUTANTS_COMPILE=true \
        sh tests/sim/mutants.sh >"$work/out" 2>"$work/err"
    grep -q "^first  *$1 " "$work/out"
}
check 'what is found is killed' verdict killed 'seed 3: overlap: two have it'
check 'a seed that takes too long finds nothing' verdict SURVIVED 'seed 3: watchdog (too long)'
check 'and the report says so' grep -q watchdog "$work/out"

tell
