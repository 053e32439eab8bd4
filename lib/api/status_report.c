/* status_report.c - see status_report.h. */
#include "config_auto.h"

#include "api/status_report.h"

#include "base/struct_abi.h"
#include "core/quorum.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct rl_struct shape = RL_STRUCT(redlock_status_report, "redlock_status_report",
                                                "REDLOCK_STATUS_INIT", max_ttl_ms);
static const struct rl_struct node_shape = RL_STRUCT(
    redlock_node_status, "redlock_status_report.node_size", "REDLOCK_STATUS_INIT", wake);

bool rl_status_open(struct rl_status *status, const redlock *client, redlock_status_report *to,
                    char *why, size_t why_size)
{
    if (!rl_struct_there(&shape, to, why, why_size) ||
        (to->node && !rl_struct_sized(&node_shape, to->node_size, why, why_size)))
        return false;
    *status = (struct rl_status){.to = to};
    rl_struct_copy(&status->whole, sizeof(status->whole), to, to->size);
    status->whole.nodes = client->nodes.n;
    status->whole.needed = rl_quorum_needed(client->nodes.n);
    status->whole.ready = status->whole.proven = 0;
    status->whole.max_ttl_ms = client->config.max_ttl_ms;
    status->whole.node_count = rl_struct_room(to->node, to->node_max, client->nodes.n);
    return true;
}

/* The user's entry for a node; NULL: there is no room for it. */
static void *entry(const struct rl_status *status, unsigned node)
{
    return rl_struct_entry(status->whole.node, status->whole.node_size,
                           status->whole.node_count, node);
}

void rl_status_show(struct rl_status *status, unsigned node, const redlock_node_status *said)
{
    void *to = entry(status, node);
    assert(node < status->whole.nodes);
    assert(!(status->ready & rl_bit(node))); /* once for each node */
    if (said->state == REDLOCK_NODE_READY)
        status->ready |= rl_bit(node);
    status->whole.ready = rl_count(status->ready);
    if (to)
        rl_struct_copy(to, status->whole.node_size, said, sizeof(*said));
}

void rl_status_prove(const struct rl_status *status, unsigned node, size_t offset,
                     const redlock_proof *proof)
{
    char *to = entry(status, node);
    assert(offset + sizeof(*proof) <= sizeof(redlock_node_status));
    assert(node < status->whole.nodes);
    if (to && offset + sizeof(*proof) <= status->whole.node_size)
        memcpy(to + offset, proof, sizeof(*proof));
}

void rl_status_publish(const struct rl_status *status)
{
    assert(status->to && status->whole.ready <= status->whole.nodes);
    rl_struct_give(&shape, &status->whole, status->to);
}
