/* fence.c - see fence.h. Core. */
#include "config_auto.h"

#include "core/fence.h"

#include "base/limits.h"
#include "core/quorum.h"

#include <assert.h>

int64_t rl_fence_lead_us(int64_t window_us)
{
    int64_t most_us = RL_FENCE_LEAD_MS * 1000;
    assert(window_us > 0);
    return window_us / 8 < most_us ? window_us / 8 : most_us;
}

int64_t rl_fence_granted_ahead_us(int64_t window_us)
{
    assert(window_us > 0);
    return window_us / 4;
}

int64_t rl_fence_taken_ahead_us(int64_t window_us)
{
    assert(window_us > 0);
    return window_us / 2;
}

static void name(struct rl_fence *fence, unsigned node, uint64_t number)
{
    assert(fence->wanted && fence->number);
    assert(number > 0 && number < RL_FENCE_MAX);
    fence->number[node] = number;
}

void rl_fence_grant(struct rl_fence *fence, unsigned node, uint64_t number)
{
    name(fence, node, number);
}

void rl_fence_took(struct rl_fence *fence, unsigned node)
{
    assert(fence->number[node] < fence->told); /* only those behind are told */
    name(fence, node, fence->told);
}

/* How many of these nodes are at this number, or below it. */
static unsigned up_to(const struct rl_fence *fence, uint64_t nodes, uint64_t number)
{
    assert(number > 0 && number < RL_FENCE_MAX);
    unsigned count = 0;
    for (; nodes; nodes &= nodes - 1)
        count += fence->number[rl_first(nodes)] <= number;
    return count;
}

/* R11: A majority must name no more than this token. */
void rl_fence_decide(struct rl_fence *fence, uint64_t granted, unsigned needed)
{
    assert(fence->wanted && fence->number);
    assert(needed > 0 && rl_count(granted) >= needed);
    fence->token = RL_FENCE_MAX;
    for (uint64_t rest = granted; rest; rest &= rest - 1) {
        uint64_t number = fence->number[rl_first(rest)];
        if (number < fence->token && up_to(fence, granted, number) >= needed)
            fence->token = number;
    }
    fence->having = fence->behind = 0;
    for (uint64_t rest = granted; rest; rest &= rest - 1) {
        uint64_t number = fence->number[rl_first(rest)], bit = rest & -rest;
        fence->having |= number == fence->token ? bit : 0;
        fence->behind |= number < fence->token ? bit : 0;
    }
    assert(fence->token < RL_FENCE_MAX && fence->having);
}
