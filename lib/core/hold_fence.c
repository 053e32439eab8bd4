/* hold_fence.c - a hold that won its round, until a majority has its fencing token. Core. */
#include "config_auto.h"

#include "core/hold_parts.h"

#include <assert.h>

/* A node that has lost the key since its grant has said so when it was told the token. */
bool rl_hold_has_token(struct rl_hold *hold)
{
    assert(hold->phase == RL_HOLD_ASKING || hold->phase == RL_HOLD_FENCING);
    assert(hold->fence.wanted);
    unsigned needed = rl_quorum_needed(hold->n);
    uint64_t granted = hold->ask.yes;
    if (hold->phase == RL_HOLD_FENCING)
        granted &= ~hold->extend.no;
    if (rl_count(granted) < needed)
        return false;
    rl_fence_decide(&hold->fence, granted, needed);
    return rl_count(hold->fence.having) >= needed;
}

/* The round of acquires goes on beside that of the write-backs: a grant may make another
 * majority decide, which needs to be told nothing. */
unsigned rl_hold_judge_fence(struct rl_hold *hold, int64_t now_ns)
{
    assert(hold->phase == RL_HOLD_FENCING && hold->extending);
    assert(hold->extend.n == hold->n && !hold->releasing);
    if (rl_hold_has_token(hold))
        return rl_hold_become_held(hold, now_ns);
    uint64_t pending = rl_round_silent(&hold->ask);
    uint64_t granted = hold->ask.yes & ~hold->extend.no;
    bool enough = rl_count(granted | pending) >= rl_quorum_needed(hold->n);
    if (enough && (pending | rl_round_silent(&hold->extend)))
        return 0;
    rl_hold_end(hold, now_ns);
    return RL_EV_REFUSED;
}

/* R11: Nodes that named less are told the token, while the key is ours there. */
uint64_t rl_hold_fence(struct rl_hold *hold, uint64_t voting, int64_t node_deadline_ns)
{
    rl_hold_assert(hold);
    assert(hold->phase == RL_HOLD_FENCING && !hold->extending);
    uint64_t told = hold->fence.behind & voting;
    hold->fence.told = hold->fence.token;
    rl_hold_begin_extends(hold, hold->ask.t0_ns, hold->ask_ttl_ns, node_deadline_ns, told);
    return told;
}
