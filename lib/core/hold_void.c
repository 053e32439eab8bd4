/* hold_void.c - see hold.h: a node's earlier votes are void, and what is left is counted. Core.
 */
#include "config_auto.h"

#include "core/hold_parts.h"

#include <assert.h>

static void void_vote(struct rl_round *round, uint64_t bit)
{
    assert(rl_count(bit) == 1 && (bit & ~rl_all(round->n)) == 0);
    if (!(round->yes & bit))
        return;
    round->yes &= ~bit;
    round->failed |= bit;
}

/* R9: A node that was to be retaken still is: what it is asked from now on tells of what it
 * has now. */
unsigned rl_hold_void(struct rl_hold *hold, unsigned node, int64_t now_ns)
{
    rl_hold_assert(hold);
    assert(node < hold->n);
    uint64_t bit = rl_bit(node);
    unsigned events = rl_hold_tick(hold, now_ns);
    if (hold->phase == RL_HOLD_NEW || hold->phase == RL_HOLD_ENDING)
        return events;
    if (hold->phase != RL_HOLD_HELD)
        void_vote(&hold->ask, bit);
    if (hold->extending)
        void_vote(&hold->extend, bit);
    hold->back &= ~bit;
    hold->granted &= ~bit;
    switch (hold->phase) {
    case RL_HOLD_NEW:
    case RL_HOLD_ENDING:
        assert(false);
        break;
    case RL_HOLD_ASKING:
        return events | rl_hold_judge_ask(hold, now_ns);
    case RL_HOLD_FENCING:
        if (hold->extending)
            return events | rl_hold_judge_fence(hold, now_ns);
        break;
    case RL_HOLD_HELD:
        if (rl_count(hold->granted) < rl_quorum_needed(hold->n)) {
            rl_hold_end(hold, now_ns);
            return events | RL_EV_LOST;
        }
        if (hold->extending)
            return events | rl_hold_judge_extend(hold, now_ns);
        break;
    }
    return events;
}
