#!/bin/sh
# tags: source
# alerts_test.sh - examples/alerts.yaml has the alerts of docs/OPERATING.md, each with its words,
# and Prometheus would read it.

# shellcheck disable=SC1091,SC2154 # shell_rig.sh sets them
# shellcheck disable=SC2013,SC2016 # words are wanted, and no command is meant
. "${srcdir:-.}/tests/support/shell_rig.sh"
root=$(cd "${srcdir:-.}" && pwd) || exit 99
make_work rl-alerts
rules=$root/examples/alerts.yaml

# A line each: what is asked, for how many minutes, what it means. Without the targets of links.
sed -n '/^| alert | means |/,/^$/p' "$root/docs/OPERATING.md" |
    sed -n 's/^| `\([^`]*\)`\(, for \([0-9]*\) minutes\)\{0,1\}[^|]* | \(.*\) |$/\1;\3;\4/p' |
    sed 's/\[\([^]]*\)\]([^)]*)/\1/g' >"$work/said"
awk -v q="'" '
    function text(    at) { at = index($0, q); return substr($0, at + 1, length($0) - at - 1) }
    /^ *expr: / { expr = text(); minutes = "" }
    /^ *for: / { minutes = $2; sub(/m$/, "", minutes) }
    /^ *summary: / { print expr ";" minutes ";" text() }
' "$rules" >"$work/shipped"
check 'there are alerts' [ "$(wc -l <"$work/said")" -ge 7 ]
check 'each alert of the manual is shipped, and no other' cmp "$work/said" "$work/shipped"
check 'each has a name of its own' [ "$(grep -c '^ *- alert: ' "$rules")" -eq \
    "$(grep '^ *- alert: ' "$rules" | sort -u | wc -l)" ]
check 'each has a name, and says whom to wake' [ "$(grep -c '^ *- alert: ' "$rules")" -eq \
    "$(grep -cE '^ *severity: (page|ticket)$' "$rules")" ]
check 'all are shipped with a name' [ "$(grep -c '^ *- alert: ' "$rules")" -eq \
    "$(wc -l <"$work/shipped")" ]
for metric in $(grep -oE '\bredlock_[a-z_]+' "$work/shipped" | sort -u); do
    check "status tells $metric" grep -qE "\"(redlock_)?${metric#redlock_}[\" ]" \
        "$root/tools/redlock/status_metrics.c" "$root/tools/redlock/cli_outcome.c"
done

cat >"$work/read.py" <<'END'
import sys
import yaml

with open(sys.argv[1], encoding="utf-8") as file:
    (group,) = yaml.safe_load(file)["groups"]
assert group["name"] == "redlock"
for rule in group["rules"]:
    assert set(rule) - {"for"} == {"alert", "expr", "labels", "annotations"}, rule
    assert all(isinstance(rule[key], str) for key in set(rule) & {"alert", "expr", "for"}), rule
    assert all(isinstance(text, str) for text in rule["labels"].values()), rule
    print("%s;%s;%s" % (rule["expr"], rule.get("for", "").rstrip("m"),
                        rule["annotations"]["summary"]))
END
if python3 -c 'import yaml' 2>/dev/null; then
    check 'it is YAML' sh -c 'python3 -B "$1/read.py" "$2" >"$1/read"' sh "$work" "$rules"
    check 'which says the same' cmp "$work/said" "$work/read"
else
    echo 'there is no yaml for python3: only words were compared'
fi
if command -v promtool >/dev/null; then
    check 'Prometheus reads it' promtool check rules "$rules"
else
    echo 'there is no promtool: no expression was parsed'
fi
tell
