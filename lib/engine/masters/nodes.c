/* nodes.c - see nodes.h. */
#include "config_auto.h"

#include "engine/masters/nodes.h"

#include <assert.h>

/* R9: The first who wants a vote sets what was only looked at. */
void rl_nodes_want(struct rl_nodes *nodes, struct rl_node_settings *settings, int64_t now_ns)
{
    assert(nodes->n >= 1 && nodes->n <= REDLOCK_NODES_MAX);
    if (settings->wanted)
        return;
    settings->wanted = true;
    for (unsigned i = 0; i < nodes->n; i++)
        rl_node_wanted(&nodes->all[i], now_ns);
    for (unsigned i = 0; i < nodes->n; i++)
        rl_node_fence_wanted(&nodes->all[i], now_ns);
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
