/* drift.h - the times of which the proofs speak, and what the drift of a time is. */
#ifndef RL_PROOF_DRIFT_H
#define RL_PROOF_DRIFT_H

#include "base/limits.h"

#include <stdint.h>

/* Readings of a clock: its first 146 years. Lengths: no lease is longer, and up to 2^53 doubles
 * are exact. */
#define LATEST (INT64_MAX / 2)
#define LONGEST (RL_TTL_LIMIT_MS * RL_NS_PER_MS)

/*@ predicate reading(integer t) = 0 <= t <= LATEST;
    predicate end(integer t) =
        -RL_LOST_MARGIN_MAX_NS - RL_VALIDITY_GRAIN_NS <= t;
    predicate time(integer t) = 0 <= t <= LONGEST;
    predicate factor(double f) = \is_finite(f) && \le_double((double)0.0, f) &&
        \lt_double(f, (double)1.0);

*/

/* The part `f` of a time. The proofs hold for whatever it is; only drift.c asks. */
#ifdef PROVE_DRIFT
/*@ logic real part(integer t, double f) = t * (real)f; */
#else
/*@ axiomatic parts { logic real part(integer t, double f); } */
#endif

/* Enough, and at most 2 ns too much. */
/*@ predicate drift_of(integer drift, integer t, double f) =
        1 <= drift <= t + 1 && part(t, f) <= drift <= part(t, f) + 2;
*/

/*@ requires time(time_ns) && factor(drift_factor);
    assigns \nothing;
    ensures drift_of(\result, time_ns, drift_factor);
*/
int64_t rl_clock_drift_ns(int64_t time_ns, double drift_factor);

#endif
