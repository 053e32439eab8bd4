/* node_met.h - which process answers at a node's address, by all connections to it. Where two
 * servers answer, the node has no vote, because its connections may lead to either. */
#ifndef RL_NODE_MET_H
#define RL_NODE_MET_H

#include "node/node.h"

/* An INFO, or a later request on a connection to a process that is known, was answered. */
void rl_node_met(struct rl_node *node, const char *run_id, int64_t sent_ns, int64_t now_ns);
/* Who it is, is not known any more. */
static inline void rl_node_unmet(struct rl_node *node)
{
    node->met[0] = '\0';
    node->unsettled = false;
}

/* Were two servers met there lately? Then a new connection shows who answers. */
static inline bool rl_node_doubtful(const struct rl_node *node, int64_t now_ns)
{
    return rl_sightings_two(&node->sightings, rl_node_window_ns(node), now_ns);
}
/* Or were not all addresses of its name compared? */
static inline bool rl_node_may_be_two(const struct rl_node *node, int64_t now_ns)
{
    return rl_node_doubtful(node, now_ns) || rl_node_lacks_address(node);
}
void rl_node_meet_again(struct rl_node *node, int64_t now_ns);

#endif
