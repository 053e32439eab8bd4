/* refusal.h - one table of what a server, TLS, the names' service and this machine's system can
 * refuse. Each row has the words that show a refusal, whether waiting can mend it, and what
 * helps. Each row also has the exit status of a program that can't go on. The library, `redlock
 * run` and `redlock status` read the same table. Pure.
 */
#ifndef RL_REFUSAL_H
#define RL_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

enum rl_refusal_class {
    RL_REFUSAL_PASSES, /* by itself, or by what others do: it is tried again soon */
    RL_REFUSAL_LASTS   /* until a person mends it: it is tried seldom (core/reconnect.h) */
};

/* How long a master has no vote for that cause: core/trust.h tells each wait, and its rounding. */
enum rl_wait {
    RL_WAIT_ASKED,  /* nobody knows: it is asked again */
    RL_WAIT_UPTIME, /* `restarted`: by its uptime, or as RL_WAIT_SEEN */
    RL_WAIT_SEEN,   /* the window since this client saw it */
    RL_WAIT_QUARANTINE
};

struct rl_refusal {
    const char *words; /* in the text of the refusal */
    enum rl_refusal_class class;
    int exit_status; /* of sysexits.h: EX_UNAVAILABLE, or EX_OSERR for this machine's own */
    const char *remedy; /* NULL: nothing need be done */
    enum rl_wait wait;
};

/* The first row whose words are in the text; NULL: it is not known, and may pass. Causes stand
 * before the places where they show: "authentication failed: ERR max number of clients". */
const struct rl_refusal *rl_refusal_of(const char *text);

/* What the library itself says often ends in what helps: "...: set that to 0". Where that begins,
 * with the colon; NULL: it does not. */
const char *rl_refusal_own_remedy(const char *text);

/* What helps; NULL: nothing is known, or need be done, or the text itself says it. */
const char *rl_refusal_remedy(const char *text);

/* Does it need a person? */
bool rl_refusal_lasts(const char *text);

/* All rows, for tests. */
const struct rl_refusal *rl_refusals(size_t *ret_count);

#endif
