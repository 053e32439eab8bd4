/* node_standing.c - how a node stands: may it be asked for its vote, and if not, why? */
#include "config_auto.h"

#include "node/node.h"

#define BACKLOG_MAX 8192 /* unanswered: a node with more is asked for no more votes */
#define LAG_REQUESTS 64
#define LAG_ROUND_TRIPS 8
#define LAG_MIN_NS (20 * RL_NS_PER_MS)

static int64_t stall_ns(struct rl_node *node)
{
    const struct rl_inflight *oldest = rl_wire_oldest(rl_node_wire(node));
    return node->mode == RL_UP && oldest ? oldest->deadline_ns : INT64_MAX;
}

bool rl_node_stalled(struct rl_node *node, int64_t now_ns)
{
    return now_ns >= stall_ns(node);
}

bool rl_node_is_slow(struct rl_node *node, int64_t now_ns)
{
    struct rl_wire *wire = rl_node_wire(node);
    if (wire->fifo_count < LAG_REQUESTS)
        return false;
    int64_t patience = LAG_ROUND_TRIPS * node->round_trip_ns;
    if (patience < LAG_MIN_NS)
        patience = LAG_MIN_NS;
    return now_ns - rl_wire_oldest(wire)->sent_ns > patience;
}

bool rl_node_votes(const struct rl_node *node)
{
    return node->fitness == RL_FIT && node->duplicate_of < 0;
}

static bool votes(struct rl_node *node, int64_t now_ns)
{
    return node->mode == RL_UP && rl_node_votes(node) && !rl_node_stalled(node, now_ns);
}

static bool is_full(struct rl_node *node)
{
    return rl_node_wire(node)->fifo_count >= BACKLOG_MAX ||
           rl_link_blocked(rl_node_wire(node)->link);
}

bool rl_node_voting(struct rl_node *node, int64_t now_ns)
{
    return votes(node, now_ns) && !is_full(node);
}

bool rl_node_saturated(struct rl_node *node, int64_t now_ns)
{
    return votes(node, now_ns) && is_full(node);
}

bool rl_node_pending(const struct rl_node *node)
{
    return node->mode == RL_UP ? node->asked_late || node->proving : node->retry.failures == 0;
}

const char *rl_node_why(struct rl_node *node, int64_t now_ns)
{
    switch (node->mode) {
    case RL_DOWN:
        return node->why;
    case RL_CONNECTING:
    case RL_AUTH:
    case RL_GREETING:
        return node->why[0] ? node->why : "connecting";
    case RL_UP:
        break;
    }
    if (node->duplicate_of >= 0)
        return node->duplicate_proven ? "the same server as an earlier node of the list"
                                      : "has another node's run_id, and may be the same server";
    if (node->fitness != RL_FIT)
        return node->why;
    if (rl_node_stalled(node, now_ns))
        return "does not answer";
    if (rl_node_is_slow(node, now_ns))
        return "lags behind: not asked, since enough others answer at once";
    if (rl_link_blocked(rl_node_wire(node)->link))
        return "takes no more requests";
    return node->why;
}
