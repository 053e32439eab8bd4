/* inspect.h - a question about a name to every master that can be asked, as a blocking call. */
#ifndef RL_INSPECT_H
#define RL_INSPECT_H

#include "engine/call.h"

/* The verb is RL_INSPECT or RL_FORCE of RL_ROW_ANY, whose target always has an owner, "" for
 * none; `endless`: RL_FORCE deletes also what has no TTL. `report` and `views` (one a node, for
 * RL_INSPECT; those that answered are written) may be NULL. 0: a majority answered, ENOQUORUM,
 * EWRONGTYPE (RL_FORCE), EINVAL, EFORK, ... */
int rl_inspect(redlock *client, enum rl_verb verb, bool endless, const struct rl_target *target,
               redlock_report *report, redlock_node_view *views);

/* What one master says of a lock and one owner. */
struct rl_held_by {
    bool answered;
    bool held;      /* by anyone; a lock that is kept for a waiter is not, data is */
    int64_t ttl_ms; /* held: of the key; -1: for ever */
    unsigned own_exclusive, own_reads, own_writes; /* holds of the owner */
    int64_t own_ttl_ms; /* of the longest of them; 0: there is none */
};

struct rl_held_by_all {
    unsigned nodes, needed;
    struct rl_held_by node[REDLOCK_NODES_MAX];
};

/* Has that owner the lock, and has anyone? As redlock_describe(). */
int rl_ask_held_by(redlock *client, const void *name, size_t name_len, const char *owner,
                   size_t owner_len, struct rl_held_by_all *ret_all);

#endif
