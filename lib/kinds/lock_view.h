/* lock_view.h - what masters say about a name that somebody looks at: read, and put together.
 * The limits are fixed; redlock.h's arrays are the caller's (api/inspect.c). Core.
 */
#ifndef RL_LOCK_VIEW_H
#define RL_LOCK_VIEW_H

#include <redlock.h>

#include <stdbool.h>

struct rl_holders {
    unsigned count;
    redlock_holder holder[REDLOCK_HOLDERS_SHOWN]; /* whose `node` is nobody's business here */
};

/* One master's. */
struct rl_view {
    redlock_node_info told; /* `answered` where the rest counts */
    struct rl_holders shown;
};

struct rl_views {
    redlock_lock_info sum; /* of all, and of one owner */
    struct rl_holders agreed;
    struct rl_view node[REDLOCK_NODES_MAX];
};

/* The details of inspect.lua's answer. The owners in them are anybody's bytes. False: they are
 * not what that script says. */
bool rl_view_read(const char *text, size_t len, int64_t ttl_ms, struct rl_view *ret_view);

/* What a majority says, and what this owner has, from what is in `node`: of `sum`, `nodes` and
 * `needed` are set, and all that is found is 0. */
void rl_views_sum_up(struct rl_views *all, const char *owner, size_t owner_len);

#endif
