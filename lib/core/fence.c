/* fence.c - see fence.h. Core. */
#include "config_auto.h"

#include "core/fence.h"

#include "core/quorum.h"

#include <assert.h>

void rl_fence_grant(struct rl_fence *fence, unsigned node, uint64_t number)
{
    assert(fence->wanted);
    assert(number > 0 && number < RL_FENCE_MAX);
    if (number > fence->token) {
        fence->token = number;
        fence->having = 0;
    }
    if (number == fence->token)
        fence->having |= rl_bit(node);
}

uint64_t rl_fence_behind(const struct rl_fence *fence, uint64_t granted)
{
    assert(fence->wanted && fence->token > 0);
    assert((fence->having & ~granted) == 0);
    return granted & ~fence->having;
}
