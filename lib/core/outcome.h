/* outcome.h - what a call for a lock is told that ends without it. Core: pure.
 *
 * The end of a wait may cut a round short. A master that is silent in such a round has not
 * failed: its answer is *unknown*, neither a failure nor a refusal. The first of these that
 * applies decides:
 *
 *   the last round    a majority granted, and too late             ENOQUORUM
 *                     failures that are certain leave no majority  ENOQUORUM
 *                     the masters that were neither silent nor
 *                     failed are a majority, and one of them named
 *                     another holder                               EHELD
 *   this client       it holds the lock itself                     EHELD
 *   before            the last round that told, during the wait    what it told
 *                     or the last one that its wait queue made
 *   else                                                           EUNDECIDED
 */
#ifndef RL_OUTCOME_H
#define RL_OUTCOME_H

#include "core/quorum.h"

/* What a round told, and when it ended. A code of 0: nothing so far. `stands`: no later round
 * has ended since. Who sleeps on it has a reason, however long ago it was. */
struct rl_finding {
    int code;
    int64_t at_ns;
    bool stands;
};

/* What does that lost round tell by itself? `unknown` are those of its failures that are only
 * silent, and were not for long enough: it is told what holds whether these are well or not. 0:
 * nothing. */
int rl_round_tells(const struct rl_round *round, uint64_t unknown);

/* The result of a call that began then. `tells`: what its last round told, 0 if there was none
 * or nothing. `own` and `shared`: the last findings of the call, and of those that wait with
 * it. */
int rl_outcome(int tells, bool held_here, const struct rl_finding *own,
               const struct rl_finding *shared, int64_t began_ns);

#endif
