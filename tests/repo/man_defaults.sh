#!/bin/sh
# redlock.conf(5) against the sources: every setting and option is told, none that is not
# there, and each default and limit is the one in lib/base/limits.h.

root=${srcdir:-$(dirname "$0")/../..}
page=$root/man/redlock.conf.5
limits=$root/lib/base/limits.h
failed=0

fail()
{
    echo "man_defaults: $*" >&2
    failed=1
}

# The number behind a #define of limits.h (or redlock.h), sums worked out.
limit()
{
    text=$(sed -n "s/^#define $1 \([^\/]*\).*/\1/p" "$limits" "$root/include/redlock.h")
    test -n "$text" || fail "no $1 in limits.h"
    case $text in
    *[!0-9LL*\ \(\)]*) echo "$text" | tr -d ' ' ;; # not a whole number: as it stands
    *) echo $(($(echo "$text" | tr -d 'L'))) ;;
    esac
}

# 30s -> 30000; what is no duration stays as it is.
milliseconds()
{
    case $1 in
    *[0-9]ms) echo "${1%ms}" ;;
    *[0-9]s) echo $((${1%s} * 1000)) ;;
    *[0-9]m) echo $((${1%m} * 60000)) ;;
    *[0-9]h) echo $((${1%h} * 3600000)) ;;
    *[0-9]d) echo $((${1%d} * 86400000)) ;;
    *) echo "$1" ;;
    esac
}

# What the page says of one setting: the line that begins with $2, less its full stop.
told()
{
    awk -v name="$1" -v begin="$2 " '
        /^\.It / { here = ($2 == "Ic" && $3 == name) }
        /^\.El/ { here = 0 }
        here && index($0, begin) == 1 { sub(/\.$/, ""); print substr($0, length(begin) + 1) }
    ' "$page"
}

same()
{
    test "$2" = "$3" || fail "$1: the page says '$2', the sources say '$3'"
}

default_is()
{
    same "default of $1" "$(milliseconds "$(told "$1" Default:)")" "$2"
}

range_is()
{
    range=$(told "$1" From)
    same "least $1" "$(milliseconds "${range%% to *}")" "$2"
    same "most $1" "$(milliseconds "${range##* to }")" "$3"
}

names_in()
{
    sed -n "$1" "$2" | sort
}

default_is max-ttl "$(limit RL_DEFAULT_MAX_TTL_MS)"
default_is ttl "$(limit RL_DEFAULT_TTL_MS)"
default_is node-timeout 0
default_is connect-timeout "$(limit RL_DEFAULT_CONNECT_TIMEOUT_MS)"
default_is stall-limit "$(limit RL_DEFAULT_STALL_LIMIT_MS)"
default_is linger "$(limit RL_DEFAULT_LINGER_MS)"
default_is lock-delay 0
default_is drift-factor "$(limit RL_DEFAULT_DRIFT_FACTOR)"
default_is guard on
default_is client-name 'host and process'
default_is background auto
default_is config-agreement off
default_is watch-wall-clock off
default_is fencing clock
default_is status-prefix none
default_is status-kinds none

ttl_least=$(limit RL_TTL_MIN_MS)
ttl_most=$(limit RL_TTL_LIMIT_MS)
most=$(limit RL_TIMEOUT_LIMIT_MS)
range_is max-ttl "$ttl_least" "$ttl_most"
range_is ttl "$ttl_least" "$ttl_most"
range_is node-timeout 0 "$most"
range_is connect-timeout 1 "$most"
range_is stall-limit 1 "$most"
range_is linger 0 "$most"
range_is lock-delay 0 "$(( $(limit RL_TTL_LIMIT_MS) - $(limit RL_TTL_MIN_MS) ))"

for words in \
    "A file has at most $(limit RL_FILE_MAX) bytes" \
    "a line has at most $(limit RL_LINE_MAX) bytes" \
    "at most $(limit REDLOCK_NODES_MAX) nodes" \
    "one line of at most $(limit RL_PASSWORD_MAX) bytes" \
    "at most $(limit RL_CLIENT_NAME_MAX) bytes" \
    "1 to $(limit RL_STATUS_TEXT_MAX) bytes" \
    "The port is $(sed -n 's/^#define RL_DEFAULT_PORT //p' "$root/lib/config/url.h") where none"; do
    tr '\n' ' ' < "$page" | grep -q "$words" || fail "the page does not say '$words'"
done

same settings \
    "$(names_in 's/^\.It Ic \([a-z-]*\).*/\1/p' "$page" | grep -v '^node$')" \
    "$(names_in 's/.*\(DURATION\|NAMES\|STATUS_TEXT\)("\([a-z-]*\)",.*/\2/p' "$root/lib/config/settings.c" | sort -u)"
same options \
    "$(names_in 's/^\.It Cm \([a-z-]*\) Ns.*/\1/p' "$page")" \
    "$(names_in 's/.*ROW("\([a-z-]*\)",.*/\1/p' "$root/lib/config/node_options.c")"

exit $failed
