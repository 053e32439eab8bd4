/* status_sentinels.h - the Sentinels of a line, which name its master: who agrees with a majority,
 * what the others say, and how near each is to its limit of connections. Pure. */
#ifndef REDLOCK_STATUS_SENTINELS_H
#define REDLOCK_STATUS_SENTINELS_H

#include "redlock/sentinel_ask.h"

struct status_check;
struct rl_config;

struct status_sentinel {
    char at[RL_SENTINEL_LABEL_MAX]; /* "HOST:PORT" */
    bool agrees, failed; /* neither: it says something else */
    char says[256];               /* what it says, or why it says nothing; printable */
    const char *remedy;           /* NULL: it agrees, or nothing helps but time */
    int64_t clients, clients_max; /* its connections; -1: not told */
};

struct status_sentinels {
    unsigned count; /* 0: the line names none, or they were not asked */
    bool named;     /* a majority names one server: */
    char server[256 + 8];
    uint64_t term;
    struct status_sentinel of[RL_SENTINELS_MAX];
};

/* `look` may be NULL. */
void status_sentinels_take(const struct service_look *look, struct status_sentinels *ret);

/* Of a line that names some. FAIL where no majority names a server, unless this client took a lock
 * there: then one did. WARN for each that does not agree. */
void status_sentinels_check(const struct status_sentinels *sentinels, bool took,
                            struct status_check *check);

/* Which nodes have the very Sentinels of this one: a bit each; 0: none, or it is not the first of
 * them. */
uint64_t status_sentinels_shared(const struct rl_config *config, unsigned node);

/* The members of a node in JSON, each behind a comma. */
void status_sentinels_json(const struct status_sentinels *sentinels);

#endif
