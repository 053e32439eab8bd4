/* lock_view.h - parses the masters' answers to an inspection, and merges them. The limits are
 * fixed; redlock.h's arrays are the caller's (api/inspect.c). Core.
 */
#ifndef RL_LOCK_VIEW_H
#define RL_LOCK_VIEW_H

#include <redlock.h>

#include <stdbool.h>

struct rl_holders {
    unsigned count;
    redlock_holder holder[REDLOCK_HOLDERS_SHOWN]; /* its `node` is not used here */
};

/* One master's answer. */
struct rl_view {
    redlock_node_info told; /* `answered` says whether the rest is valid */
    struct rl_holders shown;
};

struct rl_views {
    redlock_lock_info sum; /* of all holders, and of one owner */
    struct rl_holders agreed;
    struct rl_view node[REDLOCK_NODES_MAX];
};

/* Parse the details of inspect.lua's answer. The owners in them may be any bytes. False: they
 * are not of that script. */
bool rl_view_read(const char *text, size_t len, int64_t ttl_ms, struct rl_view *ret_view);

/* Merge the answers in `node`: the state that a majority shows, and the holds of this owner.
 * The caller must have set `nodes` and `needed` of `sum`, and zeroed its results. */
void rl_views_sum_up(struct rl_views *all, const char *owner, size_t owner_len);

#endif
