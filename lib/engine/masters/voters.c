/* voters.c - the state of the nodes that vote together: which can vote, how fast, and whether
 * waiting for more of them is worth it. */
#include "config_auto.h"

#include "engine/masters/voters.h"

#include "base/text.h"

#include <assert.h>

#define GRACE_MIN_NS RL_NS_PER_MS
#define GRACE_MAX_NS (100 * RL_NS_PER_MS)
#define LATE_NS (5 * RL_NS_PER_MS) /* how often a late node is checked */

uint64_t rl_voters_to_ask(struct rl_voters *voters, int64_t now_ns)
{
    uint64_t voting = 0, prompt = 0;
    assert(voters->n >= 1 && voters->n <= REDLOCK_NODES_MAX);
    for (unsigned i = 0; i < voters->n; i++) {
        enum rl_standing standing = rl_node_standing(voters->node[i], now_ns);
        if (standing >= RL_STANDING_SLOW)
            voting |= rl_bit(i);
        if (standing == RL_STANDING_READY)
            prompt |= rl_bit(i);
    }
    /* Slow nodes are left out only if a majority plus one others are fast. */
    return rl_count(prompt) > rl_quorum_needed(voters->n) ? prompt : voting;
}

uint64_t rl_voters_to_renew(struct rl_voters *voters, int64_t now_ns)
{
    uint64_t voting = rl_voters_to_ask(voters, now_ns);
    if (rl_count(voting) >= rl_quorum_needed(voters->n))
        return voting;
    for (unsigned i = 0; i < voters->n; i++) {
        if (rl_node_standing(voters->node[i], now_ns) >= RL_STANDING_SATURATED)
            voting |= rl_bit(i);
    }
    return voting;
}

uint64_t rl_voters_able(const struct rl_voters *voters)
{
    uint64_t able = 0;
    for (unsigned i = 0; i < voters->n; i++) {
        if (voters->node[i]->mode == RL_UP && rl_node_is_fit(voters->node[i]))
            able |= rl_bit(i);
    }
    return able;
}

uint64_t rl_voters_to_fence(const struct rl_voters *voters, uint64_t voting)
{
    assert((voting & ~rl_all(voters->n)) == 0);
    for (unsigned i = 0; voters->settings->fencing_strict && i < voters->n; i++) {
        if (!rl_is_certified(&voters->node[i]->fence.certificate))
            voting &= ~rl_bit(i);
    }
    return voting;
}

int rl_voters_first(const struct rl_voters *voters, uint64_t voting, const void *name,
                    size_t len)
{
    assert((voting & ~rl_all(voters->n)) == 0);
    unsigned start = (unsigned)((rl_hash(name, len) >> 32) % voters->n);
    for (unsigned i = 0; i < voters->n; i++) {
        unsigned node = (start + i) % voters->n;
        if (voting & rl_bit(node))
            return (int)node;
    }
    return -1;
}

unsigned rl_voters_pending(struct rl_voters *voters)
{
    unsigned pending = 0;
    for (unsigned i = 0; i < voters->n; i++)
        pending += rl_node_pending(voters->node[i]);
    return pending;
}

int64_t rl_voters_round_trip_ns(struct rl_voters *voters, uint64_t mask)
{
    int64_t sorted[REDLOCK_NODES_MAX];
    unsigned count = 0;
    assert((mask & ~rl_all(voters->n)) == 0);
    for (; mask; mask &= mask - 1) {
        int64_t trip = voters->node[rl_first(mask)]->round_trip_ns;
        unsigned at = count++;
        for (; at > 0 && sorted[at - 1] > trip; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = trip;
    }
    unsigned needed = rl_quorum_needed(voters->n);
    return count >= needed ? sorted[needed - 1] : 0;
}

int64_t rl_voters_patience_ns(struct rl_voters *voters)
{
    return rl_patience_ns(rl_voters_round_trip_ns(voters, rl_all(voters->n)));
}

int64_t rl_voters_reserve_ms(struct rl_voters *voters)
{
    int64_t trip_ms = rl_voters_round_trip_ns(voters, rl_all(voters->n)) / RL_NS_PER_MS;
    int64_t ms = RL_RESERVE_MIN_MS + 4 * trip_ms;
    return ms < RL_RESERVE_MAX_MS ? ms : RL_RESERVE_MAX_MS;
}

int64_t rl_voters_budget_ns(struct rl_voters *voters, uint64_t mask, int64_t remaining_ns)
{
    return rl_node_budget_ns(remaining_ns, voters->n, voters->settings->node_timeout_ns,
                             rl_voters_round_trip_ns(voters, mask));
}

void rl_voters_need(struct rl_voters *voters, uint64_t voting, int64_t now_ns)
{
    for (unsigned i = 0; i < voters->n && rl_count(voting) < rl_quorum_needed(voters->n); i++)
        rl_node_need(voters->node[i], now_ns);
}

uint64_t rl_voters_refusing(const struct rl_voters *voters)
{
    uint64_t refusing = 0;
    for (unsigned i = 0; i < voters->n; i++)
        refusing |= rl_node_refuses_for_good(voters->node[i]) ? rl_bit(i) : 0;
    return refusing;
}

bool rl_voters_overdue(struct rl_voters *voters, int64_t now_ns)
{
    for (unsigned i = 0; i < voters->n; i++) {
        if (rl_node_stalled(voters->node[i], now_ns))
            return true;
    }
    return false;
}

/* The nodes that could be asked, if they had not too many requests. */
static unsigned count_saturated(struct rl_voters *voters, int64_t now_ns)
{
    unsigned count = 0;
    for (unsigned i = 0; i < voters->n; i++)
        count += rl_node_standing(voters->node[i], now_ns) == RL_STANDING_SATURATED;
    return count;
}

/* A client that has never begun a round waits for all nodes, or for a majority and about as
 * long again. So its first locks do not rest on a bare majority. Later a majority is enough,
 * because an unstable node must not delay every call. Without a majority, waiting is worth it
 * as long as nodes that have not failed could make one. A node that is UP but has too many
 * requests counts as such. */
bool rl_voters_ready(struct rl_voters *voters, uint64_t voting, int64_t now_ns,
                     int64_t *ret_until_ns)
{
    unsigned needed = rl_quorum_needed(voters->n);
    unsigned pending = rl_voters_pending(voters);
    assert((voting & ~rl_all(voters->n)) == 0);
    *ret_until_ns = INT64_MAX;
    if (pending == 0)
        return true;
    if (rl_count(voting) < needed) {
        /* A late node may still answer, and no event says so to other calls. */
        if (rl_voters_overdue(voters, now_ns))
            *ret_until_ns = now_ns + LATE_NS;
        return rl_count(voting) + pending + count_saturated(voters, now_ns) < needed;
    }
    if (voters->warm)
        return true;
    if (voters->majority_ns == 0)
        voters->majority_ns = now_ns;
    int64_t grace = voters->majority_ns - voters->opened_ns;
    if (grace < GRACE_MIN_NS)
        grace = GRACE_MIN_NS;
    if (grace > GRACE_MAX_NS)
        grace = GRACE_MAX_NS;
    *ret_until_ns = voters->majority_ns + grace;
    return now_ns >= *ret_until_ns;
}

bool rl_voters_saturated(struct rl_voters *voters, uint64_t voting, int64_t now_ns)
{
    unsigned needed = rl_quorum_needed(voters->n);
    assert((voting & ~rl_all(voters->n)) == 0);
    return rl_count(voting) < needed &&
           rl_count(voting) + count_saturated(voters, now_ns) >= needed;
}
