/* drift.c - the drift of a time is enough of it, and a key that is given late outlasts it.
 *
 * Proved for exact products (WP's model "real"). That doubles round makes no difference, by
 * hand: let x be the exact product, which is below 2^53. Rounding keeps order, and integers up
 * to 2^53. So the double is not below floor(x), and cut off and greater by 1 it is above x. And
 * it is not above ceil(x), nor above the time: the drift is at most x + 2, and time + 1.
 *
 * The rest of a lock is a quotient: of a time, and of what the factor leaves of 1. That
 * difference and the quotient are rounded by 2^-53 of them at most. The quotient is below 2^50,
 * so it is wrong by less than half a nanosecond. Cut off, it is at most an integer that the
 * exact one does not exceed, as each TTL that reaches is. And it is short of the exact one by
 * less than 2, so it reaches the deadline but for 2 ns. It is not below the time, since the
 * divisor is at most 1.
 */
#define PROVE_DRIFT
#include "drift.h"

#include "core/validity.h"

/* The keys of the lock were given at t0 or later, and reach its deadline. A key that is given
 * later for the rest ends no later than these, by a clock that keeps time. */
/*@ requires 0 <= t0_ns <= now_ns < deadline_ns && reading(deadline_ns);
    requires factor(drift_factor);
    requires time(ttl_ns) && reaches(ttl_ns, deadline_ns - t0_ns, drift_factor);
    requires now_ns - t0_ns <= ttl_ns;
    assigns \nothing;
    ensures \result <= t0_ns + ttl_ns;
*/
int64_t late_key_ends_with_others(int64_t t0_ns, int64_t ttl_ns, int64_t deadline_ns,
                                  int64_t now_ns, double drift_factor)
{
    (void)t0_ns, (void)ttl_ns;
    /*@ assert reaches(ttl_ns - (now_ns - t0_ns), deadline_ns - now_ns, drift_factor); */
    return now_ns + rl_rest_ns(deadline_ns, now_ns, drift_factor);
}

#include "core/validity.c"
