/* call.c - the beginning and end of a call. See call.h. */
#include "config_auto.h"

#include "engine/call.h"

#include "engine/lease.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_MIN 1536 /* an attempt at a lock with a name of usual length */
#define BLOCKS_KEPT 1024
#define ENDED_NS (100 * RL_NS_PER_MS) /* between looks at what is outside of the client */

static void fire(struct rl_timer *timer, int64_t now_ns)
{
    struct rl_op *op = (struct rl_op *)timer;
    if (op->done)
        return;
    if (op->ended && op->ended(op))
        op->cancel(op, now_ns);
    else
        op->step(op, now_ns);
}

int rl_op_begin(struct rl_op *op, redlock *client)
{
    if (rl_timers_reserve(&client->loop.timers) != 0)
        return REDLOCK_ENOMEM;
    op->client = client;
    op->timer.fire = fire;
    op->next = client->calls.first;
    if (op->next)
        op->next->prev = op;
    client->calls.first = op;
    client->calls.async_count += op->async;
    return REDLOCK_OK;
}

/* An asynchronous call is done, and this is its turn to say so. */
static void tell(redlock *client, struct rl_notice *notice)
{
    struct rl_op *op =
        (struct rl_op *)(void *)((char *)notice - offsetof(struct rl_op, notice));
    redlock_lock *lock = NULL;
    int result = op->conclude(op, &lock);
    redlock_done_fn *told = op->tell;
    void *context = op->context;
    rl_op_end(op);
    rl_op_free(client, op);
    rl_notice_call_begin(client, NULL);
    told(context, result, lock);
    rl_notice_call_end(client);
}

/* A block that an op lives in. Those that are free are kept in a list for the next ones. */
struct rl_block {
    struct rl_block *next;
    size_t size;
    struct rl_op op[];
};

static struct rl_block *take_block(redlock *client, size_t size)
{
    struct rl_block *block = client->calls.spare_blocks;
    if (block && block->size >= size) {
        client->calls.spare_blocks = block->next;
        client->calls.spare_block_count--;
        return block;
    }
    if (size < BLOCK_MIN)
        size = BLOCK_MIN;
    block = malloc(sizeof(*block) + size);
    if (block)
        block->size = size;
    return block;
}

void *rl_op_new(redlock *client, size_t size, size_t zeroed, redlock_done_fn *told,
                void *context)
{
    struct rl_block *block = take_block(client, size);
    if (!block)
        return NULL;
    struct rl_op *op = block->op;
    memset(op, 0, zeroed);
    op->async = true;
    op->id = ++client->calls.last_id;
    op->notice.tell = tell;
    op->tell = told;
    op->context = context;
    return op;
}

void rl_op_free(redlock *client, void *op)
{
    if (!op)
        return;
    struct rl_block *block =
        (struct rl_block *)(void *)((char *)op - offsetof(struct rl_block, op));
    if (client->calls.spare_block_count >= BLOCKS_KEPT) {
        free(block);
        return;
    }
    block->next = client->calls.spare_blocks;
    client->calls.spare_blocks = block;
    client->calls.spare_block_count++;
}

void rl_ops_free(redlock *client)
{
    while (client->calls.spare_blocks) {
        struct rl_block *block = client->calls.spare_blocks;
        client->calls.spare_blocks = block->next;
        free(block);
    }
    client->calls.spare_block_count = 0;
}

void rl_op_due(struct rl_op *op, int64_t due_ns)
{
    if (op->ended && !op->done)
        due_ns = rl_earlier_ns(due_ns, rl_client_now_ns(op->client) + ENDED_NS);
    rl_timer_set(&op->client->loop.timers, &op->timer, due_ns);
}

static void join_crowd(struct rl_op *op)
{
    redlock *client = op->client;
    if (op->crowds)
        return;
    op->crowds = true;
    op->crowd_next = NULL;
    op->crowd_prev = client->calls.crowd_last;
    if (client->calls.crowd_last)
        client->calls.crowd_last->crowd_next = op;
    else
        client->calls.crowd = op;
    client->calls.crowd_last = op;
}

static void leave_crowd(struct rl_op *op)
{
    redlock *client = op->client;
    if (!op->crowds)
        return;
    op->crowds = false;
    if (op->crowd_prev)
        op->crowd_prev->crowd_next = op->crowd_next;
    else
        client->calls.crowd = op->crowd_next;
    if (op->crowd_next)
        op->crowd_next->crowd_prev = op->crowd_prev;
    else
        client->calls.crowd_last = op->crowd_prev;
}

void rl_op_finish(struct rl_op *op, int result)
{
    redlock *client = op->client;
    struct rl_sleeper *sleeper = op->sleeper;
    assert(!op->done);
    op->done = true;
    op->result = result;
    leave_crowd(op);
    rl_op_due(op, INT64_MAX);
    if (op == client->loop.leader)
        rl_loop_rouse(client);
    if (op->async) {
        rl_notice_post(client, &op->notice);
    } else if (sleeper && !sleeper->due) {
        sleeper->due = true;
        sleeper->next = client->loop.to_wake;
        client->loop.to_wake = sleeper;
    }
}

void rl_op_let_go(struct rl_op *op, int result)
{
    struct rl_claim *claim = op->claim;
    op->claim = NULL;
    claim->op = NULL;
    rl_op_finish(op, result);
}

void rl_op_abort(struct rl_op *op, int64_t now_ns)
{
    if (op->cancel)
        op->cancel(op, now_ns);
    else if (op->claim)
        rl_op_let_go(op, REDLOCK_ECANCELED);
    else
        rl_op_finish(op, REDLOCK_ECANCELED);
}

void rl_op_end(struct rl_op *op)
{
    redlock *client = op->client;
    assert(op->done);
    if (op->prev)
        op->prev->next = op->next;
    else
        client->calls.first = op->next;
    if (op->next)
        op->next->prev = op->prev;
    client->calls.async_count -= op->async;
    rl_timers_unreserve(&client->loop.timers);
}

bool rl_op_awaits_nodes(struct rl_op *op, uint64_t able, int64_t until_ns, int64_t crowd_ns,
                        int64_t now_ns)
{
    redlock *client = op->client;
    int64_t again_ns;
    if (now_ns < crowd_ns && rl_nodes_crowded(&client->nodes, able, now_ns)) {
        join_crowd(op);
        rl_op_due(op, crowd_ns);
        return true;
    }
    leave_crowd(op);
    if (now_ns >= until_ns || rl_nodes_ready(&client->nodes, able, now_ns, &again_ns))
        return false;
    rl_op_due(op, again_ns < until_ns ? again_ns : until_ns);
    return true;
}

void rl_ops_go_on(redlock *client, int64_t now_ns)
{
    while (client->calls.crowd &&
           !rl_nodes_crowded(&client->nodes, rl_nodes_able(&client->nodes, now_ns), now_ns)) {
        struct rl_op *op = client->calls.crowd;
        leave_crowd(op);
        op->step(op, now_ns);
    }
}

int rl_op_wait(struct rl_op *op, redlock_lock **ret_lock)
{
    rl_loop_wait(op->client, op);
    int result = op->conclude ? op->conclude(op, ret_lock) : op->result;
    rl_op_end(op);
    return result;
}
