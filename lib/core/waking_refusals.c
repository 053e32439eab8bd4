/* waking_refusals.c - see waking.h: what the nodes that refused a round have told. Core. */
#include "config_auto.h"

#include "core/waking.h"

#include <assert.h>

void rl_refusals_begin(struct rl_refusals *refusals, int64_t now_ns)
{
    assert(now_ns > 0);
    assert(refusals->held_count <= REDLOCK_NODES_MAX);
    refusals->held_count = 0;
    refusals->place = INT64_MAX;
    if (refusals->next_to != refusals->behind)
        refusals->behind_since_ns = now_ns;
    refusals->behind = refusals->next_to;
    refusals->next_to = refusals->next_votes = refusals->behind_count = 0;
}

void rl_refusals_next(struct rl_refusals *refusals, uint64_t holder)
{
    assert(holder != 0);
    assert(refusals->behind_count < REDLOCK_NODES_MAX); /* a node names one holder a round */
    refusals->behind_count += holder == refusals->behind;
    if (refusals->next_votes == 0)
        refusals->next_to = holder;
    if (refusals->next_to == holder)
        refusals->next_votes++;
    else
        refusals->next_votes--;
}

void rl_refusals_held(struct rl_refusals *refusals, int64_t until_ns)
{
    assert(refusals->held_count < REDLOCK_NODES_MAX); /* a node refuses once a round */
    unsigned at = refusals->held_count++;
    for (; at > 0 && refusals->held_ns[at - 1] > until_ns; at--)
        refusals->held_ns[at] = refusals->held_ns[at - 1];
    refusals->held_ns[at] = until_ns;
}
