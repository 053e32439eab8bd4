/* wait_signals.c - how wait queues (wait_queue.h) learn of releases. Nodes tell by a queue's
 * number or on the channel of its lock; this client itself tells, too. What follows is decided
 * by core/waking.h. */
#include "config_auto.h"

#include "engine/wait/wait_queue.h"

#include <assert.h>

#define YIELD_MAX_NS (5 * RL_NS_PER_MS)

/* ---- what happens --------------------------------------------------------------------- */

static void wake(struct rl_wait_queue *queue, unsigned node, int64_t now_ns)
{
    rl_waking_message(&queue->waking, node, now_ns);
    rl_wait_queue_call(queue, RL_TURN_WOKEN, now_ns);
}

void rl_wait_queue_on_wakeup(struct rl_wait_queues *queues, unsigned node, uint64_t number,
                             int64_t now_ns)
{
    struct rl_wait_queue *queue = rl_wait_queue_by_number(queues, number);
    assert(node < queues->voters->n);
    if (queue && !queue->channel) /* nodes do not know the number of a queue with a channel */
        wake(queue, node, now_ns);
}

void rl_wait_queues_on_listening(struct rl_wait_queues *queues, unsigned node, bool listens,
                                 int64_t now_ns)
{
    assert(node < queues->voters->n);
    for (size_t i = 0; i < queues->places; i++) {
        struct rl_wait_queue *queue = queues->place[i];
        if (!queue || queue->channel)
            continue;
        rl_waking_unheard(&queue->waking, node);
        if (listens)
            rl_wait_queue_call(queue, RL_TURN_LISTENS, now_ns);
    }
}

/* Notify each queue on a channel. A queue may leave when it is notified, and others with it. */
static void
notify_all(struct rl_subs *subs, unsigned node, struct rl_channel *channel, int64_t now_ns,
           void (*notify)(struct rl_wait_queue *queue, unsigned node, int64_t now_ns))
{
    assert(node < subs->nodes->n && channel->users > 0);
    /* One loop at a time, because it follows notify_next. */
    assert(!channel->notify_next);
    channel->users++; /* the channel must stay during the loop */
    struct rl_entry *entry = channel->queues.first;
    for (; entry; entry = channel->notify_next) {
        channel->notify_next = entry->next;
        notify(RL_ITEM(entry, struct rl_wait_queue, entry), node, now_ns);
    }
    rl_wait_channel_unref(subs, channel, now_ns);
}

/* A message wakes every queue on the channel and removes none from a node's queue: the next
 * release will be published as well. */
void rl_wait_queue_on_message(struct rl_subs *subs, unsigned node, struct rl_channel *channel,
                              int64_t now_ns)
{
    notify_all(subs, node, channel, now_ns, wake);
}

/* Earlier releases were missed. */
static void listen(struct rl_wait_queue *queue, unsigned node, int64_t now_ns)
{
    rl_waking_unheard(&queue->waking, node);
    rl_wait_queue_call(queue, RL_TURN_LISTENS, now_ns);
}

void rl_wait_queue_on_subscribed(struct rl_subs *subs, unsigned node,
                                 struct rl_channel *channel, int64_t now_ns)
{
    notify_all(subs, node, channel, now_ns, listen);
}

void rl_wait_queue_on_release(struct rl_wait_queues *queues, const struct rl_target *target,
                              int64_t now_ns)
{
    struct rl_wait_queue *queue = rl_wait_queue_find(queues, target);
    if (queue && !queue->channel)
        rl_wait_queue_call(queue, RL_TURN_FREED, now_ns);
}

/* ---- yielding ------------------------------------------------------------------------- */

void rl_wait_queue_yield(struct rl_wait_queues *queues, const struct rl_target *target,
                         int64_t now_ns)
{
    if (!rl_kind_queues(target->kind))
        return;
    /* The time of a hand-off: the release, the wake-up, the acquire and its reply. */
    int64_t pause_ns = 4 * rl_voters_round_trip_ns(queues->voters, rl_all(queues->voters->n));
    if (pause_ns > YIELD_MAX_NS)
        pause_ns = YIELD_MAX_NS;
    uint64_t hash = rl_hash_of(&queues->by_name, target->name, target->name_len);
    queues->yield[queues->yields++ % RL_YIELDS] =
        (struct rl_yield){.hash = hash, .until_ns = now_ns + pause_ns};
}

int64_t rl_wait_queue_yields_until_ns(const struct rl_wait_queues *queues,
                                      const struct rl_target *target)
{
    if (queues->yields == 0 || !rl_kind_queues(target->kind))
        return 0;
    uint64_t hash = rl_hash_of(&queues->by_name, target->name, target->name_len);
    int64_t until_ns = 0;
    for (unsigned i = 0; i < RL_YIELDS && i < queues->yields; i++) {
        if (queues->yield[i].hash == hash && queues->yield[i].until_ns > until_ns)
            until_ns = queues->yield[i].until_ns;
    }
    return until_ns;
}
