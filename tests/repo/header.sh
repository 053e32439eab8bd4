#!/bin/sh
# header.sh - redlock.h stands alone, in old and new C and in C++, with every warning on.

root=${srcdir:-$(dirname "$0")/../..}
work=$(mktemp -d "${TMPDIR:-/tmp}/rl-header-XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' HUP INT TERM
checks=0
failed=0

cat >"$work/use.c" <<'END'
#include <redlock.h>
#include <redlock.h> /* twice does no harm */

int use(const char *file, redlock_report *report);
int use(const char *file, redlock_report *report)
{
    redlock_error error = REDLOCK_ERROR_INIT;
    redlock_node node = REDLOCK_NODE_INIT;
    redlock_config config = REDLOCK_CONFIG_INIT;
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock *client;
    redlock_lock *lock;
    int result;
    node.url = "redis://127.0.0.1:6379";
    config.file = file;
    config.nodes = &node;
    config.node_count = 1;
    result = redlock_open_config(&config, &error, &client);
    if (result != REDLOCK_OK)
        return result;
    options.wait_ms = -1;
    options.report = report;
    result = redlock_try(client, "name", &options, &lock);
    if (result == REDLOCK_OK && redlock_validity_ms(lock) > 0)
        result = redlock_release(lock);
    redlock_close(client);
    return result;
}
END
{
    cat "$work/use.c"
    cat <<'END'
#if __cplusplus >= 201103L
static_assert(noexcept(redlock_close(NULL)) && noexcept(redlock_version()), "no call throws");
#endif
END
} >"$work/use.cc"
# Each declaration says so: the last words of each are these.
calls=$(grep -c '^REDLOCK_API ' "$root/include/redlock.h")
said=$(sed 's,/[*].*,,' "$root/include/redlock.h" | grep -c 'REDLOCK_NOEXCEPT;$')
[ "$calls" = "$said" ] || { echo "$said of $calls calls are noexcept"; failed=$((failed + 1)); }

# try COMPILER FLAGS FILE
try()
{
    checks=$((checks + 1))
    # shellcheck disable=SC2086 # words
    $1 $2 -Wall -Wextra -Werror -pedantic-errors -fsyntax-only -I"$root/include" \
        "$work/$3" || {
        echo "redlock.h does not compile with $1 $2"
        failed=$((failed + 1))
    }
}

for compiler in "${CC:-cc}" gcc clang; do
    command -v "${compiler%% *}" >/dev/null || continue
    for standard in c89 c99 c11 gnu11; do
        try "$compiler" "-std=$standard -Wconversion -Wshadow -Wstrict-prototypes" use.c
    done
done
for compiler in g++ clang++; do
    command -v $compiler >/dev/null || continue
    for standard in c++98 c++11 c++17; do
        try $compiler "-std=$standard -Wconversion -Wshadow" use.cc
    done
done
echo "Checks: $checks, Failures: $failed, Errors: 0"
[ $failed = 0 ]
