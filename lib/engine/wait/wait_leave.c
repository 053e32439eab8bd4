/* wait_leave.c - removes waiters from the masters' queues, at once or when a master can be
 * reached. See wait_queue.h. */
#include "config_auto.h"

#include "engine/wait/wait_queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Remove a waiter from the queues of these nodes; the replies are ignored. Returns the nodes
 * that can't be sent the request now. */
static uint64_t leave_queue(struct rl_wait_queues *queues, const struct rl_target *target,
                            uint64_t waiter, uint64_t nodes, int64_t now_ns)
{
    struct rl_request request = {
        .target = target,
        .script = RL_DEQUEUE,
        .uuid = queues->uuid,
        .waiter = waiter,
    };
    uint64_t untold = 0;
    assert((nodes & ~rl_all(queues->voters->n)) == 0);
    if (!target->kind->script[RL_DEQUEUE].body)
        return 0;
    rl_nonce_text(++queues->requests->nonce, request.nonce);
    if (rl_request_reserves(&request))
        request.reserve_ms = rl_voters_reserve_ms(queues->voters);
    size_t len = rl_request_encode(&request, true, queues->requests->bytes);
    for (; nodes; nodes &= nodes - 1) {
        unsigned i = rl_first(nodes);
        if (!rl_node_send_oneway(queues->voters->node[i], queues->requests->bytes, len, now_ns))
            untold |= rl_bit(i);
    }
    return untold;
}

void rl_wait_queue_leave_nodes(struct rl_wait_queues *queues, const struct rl_target *target,
                               uint64_t number, uint64_t nodes, int64_t now_ns)
{
    assert(number != 0 && nodes != 0); /* 0 is no waiter's */
    nodes = leave_queue(queues, target, number, nodes, now_ns);
    /* A waiter that is queued by its owner may be there again by then. */
    if (!nodes || !rl_kind_queues(target->kind))
        return;
    char *bytes = malloc(target->name_len);
    if (!bytes)
        return;
    struct rl_pending_leave *pending_leave =
        &queues->pending_leave[queues->pending_leave_count++ % RL_PENDING_LEAVES];
    free(pending_leave->bytes);
    *pending_leave = (struct rl_pending_leave){
        .nodes = nodes,
        .number = number,
        .until_ns = now_ns + RL_QUEUE_TTL_MS * RL_NS_PER_MS,
        .target = *target,
        .bytes = bytes,
    };
    pending_leave->target.name = memcpy(bytes, target->name, target->name_len);
    pending_leave->target.owner = "";
    pending_leave->target.owner_len = 0;
}

bool rl_wait_queues_leaving(const struct rl_wait_queues *queues, int64_t now_ns)
{
    for (unsigned i = 0; i < RL_PENDING_LEAVES && i < queues->pending_leave_count; i++) {
        if (queues->pending_leave[i].nodes && now_ns < queues->pending_leave[i].until_ns)
            return true;
    }
    return false;
}

void rl_wait_queues_node_up(struct rl_wait_queues *queues, unsigned node, int64_t now_ns)
{
    uint64_t bit = rl_bit(node);
    assert(node < queues->voters->n);
    for (unsigned i = 0; i < RL_PENDING_LEAVES && i < queues->pending_leave_count; i++) {
        struct rl_pending_leave *pending_leave = &queues->pending_leave[i];
        if (now_ns >= pending_leave->until_ns)
            pending_leave->nodes = 0;
        if (!(pending_leave->nodes & bit))
            continue;
        assert(pending_leave->bytes && pending_leave->target.name == pending_leave->bytes);
        pending_leave->nodes &= ~bit;
        pending_leave->nodes |=
            leave_queue(queues, &pending_leave->target, pending_leave->number, bit, now_ns);
    }
}
