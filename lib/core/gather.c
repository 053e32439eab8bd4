/* gather.c - see gather.h. */
#include "core/gather.h"

#include <assert.h>

/* Threads that are away stay away. */
static void give_up(struct rl_gather *gather)
{
    assert(gather->away > 0);
    if (gather->away * 4 > gather->group) /* else most have come back */
        gather->habit -= gather->habit < RL_GATHER_LOSS ? gather->habit : RL_GATHER_LOSS;
    gather->away = gather->group = 0;
    gather->waits = false;
}

/* All have come back. */
static void complete(struct rl_gather *gather)
{
    assert(gather->away == 0 && gather->group > 0);
    if (gather->group > 1 && gather->habit < RL_GATHER_HABIT_MAX)
        gather->habit++;
    gather->group = 0;
    gather->waits = false;
}

/* Nobody came for so long that nobody will. While requests wait, turned() sees to that. */
static bool over(const struct rl_gather *gather, int64_t now_ns)
{
    return gather->away > 0 && now_ns >= gather->until_ns + RL_GATHER_NS;
}

void rl_gather_came(struct rl_gather *gather, int64_t now_ns)
{
    assert(now_ns > 0);
    assert(gather->away <= gather->group);
    assert(gather->habit <= RL_GATHER_HABIT_MAX);
    if (over(gather, now_ns))
        give_up(gather);
    if (gather->away == 0)
        return;
    if (!gather->waits)
        gather->limit_ns = now_ns + RL_GATHER_MAX_NS;
    gather->waits = gather->came = true;
    gather->until_ns = now_ns + RL_GATHER_NS;
    if (gather->until_ns > gather->limit_ns)
        gather->until_ns = gather->limit_ns;
    if (--gather->away == 0)
        complete(gather);
}

bool rl_gather_turned(struct rl_gather *gather, int64_t now_ns)
{
    assert(now_ns > 0 && gather->away <= gather->group);
    bool due = rl_gathers(gather) && now_ns >= gather->until_ns;
    if (over(gather, now_ns) || (due && !gather->came)) {
        give_up(gather);
    } else if (due) {
        gather->waits = gather->came = false;
        gather->until_ns = now_ns + RL_GATHER_NS;
    }
    if (gather->ended > 0) {
        gather->group += gather->ended;
        gather->away += gather->ended;
        gather->ended = 0;
        gather->came = true;
        if (!gather->waits)
            gather->until_ns = now_ns + RL_GATHER_NS;
    }
    assert(gather->away <= gather->group);
    return due;
}

int64_t rl_gather_due_ns(const struct rl_gather *gather)
{
    return rl_gathers(gather) ? gather->until_ns : INT64_MAX;
}
