/* hold_keep.c - see hold.h: a lock that keeps others out for a least time, also when it is given
 * up sooner, or its client is gone. Core.
 *
 * The first round's keys live for so long by any clocks, and nobody shortens a key's life. So
 * nothing is to be done for it but to leave the keys alone: those of the nodes that the lock
 * rests on, which are a majority. Others are released, because what a slow node does late must
 * keep nobody out.
 */
#include "config_auto.h"

#include "core/hold_parts.h"

#include <assert.h>

void rl_hold_set_lock_delay(struct rl_hold *hold, int64_t lock_delay_ns)
{
    assert(lock_delay_ns >= 0 && hold->key_life_ns == hold->ttl_ns);
    assert(hold->phase == RL_HOLD_NEW || (hold->phase == RL_HOLD_HELD && !hold->extending));
    hold->lock_delay_ns = lock_delay_ns;
    hold->key_life_ns = rl_key_life_ns(hold->ttl_ns, lock_delay_ns);
}

/* R21: Whatever the drift, a key that is set at t0 lives until then. */
int64_t rl_keep_ttl_ms(int64_t at_least_ms, double drift_factor)
{
    assert(at_least_ms > 0 && at_least_ms <= RL_TTL_LIMIT_MS);
    int64_t ttl_ns = rl_rest_ns(at_least_ms * RL_NS_PER_MS, 0, drift_factor);
    int64_t ttl_ms = ttl_ns / RL_NS_PER_MS;
    while (rl_validity_end_ns(0, ttl_ms * RL_NS_PER_MS, drift_factor) <
           at_least_ms * RL_NS_PER_MS)
        ttl_ms++;
    return ttl_ms;
}

int64_t rl_keep_max_ms(int64_t max_ttl_ms, double drift_factor)
{
    assert(max_ttl_ms >= 0 && max_ttl_ms <= RL_TTL_LIMIT_MS);
    if (max_ttl_ms == 0)
        return 0;
    int64_t most_ms =
        rl_validity_end_ns(0, max_ttl_ms * RL_NS_PER_MS, drift_factor) / RL_NS_PER_MS;
    while (most_ms > 0 && rl_keep_ttl_ms(most_ms, drift_factor) > max_ttl_ms)
        most_ms--;
    return most_ms > 0 ? most_ms : 0;
}

/* R21: The first round's TTL, to which the lock-delay is added as ever. */
void rl_hold_set_at_least(struct rl_hold *hold, int64_t at_least_ms)
{
    assert(hold->phase == RL_HOLD_NEW && hold->at_least_ns == 0);
    if (at_least_ms == 0)
        return;
    int64_t ttl_ns = rl_keep_ttl_ms(at_least_ms, hold->drift_factor) * RL_NS_PER_MS;
    hold->at_least_ns = at_least_ms * RL_NS_PER_MS;
    if (ttl_ns > hold->ask_ttl_ns)
        hold->ask_ttl_ns = ttl_ns;
    hold->key_life_ns = rl_key_life_ns(hold->ask_ttl_ns, hold->lock_delay_ns);
}

/* R21: From t0 on, and only of a lock that was won. */
void rl_hold_begin_keeping(struct rl_hold *hold)
{
    assert(hold->phase == RL_HOLD_HELD && hold->keep_until_ns == 0);
    if (hold->at_least_ns > 0)
        hold->keep_until_ns = hold->ask.t0_ns + hold->at_least_ns;
}

void rl_hold_set_keep_until(struct rl_hold *hold, int64_t keep_until_ns)
{
    assert(hold->phase == RL_HOLD_HELD && hold->hearsay && hold->keep_until_ns == 0);
    assert(keep_until_ns >= 0);
    hold->keep_until_ns = keep_until_ns;
}

/* R21: If the clock went back nobody knows whether that time is over. */
bool rl_hold_keeps(const struct rl_hold *hold, int64_t now_ns)
{
    assert(now_ns >= 0);
    return hold->keep_until_ns > 0 && (hold->distrusted || now_ns < hold->keep_until_ns);
}

/* R21: Those that the lock rests on. Where these are no majority, perhaps others have a part in
 * keeping a majority from being had. */
uint64_t rl_hold_to_keep(const struct rl_hold *hold, int64_t now_ns)
{
    assert(hold->phase != RL_HOLD_ENDING);
    if (!rl_hold_keeps(hold, now_ns))
        return 0;
    assert(hold->phase == RL_HOLD_HELD);
    return rl_count(hold->granted) >= rl_quorum_needed(hold->n) ? hold->granted
                                                                 : hold->maybe_set;
}

/* R21: Whatever becomes of requests that were under way. */
void rl_hold_owe_release(struct rl_hold *hold, uint64_t bit)
{
    assert(hold->phase == RL_HOLD_ENDING && rl_count(bit) == 1);
    hold->release_due |= bit & ~hold->kept;
}

/* R21: Nobody is kept out for work that never began. */
void rl_hold_unkeep(struct rl_hold *hold)
{
    hold->keep_until_ns = 0;
    if (hold->phase == RL_HOLD_ENDING)
        hold->release_due |= hold->kept & hold->maybe_set;
    hold->kept = 0;
}
