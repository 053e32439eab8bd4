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

/*@ requires end(until_ns) && reading(now_ns);
    assigns \nothing;
    ensures \result == until_ns - now_ns;
*/
int64_t rl_validity_left_ns(int64_t until_ns, int64_t now_ns);

/* Does a key that lives for `ttl` outlast `left`, by a clock that is fast by the factor? */
/*@ predicate reaches(integer ttl, integer left, double f) =
        ttl - part(ttl, f) >= left + RL_DRIFT_FIXED_NS;
*/

/* Steps for the provers, from a quotient to what is left of it as an integer. */
#ifdef PROVE_DRIFT
/*@ lemma quotient_most: \forall real a, f; \forall integer t;
        0.0 <= f < 1.0 && t - t * f >= a ==> a / (1.0 - f) <= t;
    lemma quotient_least: \forall real a, f; 0.0 <= a && 0.0 <= f < 1.0 ==> a <= a / (1.0 - f);
    lemma cut_off: \forall real a, f; 0.0 <= a && 0.0 <= f < 1.0 ==>
        \truncate(a / (1.0 - f)) - \truncate(a / (1.0 - f)) * f > a - 1.0;
    lemma rest_most: \forall double f; \forall integer left, ttl;
        factor(f) && 0 <= left && time(ttl) && reaches(ttl, left, f) ==>
        \truncate((left + RL_DRIFT_FIXED_NS) / (1.0 - (real)f)) <= ttl;
    lemma rest_least: \forall double f; \forall integer left;
        factor(f) && 0 <= left ==>
        left + RL_DRIFT_FIXED_NS <= \truncate((left + RL_DRIFT_FIXED_NS) / (1.0 - (real)f));
    lemma rest_reaches: \forall double f; \forall integer left;
        factor(f) && 0 <= left ==>
        reaches(\truncate((left + RL_DRIFT_FIXED_NS) / (1.0 - (real)f)), left - 2, f);
*/
#endif

/* The least TTL that reaches the deadline: but for 2 ns it does, and no shorter one. The keys
 * of the lock reach it, and live no longer than the longest lease: so the factor is not so near
 * to 1 that the TTL overflows. */
/*@ requires reading(now_ns) && reading(deadline_ns) && now_ns < deadline_ns;
    requires factor(drift_factor);
    requires \exists integer ttl; time(ttl) && reaches(ttl, deadline_ns - now_ns, drift_factor);
    assigns \nothing;
    ensures \forall integer ttl; time(ttl) && reaches(ttl, deadline_ns - now_ns, drift_factor)
            ==> \result <= ttl;
    ensures reaches(\result, deadline_ns - now_ns - 2, drift_factor);
    ensures time(\result) && \result >= deadline_ns - now_ns + RL_DRIFT_FIXED_NS;
*/
int64_t rl_rest_ns(int64_t deadline_ns, int64_t now_ns, double drift_factor);

#endif
