/* quorum.c - see quorum.h. Core. */
#include "config_auto.h"

#include "core/quorum.h"

#include "base/limits.h"

#include <assert.h>

/* R2: Of all masters of the list, also of those that are down. */
unsigned rl_quorum_needed(unsigned n)
{
    assert(n >= 1 && n <= REDLOCK_NODES_MAX);
    return n / 2 + 1;
}

/* R17: A majority that avoids the other one takes its own list's nodes first. */
bool rl_majorities_meet(unsigned one, unsigned other, unsigned common)
{
    assert(common <= one && common <= other);
    return rl_quorum_needed(one) + rl_quorum_needed(other) > one + other - common;
}

void rl_round_start(struct rl_round *round, unsigned n, int64_t t0_ns, int64_t node_deadline_ns)
{
    assert(n >= 1 && n <= REDLOCK_NODES_MAX);
    assert(t0_ns >= 0);
    assert(node_deadline_ns >= t0_ns);
    *round = (struct rl_round){
        .n = n,
        .t0_ns = t0_ns,
        .node_deadline_ns = node_deadline_ns,
    };
}

/* Each node of the round has one vote, or none yet. */
static void round_assert(const struct rl_round *round)
{
    assert(round->n >= 1 && round->n <= REDLOCK_NODES_MAX);
    assert(((round->yes | round->no | round->failed) & ~rl_all(round->n)) == 0);
    assert((round->yes & round->no) == 0);
    assert(((round->yes | round->no) & round->failed) == 0);
}

uint64_t rl_round_silent(const struct rl_round *round)
{
    return rl_all(round->n) & ~(round->yes | round->no | round->failed);
}

bool rl_round_vote(struct rl_round *round, unsigned node, enum rl_vote vote)
{
    assert(node < round->n);
    uint64_t bit = rl_bit(node);
    if (!(rl_round_silent(round) & bit))
        return false;
    switch (vote) {
    case RL_VOTE_YES:
        round->yes |= bit;
        break;
    case RL_VOTE_NO:
        round->no |= bit;
        break;
    case RL_VOTE_FAILED:
        round->failed |= bit;
        break;
    }
    round_assert(round);
    return true;
}

/* R2: A majority of yes wins; a round without hope of one is lost. */
enum rl_verdict rl_round_verdict(const struct rl_round *round)
{
    round_assert(round);
    unsigned needed = rl_quorum_needed(round->n);
    if (rl_count(round->yes) >= needed)
        return RL_WON;
    if (round->n - rl_count(round->no | round->failed) < needed)
        return RL_LOST;
    return RL_OPEN;
}

bool rl_round_no_quorum(const struct rl_round *round)
{
    round_assert(round);
    return round->n - rl_count(round->failed) < rl_quorum_needed(round->n);
}

bool rl_round_split(const struct rl_round *round)
{
    return round->yes != 0 && round->no != 0 && rl_round_verdict(round) == RL_LOST &&
           rl_count(round->no) < rl_quorum_needed(round->n);
}

int64_t rl_node_budget_ns(int64_t remaining_ns, unsigned n, int64_t node_timeout_ns,
                          int64_t round_trip_ns)
{
    assert(n >= 1 && n <= REDLOCK_NODES_MAX);
    assert(round_trip_ns >= 0 && node_timeout_ns >= 0);
    int64_t least = RL_ROUND_MIN_NS;
    if (2 * round_trip_ns > least)
        least = 2 * round_trip_ns;
    if (remaining_ns < least)
        return -1;
    int64_t budget = remaining_ns / n;
    if (node_timeout_ns > 0 && budget > node_timeout_ns)
        budget = node_timeout_ns;
    return budget < least ? least : budget;
}

int64_t rl_patience_ns(int64_t round_trip_ns)
{
    assert(round_trip_ns >= 0 && round_trip_ns <= INT64_MAX / RL_SILENT_ROUND_TRIPS);
    int64_t trips_ns = RL_SILENT_ROUND_TRIPS * round_trip_ns;
    return trips_ns > RL_SILENT_NS ? trips_ns : RL_SILENT_NS;
}
