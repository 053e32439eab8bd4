/* sim_limits.c - the library's bounds as this world has them. In some worlds they are so small that
 * they are met, in the others they are those that programs have. The library's objects are the
 * same; only limits.c has this in its place. */
#include "config_auto.h"

#define RL_LIMITS_ARE /* drawn; for the library they are constant */
#include "base/limits.h"

#include "sim_world.h"

enum { MASTERS_MIN = 8 };

bool sim_limited_wanted, sim_crowded_wanted;
struct rl_limits rl_limits = RL_LIMITS;

/* Every fourth. */
bool sim_limited_of(uint64_t seed)
{
    return sim_limited_wanted || seed * 0xe7037ed1a0b428dbu >> 62 == 0;
}

/* Every thirty-second. */
bool sim_crowded_of(uint64_t seed)
{
    return sim_crowded_wanted || seed * 0x8ebc6af09c88c6e3u >> 59 == 0;
}

unsigned sim_draw_crowd(void)
{
    return MASTERS_MIN + (unsigned)sim_below(SIM_MASTERS_MAX - MASTERS_MIN);
}

static unsigned small(unsigned least, unsigned most)
{
    return (unsigned)sim_scale(least, most);
}

void sim_limits_draw(bool limited)
{
    rl_limits = (struct rl_limits)RL_LIMITS;
    if (!limited)
        return;
    rl_limits.renewals_min = small(1, 2);
    rl_limits.renewals_max = rl_limits.renewals_min + small(1, 2) - 1;
    rl_limits.renewals_a_ms = 1;
    rl_limits.backlog = small(4, 64);
    rl_limits.slow_requests = small(1, 16);
    rl_limits.fifo_min = 16U << sim_below(3); /* a login and all that follows it */
    rl_limits.fifo_max = rl_limits.fifo_min << sim_below(3);
    rl_limits.out_max = (size_t)RL_OUT_MIN << sim_below(2);
    rl_limits.read_a_turn = small(1, RL_READ_CHUNK);
    rl_limits.releases = small(8, 64);
    rl_limits.fill_in_a_turn = small(1, 4);
    rl_limits.channel_asks = small(2, 16);
}
