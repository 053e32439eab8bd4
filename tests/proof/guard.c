/* guard.c - how long the restart guard withholds a vote, and that this is long enough. */
#include "drift.h"

#include "core/trust.h"

/*@ requires 0 < max_ttl_ns && time(max_ttl_ns) && factor(drift_factor);
    assigns \nothing;
    ensures drift_of(\result - max_ttl_ns, max_ttl_ns, drift_factor);
    ensures max_ttl_ns < \result <= 2 * max_ttl_ns + 1;
*/
int64_t rl_guard_window_ns(int64_t max_ttl_ns, double drift_factor);

/* The vote is given when the process was seen for the window, or was up for it for sure: INFO
 * reports whole seconds, and up to one too many. */
/*@ predicate known(integer window_ns, integer uptime_s, integer seen_ns) =
        seen_ns >= window_ns || (uptime_s - 1) * RL_NS_PER_S >= window_ns;
*/
/*@ requires 0 < window_ns <= 2 * LONGEST + 1 && seen_ns >= 0;
    assigns \nothing;
    ensures \result == 0 <==> known(window_ns, uptime_s, seen_ns);
    ensures 0 <= \result && (seen_ns < window_ns ==> \result <= window_ns - seen_ns);
    ensures \result > 0 && uptime_s < 0 ==> \result == window_ns - seen_ns;
*/
int64_t rl_guard_wait_ns(int64_t window_ns, int64_t uptime_s, int64_t seen_ns);

#include "core/trust.c"
