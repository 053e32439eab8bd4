/* wait_channel.c - a wait queue (wait_queue.h) on the channel of its lock, for kinds that
 * publish releases there. */
#include "config_auto.h"

#include "engine/wait/wait_queue.h"

#include "kinds/keys.h"

#include <assert.h>

bool rl_wait_queue_subscribe(struct rl_wait_queues *queues, struct rl_wait_queue *queue)
{
    char name[RL_KEY_MAX];
    assert(!queue->waiters.first && queue->target.kind);
    queue->channel = NULL;
    if (rl_kind_queues(queue->target.kind))
        return true;
    size_t len = rl_key_channel(&queue->target, name);
    struct rl_channel *channel = rl_channel_ref(&queues->subs->channels, name, len);
    if (!channel)
        return false;
    assert(channel->users > 0);
    queue->channel = channel;
    rl_list_push(&channel->queues, &queue->entry);
    return true;
}

void rl_wait_channel_unref(struct rl_subs *subs, struct rl_channel *channel, int64_t now_ns)
{
    rl_channel_unref(&subs->channels, channel);
    if (channel->users == 0)
        rl_subs_sync(subs, channel, now_ns);
}

void rl_wait_queue_unsubscribe(struct rl_wait_queues *queues, struct rl_wait_queue *queue,
                               int64_t now_ns)
{
    struct rl_channel *channel = queue->channel;
    if (!channel)
        return;
    assert(!queue->waiters.first && channel->users > 0);
    if (channel->notify_next == &queue->entry)
        channel->notify_next = queue->entry.next;
    rl_list_remove(&channel->queues, &queue->entry);
    queue->channel = NULL;
    rl_wait_channel_unref(queues->subs, channel, now_ns);
}
