/* channel.c - see channel.h. */
#include "config_auto.h"

#include "node/channel.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MIN 16

struct rl_channel *rl_channel_find(const struct rl_channels *channels, const void *text,
                                   size_t len)
{
    const struct rl_hash_table *table = &channels->by_text;
    struct rl_hashed *entry = rl_hash_find(table, rl_hash_of(table, text, len));
    for (; entry; entry = rl_hash_next(entry)) {
        struct rl_channel *channel = RL_ITEM(entry, struct rl_channel, by_text);
        if (channel->len == len && memcmp(channel->text, text, len) == 0)
            return channel;
    }
    return NULL;
}

static bool is_one(uint64_t bits)
{
    return bits != 0 && (bits & (bits - 1)) == 0;
}

/* Make room for one more. */
static bool reserve(struct rl_channels *channels)
{
    if (channels->count == channels->size) {
        size_t size = channels->size ? 2 * channels->size : SIZE_MIN;
        struct rl_channel **all = realloc(channels->all, size * sizeof(struct rl_channel *));
        if (!all)
            return false;
        channels->all = all;
        channels->size = size;
    }
    return rl_hash_reserve(&channels->by_text) == 0;
}

static struct rl_channel *make(struct rl_channels *channels, const void *text, size_t len)
{
    struct rl_channel *channel = reserve(channels) ? calloc(1, sizeof(*channel) + len) : NULL;
    if (!channel)
        return NULL;
    channel->len = len;
    memcpy(channel->text, text, len);
    rl_hash_add(&channels->by_text, &channel->by_text, rl_hash_of(&channels->by_text, text, len));
    assert(channels->count < channels->size);
    channel->place = channels->count;
    channels->all[channels->count++] = channel;
    return channel;
}

struct rl_channel *rl_channel_ref(struct rl_channels *channels, const void *text, size_t len)
{
    struct rl_channel *channel = rl_channel_find(channels, text, len);
    if (!channel)
        channel = make(channels, text, len);
    if (channel && channel->users++ == 0)
        channels->used++;
    return channel;
}

void rl_channel_unref(struct rl_channels *channels, struct rl_channel *channel)
{
    assert(channel->users > 0 && channels->used > 0);
    if (--channel->users == 0)
        channels->used--;
}

void rl_channel_free_if_idle(struct rl_channels *channels, struct rl_channel *channel)
{
    if (channel->users > 0 || channel->pending || channel->confirmed)
        return;
    assert(!channel->queues.first && !channel->notify_next);
    assert(channels->count > 0 && channels->all[channel->place] == channel);
    rl_hash_remove(&channels->by_text, &channel->by_text);
    struct rl_channel *last = channels->all[--channels->count];
    channels->all[channel->place] = last;
    last->place = channel->place;
    free(channel);
}

enum rl_channel_next_request rl_channel_next_request(const struct rl_channel *channel,
                                                     uint64_t node_bit)
{
    assert(is_one(node_bit));
    if ((channel->pending | channel->denied) & node_bit)
        return RL_CHANNEL_NONE;
    if (channel->users > 0)
        return channel->confirmed & node_bit ? RL_CHANNEL_NONE : RL_CHANNEL_SUBSCRIBE;
    return channel->confirmed & node_bit ? RL_CHANNEL_UNSUBSCRIBE : RL_CHANNEL_NONE;
}

void rl_channels_forget(struct rl_channels *channels, uint64_t node_bit)
{
    assert(is_one(node_bit));
    /* From the end: a channel that is freed is replaced by one that was already visited. */
    for (size_t i = channels->count; i > 0; i--) {
        struct rl_channel *channel = channels->all[i - 1];
        channel->pending &= ~node_bit;
        channel->confirmed &= ~node_bit;
        channel->denied &= ~node_bit;
        rl_channel_free_if_idle(channels, channel);
    }
}

void rl_channels_free(struct rl_channels *channels)
{
    for (size_t i = 0; i < channels->count; i++)
        free(channels->all[i]);
    free(channels->all);
    rl_hash_free(&channels->by_text);
    *channels = (struct rl_channels){0};
}
