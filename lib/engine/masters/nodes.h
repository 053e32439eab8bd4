/* nodes.h - all of a client's nodes, whatever they vote on (voters.h). The mutex must be held.
 */
#ifndef RL_NODES_H
#define RL_NODES_H

#include "node/node.h"

struct rl_nodes {
    unsigned n;
    struct rl_node *all;
};

/* A call wants votes. */
void rl_nodes_want(struct rl_nodes *nodes, struct rl_node_settings *settings, int64_t now_ns);

/* The bytes that wait to be sent to the node to which most of them do. */
size_t rl_nodes_queued(struct rl_nodes *nodes);

#endif
