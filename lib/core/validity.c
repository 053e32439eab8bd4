/* validity.c - see validity.h: the arithmetic of deadlines, nowhere else. Core. */
#include "config_auto.h"

#include "core/validity.h"

#include "base/limits.h"

#include <assert.h>

/* ---- what a round gives --------------------------------------------------------------- */

int64_t rl_clock_drift_ns(int64_t time_ns, double drift_factor)
{
    assert(time_ns >= 0 && time_ns <= INT64_MAX / 2); /* so that it fits as a double, too */
    assert(drift_factor >= 0.0 && drift_factor < 1.0);
    return (int64_t)((double)time_ns * drift_factor) + 1;
}

int64_t rl_drift_ns(int64_t ttl_ns, double drift_factor)
{
    return rl_clock_drift_ns(ttl_ns, drift_factor) + RL_DRIFT_FIXED_NS;
}

bool rl_validity_possible(int64_t ttl_ns, double drift_factor)
{
    return ttl_ns - rl_drift_ns(ttl_ns, drift_factor) > 0;
}

/* R1: From before the first byte, less the drift. */
int64_t rl_validity_end_ns(int64_t t0_ns, int64_t ttl_ns, double drift_factor)
{
    assert(t0_ns >= 0);
    assert(ttl_ns > 0 && ttl_ns <= INT64_MAX - t0_ns);
    return t0_ns + ttl_ns - rl_drift_ns(ttl_ns, drift_factor);
}

int64_t rl_validity_extended_ns(int64_t deadline_ns, int64_t until_ns)
{
    assert(deadline_ns > 0);
    assert(until_ns >= 0);
    return until_ns > deadline_ns ? until_ns : deadline_ns;
}

bool rl_validity_lasts(int64_t deadline_ns, int64_t now_ns, int64_t ttl_ns, double drift_factor)
{
    assert(deadline_ns > 0);
    return rl_validity_end_ns(now_ns, ttl_ns, drift_factor) <= deadline_ns;
}

/* R7: The lock-delay is beyond the TTL. */
int64_t rl_key_life_ns(int64_t ttl_ns, int64_t lock_delay_ns)
{
    assert(ttl_ns > 0 && lock_delay_ns >= 0);
    assert(ttl_ns <= INT64_MAX - lock_delay_ns);
    return ttl_ns + lock_delay_ns;
}

/* R8: The key ends with the others, by any clocks. */
int64_t rl_rest_ns(int64_t deadline_ns, int64_t now_ns, double drift_factor)
{
    int64_t left_ns = rl_validity_left_ns(deadline_ns, now_ns);
    assert(left_ns > 0 && left_ns <= INT64_MAX / 2);
    assert(drift_factor >= 0.0 && drift_factor < 1.0);
    return (int64_t)((double)(left_ns + RL_DRIFT_FIXED_NS) / (1.0 - drift_factor));
}

int64_t rl_key_gone_ns(int64_t made_ns, int64_t life_ns, double drift_factor)
{
    assert(life_ns > 0 && made_ns <= INT64_MAX - life_ns);
    return rl_key_gone_after_ns(made_ns + life_ns, 0, life_ns, drift_factor);
}

int64_t rl_key_gone_after_ns(int64_t deadline_ns, int64_t lock_delay_ns, int64_t life_ns,
                             double drift_factor)
{
    int64_t later_ns = lock_delay_ns + rl_drift_ns(life_ns, drift_factor);
    assert(lock_delay_ns >= 0 && deadline_ns <= INT64_MAX - later_ns);
    return deadline_ns + later_ns;
}

/* ---- is it over? ---------------------------------------------------------------------- */

bool rl_validity_over(int64_t deadline_ns, int64_t now_ns)
{
    return rl_validity_left_ns(deadline_ns, now_ns) < RL_VALIDITY_GRAIN_NS;
}

int64_t rl_validity_over_ns(int64_t deadline_ns)
{
    assert(deadline_ns >= INT64_MIN + RL_VALIDITY_GRAIN_NS);
    return deadline_ns - RL_VALIDITY_GRAIN_NS + 1;
}

int64_t rl_validity_left_ms(int64_t deadline_ns, int64_t now_ns)
{
    if (rl_validity_over(deadline_ns, now_ns))
        return 0;
    return rl_validity_left_ns(deadline_ns, now_ns) / RL_NS_PER_MS;
}

int64_t rl_validity_left_ns(int64_t until_ns, int64_t now_ns)
{
    /* A margin may be larger than a short deadline; never so that the difference overflows. */
    assert(now_ns >= 0 && until_ns >= -RL_LOST_MARGIN_MAX_NS - RL_VALIDITY_GRAIN_NS);
    return until_ns - now_ns;
}

bool rl_validity_timed(int64_t epoch_then, int64_t epoch_now)
{
    assert(epoch_then >= 0 && epoch_now >= 0);
    return epoch_then == epoch_now;
}

/* ---- given up before its end ---------------------------------------------------------- */

int64_t rl_lost_margin_ns(int64_t ttl_ns)
{
    assert(ttl_ns >= 0);
    int64_t margin_ns = ttl_ns / 20;
    if (margin_ns < RL_LOST_MARGIN_MIN_NS)
        return RL_LOST_MARGIN_MIN_NS;
    return margin_ns < RL_LOST_MARGIN_MAX_NS ? margin_ns : RL_LOST_MARGIN_MAX_NS;
}

int64_t rl_max_hold_end_ns(int64_t now_ns, int64_t max_hold_ms)
{
    assert(max_hold_ms >= 0);
    assert(now_ns >= 0 && now_ns <= INT64_MAX / 2); /* no overflow for centuries */
    if (max_hold_ms == 0 || max_hold_ms >= RL_DURATION_MAX_MS)
        return INT64_MAX;
    return now_ns + max_hold_ms * RL_NS_PER_MS + RL_VALIDITY_GRAIN_NS - 1;
}

int64_t rl_watched_end_ns(int64_t deadline_ns, int64_t margin_ns, int64_t max_hold_end_ns)
{
    assert(deadline_ns >= 0);
    assert(margin_ns >= 0 && max_hold_end_ns >= 0);
    int64_t lost_ns = deadline_ns - margin_ns;
    return lost_ns < max_hold_end_ns ? lost_ns : max_hold_end_ns;
}

int64_t rl_renewal_due_ns(int64_t deadline_ns, int64_t ttl_ns, double drift_factor,
                          int64_t margin_ns)
{
    assert(deadline_ns > 0 && margin_ns >= 0);
    assert(rl_validity_possible(ttl_ns, drift_factor));
    int64_t begun_ns = deadline_ns + rl_drift_ns(ttl_ns, drift_factor) - ttl_ns;
    int64_t given_up_ns = deadline_ns - margin_ns - RL_VALIDITY_GRAIN_NS;
    int64_t third_ns = begun_ns + ttl_ns / 3;
    int64_t half_ns = begun_ns + (given_up_ns - begun_ns) / 2;
    return third_ns < half_ns ? third_ns : half_ns;
}

/* ---- the deadline that is shown ------------------------------------------------------- */

void rl_shown_begin(struct rl_shown *shown, int64_t deadline_ns, int64_t clock_epoch)
{
    assert(deadline_ns != 0); /* 0 is shown by rl_shown_end() alone */
    assert(clock_epoch >= 0);
    atomic_store(&shown->clock_epoch, clock_epoch);
    atomic_store(&shown->deadline_ns, deadline_ns);
}

int64_t rl_shown_end(struct rl_shown *shown)
{
    return atomic_exchange(&shown->deadline_ns, 0);
}

/* R7: False: 0 was shown already, and is final. */
bool rl_shown_extend(struct rl_shown *shown, int64_t deadline_ns)
{
    assert(deadline_ns != 0);
    int64_t shown_ns = atomic_load(&shown->deadline_ns);
    while (shown_ns != 0) {
        if (atomic_compare_exchange_weak(&shown->deadline_ns, &shown_ns, deadline_ns))
            return true;
    }
    return false;
}

/* R7: A user that was shown 0 is shown nothing else. */
bool rl_shown_expire(struct rl_shown *shown, int64_t *deadline_ns)
{
    assert(*deadline_ns != 0);
    return atomic_compare_exchange_strong(&shown->deadline_ns, deadline_ns, 0);
}

int64_t rl_shown_deadline_ns(const struct rl_shown *shown)
{
    return atomic_load(&shown->deadline_ns);
}

bool rl_shown_timed(const struct rl_shown *shown, int64_t epoch_now)
{
    return rl_validity_timed(atomic_load(&shown->clock_epoch), epoch_now);
}

int64_t rl_shown_keys_until_ns(int64_t shown_ns, int64_t now_ns)
{
    assert(now_ns >= 0 && now_ns <= INT64_MAX - RL_VALIDITY_GRAIN_NS);
    return shown_ns != 0 ? shown_ns : now_ns + RL_VALIDITY_GRAIN_NS;
}

/* ---- of a handle's text --------------------------------------------------------------- */

bool rl_validity_credible(int64_t written_ns, int64_t deadline_ns, int64_t max_ttl_ns,
                          int64_t kernel_now_ns, int64_t since_ns)
{
    assert(max_ttl_ns > 0 && kernel_now_ns >= 0);
    if (written_ns < 0 || deadline_ns < 0)
        return false;
    return written_ns - kernel_now_ns <= RL_CLOCK_JITTER_NS && written_ns >= since_ns &&
           deadline_ns - written_ns <= max_ttl_ns;
}
