/* wait_channel.c - a wait queue (wait_queue.h) on the channel of its lock, for kinds that
 * publish releases there. */
#include "config_auto.h"

#include "engine/client/client.h"
#include "engine/wait/subscribers.h"
#include "kinds/keys.h"

#include <assert.h>

bool rl_wait_queue_subscribe(redlock *client, struct rl_wait_queue *queue)
{
    char name[RL_KEY_MAX];
    assert(!queue->waiters.first && queue->target.kind);
    queue->channel = NULL;
    if (rl_kind_queues(queue->target.kind))
        return true;
    size_t len = rl_key_channel(&queue->target, name);
    struct rl_channel *channel = rl_channel_ref(&client->subs.channels, name, len);
    if (!channel)
        return false;
    assert(channel->users > 0);
    queue->channel = channel;
    rl_list_push(&channel->queues, &queue->entry);
    return true;
}

void rl_wait_channel_unref(redlock *client, struct rl_channel *channel, int64_t now_ns)
{
    rl_channel_unref(&client->subs.channels, channel);
    if (channel->users == 0)
        rl_subs_sync(client, channel, now_ns);
}

void rl_wait_queue_unsubscribe(redlock *client, struct rl_wait_queue *queue, int64_t now_ns)
{
    struct rl_channel *channel = queue->channel;
    if (!channel)
        return;
    assert(!queue->waiters.first && channel->users > 0);
    if (channel->notify_next == &queue->entry)
        channel->notify_next = queue->entry.next;
    rl_list_remove(&channel->queues, &queue->entry);
    queue->channel = NULL;
    rl_wait_channel_unref(client, channel, now_ns);
}
