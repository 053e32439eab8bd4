#!/bin/sh
# files_test.sh - systemd reads the units that are shipped without a word, and Kubernetes' schemas
# have what the CronJob has. The times that redlock(1) tells under SCHEDULES are in proportion
# there, and on the pages.
# shellcheck disable=SC1091,SC2016,SC2154 # shell_rig.sh, what eval expands, and what make sets

. "${srcdir:-.}/tests/support/shell_rig.sh"
examples=$(cd "${srcdir:-.}/examples" && pwd) || exit 99
make_work redlock-schedule-files
skipped=

# ---- systemd ----

# Its words, if it has any. The units' programs are one that is there.
verify() { # FILE...
    rm -rf "$work/units" && mkdir "$work/units" && cp "$@" "$work/units" &&
        sed -i "s|^ExecStart=/[^ ]* |ExecStart=$REDLOCK |" "$work"/units/* || return 1
    systemd-analyze verify "$work"/units/* >"$work/words" 2>&1
    status=$?
    cat "$work/words"
    [ $status -eq 0 ] && [ ! -s "$work/words" ]
}
refuses() { # SED-SCRIPT FILE...: what is changed so is not taken
    script=$1
    shift
    rm -rf "$work/wrong" && mkdir "$work/wrong" && cp "$@" "$work/wrong" &&
        sed -i "$script" "$work"/wrong/* && ! verify "$work"/wrong/*
}
if command -v systemd-analyze >/dev/null; then
    check 'systemd takes the units' verify "$examples"/systemd/*
    nightly="$examples/systemd/nightly.service $examples/systemd/nightly.timer"
    # shellcheck disable=SC2086 # words are wanted
    {
        check 'and no other key' refuses 's/^KillMode=/KilMode=/' $nightly
        check 'nor another time' refuses 's/^OnCalendar=.*/OnCalendar=now and then/' $nightly
        check 'nor a program without a path' refuses 's|^ExecStart=/usr/bin/|ExecStart=bin/|' $nightly
    }
else
    skipped="$skipped; there is no systemd-analyze"
fi

# ---- Kubernetes ----

yaml() { # FILE: each document is an object of some kind
    python3 -c 'import sys, yaml
for document in yaml.safe_load_all(open(sys.argv[1], encoding="utf-8")):
    assert document["apiVersion"] and document["kind"] and document["metadata"]["name"]' "$1"
}
broken() { # SED-SCRIPT: of the CronJob
    sed "$1" "$examples/kubernetes/cronjob.yaml" >"$work/broken.yaml"
}
if python3 -c 'import yaml' 2>/dev/null; then
    check 'the CronJob is YAML' yaml "$examples/kubernetes/cronjob.yaml"
    broken 's/^kind: CronJob/kind/'
    check 'what is none is seen' eval '! yaml "$work/broken.yaml"'
else
    skipped="$skipped; there is no yaml for python3"
fi
if command -v kubernetes-validate >/dev/null; then
    check 'it has what the schemas have' kubernetes-validate --strict "$examples/kubernetes/cronjob.yaml"
    broken 's/backoffLimit/backofLimit/'
    check 'and nothing else' eval '! kubernetes-validate --strict "$work/broken.yaml"'
else
    skipped="$skipped; there is no kubernetes-validate"
fi

# ---- S + W below D ----

seconds() { # WORD: 25s, 3m
    case $1 in
    *[!0-9sm]* | '') echo none ;;
    *m) echo $((${1%m} * 60)) ;;
    *) echo "${1%s}" ;;
    esac
}
option() { # NAME TEXT
    seconds "$(printf '%s\n' "$2" | sed -n "s/.*--$1[ ,]*\([0-9]*[sm]\).*/\1/p" | head -n 1)"
}
setting() { # NAME FILE
    seconds "$(sed -n "s/^ *$1[=:] *\([0-9]*s*\)$/\1/p" "$2")"
}
in_proportion() { # SECONDS-BETWEEN-BEGINNINGS TEXT
    wait=$(option wait "$2") at_least=$(option at-least "$2")
    echo "S $1, W $wait, D $at_least"
    [ $(($1 + wait)) -lt "$at_least" ]
}
line_of() { # FILE: its first one with the recipe
    sed 's/\\-/-/g' "$1" | grep -m 1 -- '--wait.*--at-least'
}
timer=$examples/systemd/nightly.timer cronjob=$examples/kubernetes/cronjob.yaml
clocks=1 connect=1 pod=60
apart=$(($(setting AccuracySec "$timer") + $(setting RandomizedDelaySec "$timer") + clocks + connect))
check 'the timer and its service' in_proportion $apart "$(line_of "$examples/systemd/nightly.service")"
check 'a service that waits for too long is seen' eval \
    '! in_proportion $apart "$(line_of "$examples/systemd/nightly.service" | sed "s/--wait 5s/--wait 20s/")"'
apart=$(($(setting startingDeadlineSeconds "$cronjob") + pod + clocks + connect))
check 'the CronJob' in_proportion $apart "$(line_of "$cronjob")"
for page in "${srcdir:-.}/man/redlock.1" "${srcdir:-.}/docs/GUIDE.md"; do
    check "${page##*/}" in_proportion $((5 + clocks + connect)) "$(line_of "$page")"
done

[ -z "$skipped" ] || echo "not checked: ${skipped#; }"
tell
