/* channel.h - the channels, besides the client's own, that tell wait queues (wait_queue.h) of
 * releases: their users, and the state of each node's subscription.
 *
 * At most one SUBSCRIBE or UNSUBSCRIBE of a channel is in flight at a node. The reply leads to
 * the next request, if users have come or gone meanwhile. A channel lives as long as it has a
 * user or a node has the subscription.
 */
#ifndef RL_CHANNEL_H
#define RL_CHANNEL_H

#include "base/hash.h"
#include "base/list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rl_channel {
    struct rl_hashed by_text;     /* in channels->by_text */
    size_t place;                 /* in channels->all */
    struct rl_list queues;        /* its subscribers in this client */
    struct rl_entry *notify_next; /* the next to notify; it may leave meanwhile */
    unsigned users;               /* its queues, and a loop that is notifying them */
    uint64_t pending;             /* nodes with a request about it in flight */
    uint64_t confirmed;           /* nodes that have the subscription */
    uint64_t denied;              /* nodes that refused to begin or end it */
    size_t len;
    char text[];
};

struct rl_channels {
    struct rl_hash_table by_text;
    struct rl_channel **all;
    size_t size, count; /* of `all` */
    size_t used;        /* the number of channels with users */
};

struct rl_channel *rl_channel_find(const struct rl_channels *channels, const void *text,
                                   size_t len);

/* One user more (NULL: no memory), one less. After _unref, call rl_channel_free_if_idle(). */
struct rl_channel *rl_channel_ref(struct rl_channels *channels, const void *text, size_t len);
void rl_channel_unref(struct rl_channels *channels, struct rl_channel *channel);

/* Free it if it has no user and no node has the subscription. */
void rl_channel_free_if_idle(struct rl_channels *channels, struct rl_channel *channel);

/* The request about this channel that must be sent to a node now. `node_bit`: rl_bit(node). */
enum rl_channel_next_request { RL_CHANNEL_NONE, RL_CHANNEL_SUBSCRIBE, RL_CHANNEL_UNSUBSCRIBE };
enum rl_channel_next_request rl_channel_next_request(const struct rl_channel *channel,
                                                     uint64_t node_bit);

/* Nodes whose messages on this channel will arrive. */
static inline uint64_t rl_channel_listening(const struct rl_channel *channel)
{
    return channel->confirmed & ~channel->pending;
}

/* The connection to a node is lost, and its subscriptions with it. */
void rl_channels_forget(struct rl_channels *channels, uint64_t node_bit);

void rl_channels_free(struct rl_channels *channels);

#endif
