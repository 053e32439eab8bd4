/* hold_back.c - see hold.h: nodes that come back get the key of a lock that is held. Core.
 *
 * The lock is valid and a majority has confirmed it, so no other lock of its name is valid until
 * its deadline. A key that is set where there is none, and lives until then, says no more than
 * that. It lengthens nothing and is no vote. Nothing is sent once the hold is ENDING, and the
 * release follows on the same link.
 */
#include "config_auto.h"

#include "core/hold_parts.h"

#include <assert.h>

/* R8: If too few others have it, nothing proves that it is ours still. */
unsigned rl_hold_retake_back(struct rl_hold *hold)
{
    uint64_t nodes = hold->back;
    assert(hold->phase == RL_HOLD_HELD && !hold->extending);
    assert((nodes & ~rl_all(hold->n)) == 0);
    hold->back = 0;
    if (!nodes || hold->hearsay ||
        rl_count(hold->granted & ~nodes) < rl_quorum_needed(hold->n))
        return 0;
    hold->retake |= nodes;
    return RL_DO_RETAKE;
}

/* Nodes that lack the key, or will when the open round is over. What the others say in it is
 * heard. */
static uint64_t lacking(const struct rl_hold *hold)
{
    assert(hold->phase != RL_HOLD_ENDING);
    if (hold->phase == RL_HOLD_NEW)
        return rl_all(hold->n);
    if (hold->phase == RL_HOLD_HELD)
        return hold->extending ? hold->extend.failed : rl_all(hold->n) & ~hold->granted;
    return hold->ask.failed;
}

/* R8: Only while it is ours, and where a majority of the others has it. */
unsigned rl_hold_came_back(struct rl_hold *hold, uint64_t nodes, uint64_t forgot,
                           int64_t now_ns)
{
    rl_hold_assert(hold);
    assert((nodes & ~rl_all(hold->n)) == 0 && (forgot & ~nodes) == 0);
    if (hold->phase == RL_HOLD_ENDING)
        return 0;
    hold->back |= nodes & (forgot | lacking(hold));
    if (hold->phase != RL_HOLD_HELD || hold->extending || rl_hold_over(hold, now_ns))
        return 0;
    return rl_hold_retake_back(hold);
}
