/* outcome.c - see outcome.h. Core. */
#include "config_auto.h"

#include "core/outcome.h"

#include <redlock.h>

int rl_round_tells(const struct rl_round *round, uint64_t unknown)
{
    assert((unknown & ~round->failed) == 0);
    if (rl_round_verdict(round) == RL_WON)
        return REDLOCK_ENOQUORUM;
    if (round->n - rl_count(round->failed & ~unknown) < rl_quorum_needed(round->n))
        return REDLOCK_ENOQUORUM;
    return round->no && !rl_round_no_quorum(round) ? REDLOCK_EHELD : 0;
}

int rl_outcome(int tells, bool held_here, const struct rl_finding *own,
               const struct rl_finding *shared, int64_t began_ns)
{
    const struct rl_finding *last = shared->at_ns > own->at_ns ? shared : own;
    if (tells)
        return tells;
    if (held_here)
        return REDLOCK_EHELD;
    if (last->code && (last->stands || last->at_ns >= began_ns))
        return last->code;
    return REDLOCK_EUNDECIDED;
}
