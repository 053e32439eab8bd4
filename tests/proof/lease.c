/* lease.c - steps of the safety argument (docs/DESIGN.md): a key, also one that is given late,
 * and the guard outlast every validity that may rest on them.
 *
 * A3 is in the "requires": while a lease lasts, clocks disagree by no more than its drift. What
 * both sides round to milliseconds is the fixed part of the drift.
 */
#include "guard.c"
#include "validity.c"

/* When a key runs out, its master has counted `master_ns` since it gave it, and the holder at
 * least `holder_ns` since t0. Then the holder's validity is over. */
/*@ requires reading(t0_ns) && 0 < ttl_ns && time(ttl_ns) && factor(drift_factor);
    requires master_ns - holder_ns <= part(ttl_ns, drift_factor);
    assigns \nothing;
    ensures master_ns >= ttl_ns - RL_DRIFT_FIXED_NS ==> t0_ns + holder_ns >= \result;
*/
int64_t key_outlasts_validity(int64_t t0_ns, int64_t holder_ns, int64_t master_ns,
                              int64_t ttl_ns, double drift_factor)
{
    (void)holder_ns, (void)master_ns;
    return rl_validity_end_ns(t0_ns, ttl_ns, drift_factor);
}

/* A master gets the key late, for the rest that is returned. When that key runs out, the lock
 * is over by the holder's clock. */
/*@ requires reading(now_ns) && reading(deadline_ns) && now_ns < deadline_ns;
    requires 0 <= holder_ns <= LATEST && factor(drift_factor);
    requires \exists integer ttl; time(ttl) && reaches(ttl, deadline_ns - now_ns, drift_factor);
    assigns \nothing;
    ensures master_ns - holder_ns <= part(\result, drift_factor) &&
            master_ns >= \result - RL_DRIFT_FIXED_NS ==>
            deadline_ns - (now_ns + holder_ns) < RL_VALIDITY_GRAIN_NS;
*/
int64_t late_key_outlasts_validity(int64_t deadline_ns, int64_t now_ns, int64_t holder_ns,
                                   int64_t master_ns, double drift_factor)
{
    (void)holder_ns, (void)master_ns;
    return rl_rest_ns(deadline_ns, now_ns, drift_factor);
}

/* A master came back without its keys. It votes when it has been up for the window, or when
 * another client has seen it for that time. Then the validity of every holder is over, whose t0
 * was before the master ended. */
/*@ requires reading(t0_ns) && 0 < ttl_ns <= max_ttl_ns && time(max_ttl_ns);
    requires factor(drift_factor) && 0 <= seen_ns && reading(up_ns) && reading(holder_ns);
    requires uptime_s <= LATEST / RL_NS_PER_S && (uptime_s - 1) * RL_NS_PER_S <= up_ns;
    requires seen_ns - up_ns <= part(max_ttl_ns, drift_factor);
    requires up_ns - holder_ns <= part(ttl_ns, drift_factor);
    assigns \nothing;
    ensures \result ==> t0_ns + holder_ns >= t0_ns + ttl_ns - part(ttl_ns, drift_factor);
*/
bool guard_outlasts_validity(int64_t t0_ns, int64_t holder_ns, int64_t up_ns, int64_t uptime_s,
                             int64_t seen_ns, int64_t ttl_ns, int64_t max_ttl_ns,
                             double drift_factor)
{
    (void)t0_ns, (void)holder_ns, (void)up_ns, (void)ttl_ns;
    int64_t window_ns = rl_guard_window_ns(max_ttl_ns, drift_factor);
    return rl_guard_wait_ns(window_ns, uptime_s, seen_ns) == 0;
}
