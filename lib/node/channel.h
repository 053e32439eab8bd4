/* channel.h - the channels on which queues (wait_queue.h) hear of releases, beside the one that
 * each client has for itself: which there are, who needs them, and what each master has said of
 * them.
 *
 * Of one channel at one master there is never more than one question under way: who comes and
 * goes meanwhile is seen to when it has been answered. Lives on as long as anybody needs it, or
 * a master still has it.
 */
#ifndef RL_CHANNEL_H
#define RL_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rl_wait_queue;

struct rl_channel {
    struct rl_channel *next;      /* in its bucket */
    size_t place;                 /* in channels->all */
    struct rl_wait_queue *queues; /* who is told */
    struct rl_wait_queue
        *notify_next;   /* while they are: the next one; it may be the last to leave */
    unsigned users;     /* queues, and who tells them */
    uint64_t pending;   /* nodes that owe an answer about it */
    uint64_t confirmed; /* nodes that have confirmed it, and not its end */
    uint64_t denied;    /* nodes that have refused to begin it, or to end it */
    uint64_t hash;
    size_t len;
    char text[];
};

struct rl_channels {
    struct rl_channel **bucket; /* by text; a power of 2 */
    struct rl_channel **all;
    size_t size, count;
    size_t used; /* how many have users */
};

struct rl_channel *rl_channel_find(const struct rl_channels *channels, const void *text,
                                   size_t len);

/* One more user, one less. NULL: no memory. Who has dropped it settles it afterwards. */
struct rl_channel *rl_channel_ref(struct rl_channels *channels, const void *text, size_t len);
void rl_channel_unref(struct rl_channels *channels, struct rl_channel *channel);

/* If nobody needs it and no master has it, it is gone. */
void rl_channel_free_if_idle(struct rl_channels *channels, struct rl_channel *channel);

/* What is to be said to a node about it now. */
enum rl_channel_next_request { RL_CHANNEL_NONE, RL_CHANNEL_SUBSCRIBE, RL_CHANNEL_UNSUBSCRIBE };
enum rl_channel_next_request rl_channel_next_request(const struct rl_channel *channel,
                                                     uint64_t node_bit);

/* Nodes at which what is published there now will be heard. */
static inline uint64_t rl_channel_listening(const struct rl_channel *channel)
{
    return channel->confirmed & ~channel->pending;
}

/* The connection to a node is gone, and all that was said on it. */
void rl_channels_forget(struct rl_channels *channels, uint64_t node_bit);

void rl_channels_free(struct rl_channels *channels);

#endif
