/* node_met.c - see node_met.h. */
#include "config_auto.h"

#include "node/node_met.h"

#include <string.h>

/* It has not been said since which of the two processes that were met lives. */
static bool unsettled(const struct rl_node *node)
{
    return node->met[0] && strcmp(node->met, node->sightings.last) != 0;
}

/* R7: A vote ends where another process answers at the same address. */
void rl_node_met(struct rl_node *node, const char *run_id, int64_t sent_ns, int64_t now_ns)
{
    const struct rl_node_events *events = node->settings->events;
    bool doubted = rl_node_doubtful(node, now_ns);
    bool two = rl_sightings_learn(&node->sightings, run_id, sent_ns, now_ns);
    node->unsettled = !two && unsettled(node);
    if (node->unsettled && node->mode == RL_UP && node->ask_info_ns != INT64_MAX)
        node->ask_info_ns = now_ns;
    if (!two || doubted)
        return;
    events->log(node->settings->owner, REDLOCK_LOG_ERROR, "%s: %s", node->config->label,
                rl_trust_words(RL_CAUSE_TWO_SERVERS));
    if (node->mode != RL_UP)
        return;
    rl_node_found(node, RL_CAUSE_TWO_SERVERS, now_ns);
    events->voided(node->settings->owner, node, now_ns);
    events->changed(node->settings->owner, node, now_ns);
}

/* R7: A new connection shows who answers now. */
void rl_node_meet_again(struct rl_node *node, int64_t now_ns)
{
    rl_node_ask_next_address(node, now_ns);
    node->retry.at_ns = now_ns;
}
