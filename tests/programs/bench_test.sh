#!/bin/sh
# tags: long
# bench_test.sh - does redlock-bench work, print sane JSON, refuse what is wrong, and leave
# nothing behind? No figure is judged here: a test must not depend on how busy a machine is.

# shellcheck disable=SC1091,SC2154 # shell_rig.sh sets them
. "${srcdir:-.}/tests/support/shell_rig.sh"
bench=${REDLOCK_BENCH:-./redlock-bench}
command -v redis-server >/dev/null || command -v valkey-server >/dev/null || exit 77

make_work redlock-bench-test
TMPDIR=$work/tmp
export TMPDIR
mkdir "$TMPDIR"

# shellcheck disable=SC2046 # words are wanted
clean_up() { kill_all $(working_in "$work"); }

run() { # ARGUMENT...
    "$bench" "$@" >"$work/out" 2>"$work/err"
    status=$?
}

# Servers, and contenders that were started below our directory.
there_are() { [ "$(working_in "$work" | wc -l)" -ge "$1" ]; }
none_left() { [ -z "$(working_in "$work")" ]; }
left_nothing() { [ -z "$(ls -A "$TMPDIR")" ] && none_left; }
says() { grep -q -- "$1" "$work/$2"; }
exits() { [ "$status" -eq "$1" ]; }

# Every bracket closed, and every figure with numbers that a machine can read.
sane_json() {
    if command -v python3 >/dev/null; then
        python3 -m json.tool "$work/out" >/dev/null || return 1
    fi
    ! grep -Eiq '"(median|min|max)": *-?(nan|inf)' "$work/out" &&
        [ "$(grep -c '"scenario"' "$work/out")" -gt 20 ] &&
        [ "$(grep -c '"unit": "ratio"' "$work/out")" -gt 10 ] &&
        [ "$(grep -c '"unit": "ratio"' "$work/out")" -eq \
            "$(grep -c '"ratio": [.e0-9+-]*[,}]' "$work/out")" ] &&
        [ "$(grep -c '"scenario"' "$work/out")" -eq \
            "$(grep -c '"max": [-+.e0-9]*, "rounds": [1-9][0-9]*[,}]' "$work/out")" ]
}

# How often each column of a distribution was counted, together: the samples that there were.
sane_distributions() {
    awk -F '"us": ' '/"title"/ {
        count = $0; sub(/.*"count": /, "", count); sub(/,.*/, "", count)
        sum = 0
        parts = split($2, part, /\], \[/)
        for (i = 1; i <= parts; i++) { sub(/.*, /, "", part[i]); sum += part[i] + 0 }
        rows++
        if (count == 0 || sum != count) { bad++; print "not " count ": " $0 }
    }
    END { exit !(rows >= 10 && !bad) }' "$work/out"
}

# FIGURE (of a scenario with processes) is 0 wherever there is one.
always_zero() {
    [ "$(grep -c "$1\"" "$work/out")" -gt 5 ] &&
        ! grep "$1\"" "$work/out" | grep -qv '"max": 0,'
}

# PREFIX SUBJECT - it is above 0 in every round.
masters_cpu() {
    grep "\"$1masters' CPU a pair\", \"of\": \"$2\"" "$work/out" |
        grep -q '"min": [0-9.]*[1-9]'
}

# A picture that stands for itself, for light and for dark.
sane_svg() {
    if command -v python3 >/dev/null; then
        python3 -c 'import sys, xml.dom.minidom as dom; dom.parse(sys.argv[1])' "$1" || return 1
    fi
    [ "$(grep -c '<rect' "$1")" -gt 20 ] && grep -q 'prefers-color-scheme: dark' "$1" &&
        ! grep -Eq 'href|url\(' "$1"
}

# ---- a quick run of everything ----
run --quick --json --svg "$work/drawn.svg"
check 'a quick run succeeds' exits 0
check 'its JSON is sane' sane_json
told=$(grep -Eo '"source": "([0-9a-f]{7,}[+]?|release [^"]+)"' "$work/out")
check 'its distributions are whole' sane_distributions
check 'its drawing is sane' sane_svg "$work/drawn.svg"
for scenario in pair memory fan-out 'one down' 'majority down' rollback 'no wait' 'in flight' \
    threads hand-off crowd renew fair run; do
    check "it has figures of: $scenario" says "\"scenario\": \"$scenario:" out
done
for subject in library 'floor, same bytes' 'floor, bare SET'; do
    check "it measured: $subject" says "\"pairs a second\", \"of\": \"$subject\"" out
done
for figure in '64: pairs a second' '512: pairs a second' '2: p50' '8: p50' \
    '8, one killed: p50' '8, one stopped: p50'; do
    check "it has a floor for: $figure" says "\"$figure\", \"of\": \"floor," out
done
for of in 'library' 'floor, bare SET'; do
    check "the masters' CPU is measured, alone: $of" masters_cpu '' "$of"
    check "the masters' CPU is measured, 64 in flight: $of" masters_cpu '64: ' "$of"
done
for pairs in 64 512; do
    check "$pairs in flight have a ratio to bare SET" \
        says "\"$pairs: pairs a second, library to\", \"of\": \"floor, bare SET\"" out
done
check 'a quick run judges no time and no ratio' \
    eval '! grep -E "\"unit\": \"(ratio|us|ms|1/s)\".*\"met\"" "$work/out"'
check 'all locks of renew were taken' says '"what": "locks",.*"at_least": 200, "met": true' out
check 'nothing failed on the way' eval '! says "failed pairs" out'
check 'no lock was held by two at once' always_zero 'held by two at once'
check 'nobody had a fair lock out of turn' says 'served out of turn",.*"max": 0, .*"met": true' out
check 'it leaves nothing behind' left_nothing

run --quick -s pair --unix -m 3
check 'a table, three masters, unix sockets' exits 0
check 'the table names them' says '3 masters (private, unix sockets)' out
check 'the table has the ratio' says 'pairs a second, library to' out
check 'that leaves nothing behind' left_nothing

# ---- of what source it was built ----
check 'the JSON of the quick run told its source' [ -n "$told" ]
if command -v git >/dev/null; then
    source_of() { sh "${srcdir:-.}/tools/bench/source.sh" "$1" 1.2.3; }
    is() { [ "$(source_of "$1")" = "$2" ]; }
    commit() { git -C "$1" -c user.name=a -c user.email=a@b.invalid commit -qam "$2"; }
    git init -q "$work/checkout" && echo 1 >"$work/checkout/file"
    git -C "$work/checkout" add file && commit "$work/checkout" one
    of=$(git -C "$work/checkout" rev-parse --short HEAD)
    check 'source: the short commit of a checkout' is "$work/checkout" "$of"
    git -C "$work/checkout" worktree add -q "$work/linked" 2>/dev/null
    check 'source: that of a linked worktree' is "$work/linked" "$of"
    echo 2 >"$work/checkout/file"
    check 'source: a changed checkout is marked' is "$work/checkout" "$of+"
    check 'source: a linked worktree is not, where it has not changed' is "$work/linked" "$of"
    mkdir "$work/checkout/unpacked"
    check 'source: a release, inside of a checkout too' is "$work/checkout/unpacked" \
        'release 1.2.3'
    rm -rf "$work/checkout" "$work/linked"
fi

# ---- drawings in the terminal ----
run --quick -s pair
check 'in ASCII where there is nothing else' eval '! grep -q "[^ -~]" "$work/out"'
check 'that is a drawing' grep -Eq '^  library  +[.:=+*#@ -]+  [0-9]+$' "$work/out"
if locale -a 2>/dev/null | grep -iqx 'C.utf-\?8'; then
    LC_ALL=C.UTF-8 "$bench" --quick -s pair >"$work/out" 2>"$work/err"
    # Some block or other: how high the highest one is depends on the run.
    check 'in blocks where there are some' eval \
        'LC_ALL=C grep -q "$(printf "\342\226")" "$work/out"'
fi
run -r 100 -d 60s -s pair --svg "$work/none/drawn.svg"
check 'a drawing that cannot be written is told before anything is measured' exits 74
check 'says so' says 'cannot write .*none/drawn.svg' err

# ---- next to an earlier run ----
run --quick -s pair --json
cp "$work/out" "$work/old.json"
check 'the machine and its load are in the JSON' says '"cpus": [1-9][0-9]*, "load_before": ' out
run --quick -s pair --compare "$work/old.json"
check 'a comparison succeeds' exits 0
check 'it has a ratio of old and new' says 'acquire p50  *library .* [0-9.]*' out
check 'it names the earlier run' says "compared with $work/old.json" out
sed 's/"median": [^,]*, "min": [^,]*, "max": [^,]*,/"median": 1e9, "min": 1e9, "max": 1e9,/' \
    "$work/old.json" >"$work/other.json"
run --quick -s pair --compare "$work/other.json" --json
check 'what lies beyond all rounds is marked' says '"old_median": 1e+09, "differs": true' out
run --compare "$work/none.json" -r 100 -d 60s
check 'an earlier run that is not there is told before anything is measured' exits 66
echo '{}' >"$work/empty.json"
run --compare "$work/empty.json" -r 100 -d 60s
check 'and so is one without figures' exits 66
run --rounds 0
check 'a wrong value is told with its option' says "^redlock-bench: --rounds '0': give a whole number from 1 to 100" err
run --nonsense
check 'an unknown option is named' says 'nonsense' err

# ---- masters of somebody else's ----
cluster=${REDLOCK_CLUSTER:-}
if [ -x "$cluster" ]; then
    "$cluster" up 3 --guard off --dir "$work/three" >"$work/out" 2>"$work/err"
    run --quick -n "$work/three/redlock.conf" -s pair,threads,handoff,crowd,renew,rw
    check 'contenders on masters of a file' exits 0
    check 'with their floor' says '8: p50, library to' out
    check 'with the wait of writers' says '3 masters: the writer waits, p99' out
    check "their CPU is not measured" eval "! says \"masters' CPU a pair\" out"
    check 'and that is told' says 'note: the masters were given: .* not measured' out
    check 'and no fault' eval '! grep -Eq "killed|stopped" "$work/out"'
    "$cluster" down --dir "$work/three" >/dev/null
fi

# ---- an end from outside ----
"$bench" -s pair -r 100 >"$work/out" 2>"$work/err" &
pid=$!
check 'it started its masters' await there_are 5
kill -TERM $pid
wait $pid
status=$?
check 'a TERM ends it' exits 143
check 'and nothing is left behind' left_nothing

# Contenders have no other sign of us than where they work.
(cd "$TMPDIR" && exec "$bench" -s handoff -r 100 -d 60s) >"$work/out" 2>"$work/err" &
pid=$!
check 'it started contenders' await there_are 8 # itself, masters, contenders
kill -KILL $pid
wait $pid
check 'where it is killed they end, as its masters do' await none_left
rm -rf "$TMPDIR" && mkdir "$TMPDIR" # a killed one can't tidy up

# ---- help, version, wrong usage, wrong files ----
run --help
check '--help succeeds' exits 0
for told in --json --svg --locks --hold inflight threads handoff crowd renew nowait fair rw run; do
    check "--help tells of $told" says "$told" out
done
check '--help is silent on what is not for users' eval '! says "--worker" out'
run --version
check '--version succeeds' exits 0
check '--version tells' says '^redlock-bench [0-9]' out
for wrong in --nonsense -x operand '-r 0' '-r 1x' '-r 101' '-m 65' '-m -1' '-d 10' '-d 1ms' \
    '-d 1h' '-s pairs' '-s pair,' '-s ,' '-n x -m 3' '-n x --unix' '-n x -s stall' '-r' \
    '--locks 0' '--locks 1x' '--locks 1000001' '--locks' '--hold 10' '--hold 1ms' '--hold 2d' \
    '--hold' '--svg' '-s handoffs' '--worker' '--worker 0' '--worker 0 1'; do
    # shellcheck disable=SC2086 # words on purpose
    run $wrong
    check "wrong usage: $wrong" exits 64
    check "one line about: $wrong" [ "$(wc -l <"$work/err")" -eq 1 ]
done
run -d 1
check 'a time without a unit is told of units' says 'the duration has no unit' err
run -s ''
check 'wrong usage: an empty list' exits 64
run -n "$work/missing"
check 'a missing node file' exits 78
echo 'nodes redis://127.0.0.1' >"$work/wrong"
run -n "$work/wrong"
check 'a wrong node file' exits 78
check 'that names the place' says 'wrong:1:1' err
echo 'node redis://127.0.0.1:1' >"$work/nobody"
run -n "$work/nobody" -s pair --quick
check 'masters that are not there' exits 69
check 'nothing of all this is left behind' left_nothing

tell
