/* refusal.h - one table of what a server, TLS, the names' service and this machine's system can
 * refuse. Each row has words by which it is known, whether waiting can mend it, what helps, and
 * the exit status of a program that can't go on. The library, `redlock run` and `redlock status`
 * read the same table. Pure.
 */
#ifndef RL_REFUSAL_H
#define RL_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

enum rl_refusal_class {
    RL_REFUSAL_PASSES, /* by itself, or by what others do: it is tried again soon */
    RL_REFUSAL_LASTS   /* until a person mends it: it is tried seldom (core/reconnect.h) */
};

struct rl_refusal {
    const char *words; /* in the text of the refusal */
    enum rl_refusal_class class;
    int exit_status; /* of sysexits.h: EX_UNAVAILABLE, or EX_OSERR for this machine's own */
    const char *remedy;
};

/* The first row whose words are in the text; NULL: it is not known, and may pass. Causes stand
 * before the places where they show: "authentication failed: ERR max number of clients". */
const struct rl_refusal *rl_refusal_of(const char *text);

/* What the library itself says often ends in what helps: "...: set that to 0". Where that begins,
 * with the colon; NULL: it does not. */
const char *rl_refusal_own_remedy(const char *text);

/* Does it need a person? */
bool rl_refusal_lasts(const char *text);

/* All rows, for tests. */
const struct rl_refusal *rl_refusals(size_t *ret_count);

#endif
