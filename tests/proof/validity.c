/* validity.c - what core/validity.c promises: no overflow, and a validity that ends before the
 * key does, whatever the clocks do within the drift.
 */
#include "drift.h"

#include "core/validity.h"

/* ---- what a round gives ---------------------------------------------------------------- */

/*@ requires time(ttl_ns) && factor(drift_factor);
    assigns \nothing;
    ensures drift_of(\result - RL_DRIFT_FIXED_NS, ttl_ns, drift_factor);
    ensures RL_DRIFT_FIXED_NS < \result <= ttl_ns + RL_DRIFT_FIXED_NS + 1;
*/
int64_t rl_drift_ns(int64_t ttl_ns, double drift_factor);

/*@ requires time(ttl_ns) && factor(drift_factor);
    assigns \nothing;
    ensures \result ==> ttl_ns - part(ttl_ns, drift_factor) > RL_DRIFT_FIXED_NS;
    ensures !\result ==> ttl_ns - part(ttl_ns, drift_factor) <= RL_DRIFT_FIXED_NS + 2;
*/
bool rl_validity_possible(int64_t ttl_ns, double drift_factor);

/* Less than the TTL by more than 2 ms and what the clocks may disagree by. */
/*@ requires reading(t0_ns) && 0 < ttl_ns && time(ttl_ns) && factor(drift_factor);
    assigns \nothing;
    ensures \result <= t0_ns + ttl_ns - RL_DRIFT_FIXED_NS - 1;
    ensures \result <= t0_ns + ttl_ns - part(ttl_ns, drift_factor) - RL_DRIFT_FIXED_NS;
    ensures \result >= t0_ns + ttl_ns - part(ttl_ns, drift_factor) - RL_DRIFT_FIXED_NS - 2;
    ensures \result >= t0_ns - RL_DRIFT_FIXED_NS - 1;
*/
int64_t rl_validity_end_ns(int64_t t0_ns, int64_t ttl_ns, double drift_factor);

/*@ requires reading(deadline_ns) && deadline_ns > 0 && reading(until_ns);
    assigns \nothing;
    ensures \result == \max(deadline_ns, until_ns);
*/
int64_t rl_validity_extended_ns(int64_t deadline_ns, int64_t until_ns);

/*@ requires reading(deadline_ns) && deadline_ns > 0 && reading(now_ns);
    requires 0 < ttl_ns && time(ttl_ns) && factor(drift_factor);
    assigns \nothing;
    ensures \result ==> now_ns + ttl_ns - part(ttl_ns, drift_factor) - RL_DRIFT_FIXED_NS - 2 <=
                        deadline_ns;
*/
bool rl_validity_lasts(int64_t deadline_ns, int64_t now_ns, int64_t ttl_ns,
                       double drift_factor);

/*@ requires 0 < ttl_ns && time(ttl_ns) && 0 <= lock_delay_ns && time(lock_delay_ns);
    assigns \nothing;
    ensures \result == ttl_ns + lock_delay_ns;
*/
int64_t rl_key_life_ns(int64_t ttl_ns, int64_t lock_delay_ns);

/*@ requires reading(made_ns) && 0 < life_ns && time(life_ns) && factor(drift_factor);
    assigns \nothing;
    ensures \result >= made_ns + life_ns + part(life_ns, drift_factor) + RL_DRIFT_FIXED_NS;
*/
int64_t rl_key_gone_ns(int64_t made_ns, int64_t life_ns, double drift_factor);

/*@ requires 0 <= deadline_ns <= LATEST + LONGEST && 0 <= lock_delay_ns && time(lock_delay_ns);
    requires time(life_ns) && factor(drift_factor);
    assigns \nothing;
    ensures \result >=
            deadline_ns + lock_delay_ns + part(life_ns, drift_factor) + RL_DRIFT_FIXED_NS;
*/
int64_t rl_key_gone_after_ns(int64_t deadline_ns, int64_t lock_delay_ns, int64_t life_ns,
                             double drift_factor);

/* ---- is it over? ----------------------------------------------------------------------- */

/*@ requires end(deadline_ns) && reading(now_ns);
    assigns \nothing;
    ensures \result <==> deadline_ns - now_ns < RL_VALIDITY_GRAIN_NS;
*/
bool rl_validity_over(int64_t deadline_ns, int64_t now_ns);

/* The first moment at which it is over. */
/*@ requires end(deadline_ns);
    assigns \nothing;
    ensures deadline_ns - \result < RL_VALIDITY_GRAIN_NS;
    ensures deadline_ns - (\result - 1) >= RL_VALIDITY_GRAIN_NS;
*/
int64_t rl_validity_over_ns(int64_t deadline_ns);

/* Never more than is left, and 0 exactly where it is over. */
/*@ requires end(deadline_ns) && reading(now_ns);
    assigns \nothing;
    ensures \result >= 0;
    ensures \result > 0 ==> \result * RL_NS_PER_MS <= deadline_ns - now_ns;
    ensures \result == 0 <==> deadline_ns - now_ns < RL_VALIDITY_GRAIN_NS;
*/
int64_t rl_validity_left_ms(int64_t deadline_ns, int64_t now_ns);

/*@ requires epoch_then >= 0 && epoch_now >= 0;
    assigns \nothing;
    ensures \result <==> epoch_then == epoch_now;
*/
bool rl_validity_timed(int64_t epoch_then, int64_t epoch_now);

/* ---- given up before its end ------------------------------------------------------------ */

/*@ requires ttl_ns >= 0;
    assigns \nothing;
    ensures RL_LOST_MARGIN_MIN_NS <= \result <= RL_LOST_MARGIN_MAX_NS;
*/
int64_t rl_lost_margin_ns(int64_t ttl_ns);

/* Over after that time, and not a nanosecond earlier. */
/*@ requires reading(now_ns) && max_hold_ms >= 0;
    assigns \nothing;
    ensures \result == INT64_MAX ||
            \result - RL_VALIDITY_GRAIN_NS + 1 == now_ns + max_hold_ms * RL_NS_PER_MS;
    ensures 0 < max_hold_ms < RL_DURATION_MAX_MS ==> \result < INT64_MAX;
    ensures \result >= now_ns;
*/
int64_t rl_max_hold_end_ns(int64_t now_ns, int64_t max_hold_ms);

/* Never later than the deadline. */
/*@ requires deadline_ns >= 0 && margin_ns >= 0 && max_hold_end_ns >= 0;
    assigns \nothing;
    ensures \result == \min(deadline_ns - margin_ns, max_hold_end_ns);
*/
int64_t rl_watched_end_ns(int64_t deadline_ns, int64_t margin_ns, int64_t max_hold_end_ns);

/* After a third of the TTL at the latest, and before the lock counts as lost; or at once, where
 * the margin is all that is left of the TTL. */
/*@ requires 0 < deadline_ns && reading(deadline_ns);
    requires time(ttl_ns) && factor(drift_factor) && 0 <= margin_ns <= RL_LOST_MARGIN_MAX_NS;
    requires ttl_ns - part(ttl_ns, drift_factor) > RL_DRIFT_FIXED_NS + 2;
    assigns \nothing;
    ensures \result <= deadline_ns - ttl_ns + ttl_ns / 3 +
                       part(ttl_ns, drift_factor) + RL_DRIFT_FIXED_NS + 2;
    ensures \result <= deadline_ns - margin_ns - RL_VALIDITY_GRAIN_NS ||
            \result <= deadline_ns - ttl_ns +
                       part(ttl_ns, drift_factor) + RL_DRIFT_FIXED_NS + 2;
*/
int64_t rl_renewal_due_ns(int64_t deadline_ns, int64_t ttl_ns, double drift_factor,
                          int64_t margin_ns);

/* ---- the rest --------------------------------------------------------------------------- */

/*@ requires reading(now_ns);
    assigns \nothing;
    ensures shown_ns != 0 ==> \result == shown_ns;
    ensures shown_ns == 0 ==> \result == now_ns + RL_VALIDITY_GRAIN_NS;
*/
int64_t rl_shown_keys_until_ns(int64_t shown_ns, int64_t now_ns);

/* A handle that is believed was not written later than now, and ends within max-ttl of now. */
/*@ requires max_ttl_ns > 0 && kernel_now_ns >= 0;
    assigns \nothing;
    ensures \result ==> written_ns <= kernel_now_ns + RL_CLOCK_JITTER_NS;
    ensures \result ==> since_ns <= written_ns && deadline_ns - written_ns <= max_ttl_ns;
    ensures \result ==> deadline_ns <= kernel_now_ns + RL_CLOCK_JITTER_NS + max_ttl_ns;
*/
bool rl_validity_credible(int64_t written_ns, int64_t deadline_ns, int64_t max_ttl_ns,
                          int64_t kernel_now_ns, int64_t since_ns);

#include "core/validity.c"
