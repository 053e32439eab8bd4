/* call.c - the beginning and end of a call. See call.h. */
#include "config_auto.h"

#include "engine/loop/call.h"

#include "engine/loop/leader.h"
#include "engine/loop/loop.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_MIN 2048 /* an acquisition of a lock with a name of usual length */
#define BLOCKS_KEPT 1024
#define ENDED_NS (100 * RL_NS_PER_MS) /* for other clients, which can't wake us */

static void fire(struct rl_timer *timer, int64_t now_ns)
{
    struct rl_call *call = (struct rl_call *)timer;
    assert(call->timer.at == 0 && call->client);
    if (call->done)
        return;
    if (call->ended && call->ended(call))
        call->cancel(call, now_ns);
    else
        call->step(call, now_ns);
}

int rl_call_begin(struct rl_call *call, redlock *client)
{
    if (rl_timers_reserve(&client->loop.timers) != 0)
        return REDLOCK_ENOMEM;
    call->client = client;
    call->voters = &client->voters;
    assert(!call->done && !call->parked && !rl_call_in_backlog(call));
    assert(call->step && (!call->async || call->conclude));
    assert(!call->ended || call->cancel);
    call->timer.fire = fire;
    rl_list_push(&client->calls.all, &call->entry);
    client->calls.async_count += call->async;
    return REDLOCK_OK;
}

/* Leave the client's list. */
static void end(struct rl_call *call)
{
    redlock *client = call->client;
    assert(call->done && !call->parked && !rl_call_in_backlog(call));
    assert(!call->async || client->calls.async_count > 0);
    assert(call->timer.at == 0 && rl_list_has(&client->calls.all, &call->entry));
    rl_list_remove(&client->calls.all, &call->entry);
    client->calls.async_count -= call->async;
    rl_timers_unreserve(&client->loop.timers);
}

/* An asynchronous call is done: run its callback. */
static void run_done(redlock *client, struct rl_callback *callback)
{
    struct rl_call *call = RL_ITEM(callback, struct rl_call, callback);
    redlock_lock *lock = NULL;
    assert(call->done && call->async);
    int result = call->conclude(call, &lock);
    redlock_done_fn *done = call->on_done;
    void *context = call->context;
    end(call);
    rl_call_free(&client->calls, call);
    rl_callback_enter(client, NULL);
    done(context, result, lock);
    rl_callback_exit(client);
}

/* The memory of an asynchronous call. Free blocks are kept in a list for the next calls. */
struct rl_block {
    struct rl_block *next;
    size_t size;
    struct rl_call call[];
};

static struct rl_block *take_block(struct rl_calls *calls, size_t size)
{
    struct rl_block *block = calls->spare_blocks;
    assert((calls->spare_block_count > 0) == (block != NULL));
    if (block && block->size >= size) {
        calls->spare_blocks = block->next;
        calls->spare_block_count--;
        return block;
    }
    if (size < BLOCK_MIN)
        size = BLOCK_MIN;
    block = malloc(sizeof(*block) + size);
    if (block)
        block->size = size;
    return block;
}

void *rl_call_new(struct rl_calls *calls, size_t size, size_t zeroed, redlock_done_fn *done,
                  void *context)
{
    assert(done);
    assert(zeroed >= sizeof(struct rl_call) && zeroed <= size);
    struct rl_block *block = take_block(calls, size);
    if (!block)
        return NULL;
    struct rl_call *call = block->call;
    memset(call, 0, zeroed);
    call->async = true;
    call->id = ++calls->last_id;
    call->callback.run = run_done;
    call->on_done = done;
    call->context = context;
    return call;
}

void rl_call_free(struct rl_calls *calls, void *call)
{
    if (!call)
        return;
    struct rl_block *block = RL_ITEM(call, struct rl_block, call);
    assert(block->call->async && !block->call->parked);
    if (calls->spare_block_count >= BLOCKS_KEPT) {
        free(block);
        return;
    }
    block->next = calls->spare_blocks;
    calls->spare_blocks = block;
    calls->spare_block_count++;
}

void rl_calls_free(struct rl_calls *calls)
{
    while (calls->spare_blocks) {
        struct rl_block *block = calls->spare_blocks;
        calls->spare_blocks = block->next;
        free(block);
    }
    calls->spare_block_count = 0;
}

void rl_call_due(struct rl_call *call, int64_t due_ns)
{
    assert(due_ns >= 0);
    assert(!call->done || due_ns == INT64_MAX); /* its memory may be gone by then */
    if (call->ended && !call->done)
        due_ns = rl_earlier_ns(due_ns, rl_client_now_ns(call->client) + ENDED_NS);
    rl_timer_set(&call->client->loop.timers, &call->timer, due_ns);
}

static void leave_backlog(struct rl_call *call)
{
    if (rl_call_in_backlog(call))
        rl_list_remove(&call->client->calls.backlog, &call->backlog);
}

void rl_call_finish(struct rl_call *call, int result)
{
    redlock *client = call->client;
    assert(!call->done);
    assert(result <= 0); /* REDLOCK_OK, or an error */
    call->done = true;
    call->result = result;
    leave_backlog(call);
    rl_call_due(call, INT64_MAX);
    if (call == client->loop.leader)
        rl_loop_interrupt(client);
    if (call->async)
        rl_callback_enqueue(client, &call->callback);
    if (call->parked)
        rl_parked_to_wake(&client->loop.parking, call->parked);
    if (call->parked || call == client->loop.leader) /* it was waited for */
        client->loop.gather.ended++;
}

/* Masters that are busy with renewals get no tries. A caller's own extension is urgent, too. */
static bool is_busy(const struct rl_call *call, uint64_t voting, int64_t now_ns)
{
    redlock *client = call->client;
    return (!call->lease && rl_renewals_wait(&client->leases)) ||
           rl_voters_saturated(call->voters, voting, now_ns);
}

bool rl_call_awaits_nodes(struct rl_call *call, uint64_t voting, uint64_t of_use,
                          int64_t until_ns, int64_t backlog_ns, int64_t now_ns)
{
    redlock *client = call->client;
    int64_t again_ns;
    assert(!call->done);
    assert((voting & ~rl_all(call->voters->n)) == 0 && (of_use & ~voting) == 0);
    if (now_ns < backlog_ns && is_busy(call, voting, now_ns)) {
        if (!rl_call_in_backlog(call))
            rl_list_append(&client->calls.backlog, &call->backlog);
        rl_call_due(call, backlog_ns);
        return true;
    }
    leave_backlog(call);
    rl_voters_need(call->voters, of_use, now_ns);
    if (now_ns >= until_ns || rl_voters_ready(call->voters, of_use, now_ns, &again_ns))
        return false;
    rl_call_due(call, again_ns < until_ns ? again_ns : until_ns);
    return true;
}

void rl_backlog_resume(struct rl_calls *calls, int64_t now_ns)
{
    struct rl_list *backlog = &calls->backlog;
    while (backlog->first) {
        struct rl_call *call = RL_ITEM(backlog->first, struct rl_call, backlog);
        if (is_busy(call, rl_voters_to_ask(call->voters, now_ns), now_ns))
            break;
        rl_list_remove(backlog, &call->backlog);
        assert(!call->done); /* a call that is done is not in the backlog */
        call->step(call, now_ns);
    }
}

int rl_call_wait(struct rl_call *call, int64_t now_ns, redlock_lock **ret_lock)
{
    assert(!call->async && call->client->calls.callers > 0); /* rl_client_enter_blocking() */
    rl_loop_wait(call->client, call, now_ns);
    int result = call->conclude ? call->conclude(call, ret_lock) : call->result;
    end(call);
    return result;
}
