/* nodes.c - the state of a client's nodes together: which can vote, how fast, and whether
 * waiting for more of them is worth it. */
#include "config_auto.h"

#include "engine/nodes.h"

#include "base/text.h"

#include <assert.h>

#define GRACE_MIN_NS RL_NS_PER_MS
#define GRACE_MAX_NS (100 * RL_NS_PER_MS)
#define LATE_NS (5 * RL_NS_PER_MS) /* how often a late node is checked */

/* R9: The first who wants a vote sets what was only looked at. */
void rl_nodes_want(struct rl_nodes *nodes, int64_t now_ns)
{
    if (nodes->settings->wanted)
        return;
    nodes->settings->wanted = true;
    for (unsigned i = 0; i < nodes->n; i++)
        rl_node_wanted(&nodes->all[i], now_ns);
    for (unsigned i = 0; i < nodes->n; i++)
        rl_node_fence_wanted(&nodes->all[i], now_ns);
}

uint64_t rl_nodes_to_ask(struct rl_nodes *nodes, int64_t now_ns)
{
    uint64_t voting = 0, prompt = 0;
    assert(nodes->n >= 1 && nodes->n <= REDLOCK_NODES_MAX);
    for (unsigned i = 0; i < nodes->n; i++) {
        enum rl_standing standing = rl_node_standing(&nodes->all[i], now_ns);
        if (standing >= RL_STANDING_SLOW)
            voting |= rl_bit(i);
        if (standing == RL_STANDING_READY)
            prompt |= rl_bit(i);
    }
    /* Slow nodes are left out only if a majority plus one others are fast. */
    return rl_count(prompt) > rl_quorum_needed(nodes->n) ? prompt : voting;
}

uint64_t rl_nodes_to_renew(struct rl_nodes *nodes, int64_t now_ns)
{
    uint64_t voting = rl_nodes_to_ask(nodes, now_ns);
    if (rl_count(voting) >= rl_quorum_needed(nodes->n))
        return voting;
    for (unsigned i = 0; i < nodes->n; i++) {
        if (rl_node_standing(&nodes->all[i], now_ns) >= RL_STANDING_SATURATED)
            voting |= rl_bit(i);
    }
    return voting;
}

uint64_t rl_nodes_able(const struct rl_nodes *nodes)
{
    uint64_t able = 0;
    for (unsigned i = 0; i < nodes->n; i++) {
        if (nodes->all[i].mode == RL_UP && rl_node_is_fit(&nodes->all[i]))
            able |= rl_bit(i);
    }
    return able;
}

uint64_t rl_nodes_to_fence(const struct rl_nodes *nodes, uint64_t voting)
{
    assert((voting & ~rl_all(nodes->n)) == 0);
    for (unsigned i = 0; nodes->settings->fencing_strict && i < nodes->n; i++) {
        if (!rl_is_certified(&nodes->all[i].fence.certificate))
            voting &= ~rl_bit(i);
    }
    return voting;
}

int rl_nodes_first(const struct rl_nodes *nodes, uint64_t voting, const void *name, size_t len)
{
    assert((voting & ~rl_all(nodes->n)) == 0);
    unsigned start = (unsigned)((rl_hash(name, len) >> 32) % nodes->n);
    for (unsigned i = 0; i < nodes->n; i++) {
        unsigned node = (start + i) % nodes->n;
        if (voting & rl_bit(node))
            return (int)node;
    }
    return -1;
}

unsigned rl_nodes_pending(struct rl_nodes *nodes)
{
    unsigned pending = 0;
    for (unsigned i = 0; i < nodes->n; i++)
        pending += rl_node_pending(&nodes->all[i]);
    return pending;
}

int64_t rl_nodes_round_trip_ns(struct rl_nodes *nodes, uint64_t mask)
{
    int64_t sorted[REDLOCK_NODES_MAX];
    unsigned count = 0;
    assert((mask & ~rl_all(nodes->n)) == 0);
    for (; mask; mask &= mask - 1) {
        int64_t trip = nodes->all[rl_first(mask)].round_trip_ns;
        unsigned at = count++;
        for (; at > 0 && sorted[at - 1] > trip; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = trip;
    }
    unsigned needed = rl_quorum_needed(nodes->n);
    return count >= needed ? sorted[needed - 1] : 0;
}

size_t rl_nodes_queued(struct rl_nodes *nodes)
{
    size_t most = 0;
    for (unsigned i = 0; i < nodes->n; i++) {
        const struct rl_connection *connection = rl_node_connection(&nodes->all[i]);
        size_t queued = connection->out_end - connection->out_start;
        most = queued > most ? queued : most;
    }
    return most;
}

int64_t rl_nodes_patience_ns(struct rl_nodes *nodes)
{
    return rl_patience_ns(rl_nodes_round_trip_ns(nodes, rl_all(nodes->n)));
}

int64_t rl_nodes_reserve_ms(struct rl_nodes *nodes)
{
    int64_t trip_ms = rl_nodes_round_trip_ns(nodes, rl_all(nodes->n)) / RL_NS_PER_MS;
    int64_t ms = RL_RESERVE_MIN_MS + 4 * trip_ms;
    return ms < RL_RESERVE_MAX_MS ? ms : RL_RESERVE_MAX_MS;
}

int64_t rl_nodes_budget_ns(struct rl_nodes *nodes, uint64_t mask, int64_t remaining_ns)
{
    return rl_node_budget_ns(remaining_ns, nodes->n, nodes->settings->node_timeout_ns,
                             rl_nodes_round_trip_ns(nodes, mask));
}

void rl_nodes_need(struct rl_nodes *nodes, uint64_t voting, int64_t now_ns)
{
    for (unsigned i = 0; i < nodes->n && rl_count(voting) < rl_quorum_needed(nodes->n); i++)
        rl_node_need(&nodes->all[i], now_ns);
}

uint64_t rl_nodes_refusing(const struct rl_nodes *nodes)
{
    uint64_t refusing = 0;
    for (unsigned i = 0; i < nodes->n; i++)
        refusing |= rl_node_refuses_for_good(&nodes->all[i]) ? rl_bit(i) : 0;
    return refusing;
}

bool rl_nodes_overdue(struct rl_nodes *nodes, int64_t now_ns)
{
    for (unsigned i = 0; i < nodes->n; i++) {
        if (rl_node_stalled(&nodes->all[i], now_ns))
            return true;
    }
    return false;
}

/* The nodes that could be asked, if they had not too many requests. */
static unsigned count_saturated(struct rl_nodes *nodes, int64_t now_ns)
{
    unsigned count = 0;
    for (unsigned i = 0; i < nodes->n; i++)
        count += rl_node_standing(&nodes->all[i], now_ns) == RL_STANDING_SATURATED;
    return count;
}

/* A client that has never begun a round waits for all nodes, or for a majority and about as
 * long again. So its first locks do not rest on a bare majority. Later a majority is enough,
 * because an unstable node must not delay every call. Without a majority, waiting is worth it
 * as long as nodes that have not failed could make one. A node that is UP but has too many
 * requests counts as such. */
bool rl_nodes_ready(struct rl_nodes *nodes, uint64_t voting, int64_t now_ns,
                    int64_t *ret_until_ns)
{
    unsigned needed = rl_quorum_needed(nodes->n);
    unsigned pending = rl_nodes_pending(nodes);
    assert((voting & ~rl_all(nodes->n)) == 0);
    *ret_until_ns = INT64_MAX;
    if (pending == 0)
        return true;
    if (rl_count(voting) < needed) {
        /* A late node may still answer, and no event says so to other calls. */
        if (rl_nodes_overdue(nodes, now_ns))
            *ret_until_ns = now_ns + LATE_NS;
        return rl_count(voting) + pending + count_saturated(nodes, now_ns) < needed;
    }
    if (nodes->warm)
        return true;
    if (nodes->majority_ns == 0)
        nodes->majority_ns = now_ns;
    int64_t grace = nodes->majority_ns - nodes->opened_ns;
    if (grace < GRACE_MIN_NS)
        grace = GRACE_MIN_NS;
    if (grace > GRACE_MAX_NS)
        grace = GRACE_MAX_NS;
    *ret_until_ns = nodes->majority_ns + grace;
    return now_ns >= *ret_until_ns;
}

bool rl_nodes_saturated(struct rl_nodes *nodes, uint64_t voting, int64_t now_ns)
{
    unsigned needed = rl_quorum_needed(nodes->n);
    assert((voting & ~rl_all(nodes->n)) == 0);
    return rl_count(voting) < needed &&
           rl_count(voting) + count_saturated(nodes, now_ns) >= needed;
}
