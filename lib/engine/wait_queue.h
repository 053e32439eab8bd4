/* wait_queue.h - the tries of this client that wait for one name: first come, first served.
 * Only the first one asks the masters, and it is queued there under the queue's number, so that
 * a process is one contender however many of its threads wait. Each kind of lock has queues of
 * its own, and where the masters serve owners in turn, so has each owner. Mutex held. */
#ifndef RL_WAIT_QUEUE_H
#define RL_WAIT_QUEUE_H

#include "core/backoff.h"
#include "node/channel.h"
#include "kinds/kind.h"

#include <redlock.h>
#include <stddef.h>

/* Why the first one in a queue is called. */
enum rl_turn {
    RL_TURN_FIRST,   /* it has just become the first */
    RL_TURN_WOKEN,   /* a master has said that the lock was released */
    RL_TURN_FREED,   /* this client has released it: the release is queued at the masters */
    RL_TURN_LISTENS, /* releases are heard now that would have been missed before */
    RL_TURN_MISSED   /* a node that was asked to queue it has not */
};

/* Somebody in a queue: part of a try. */
struct rl_waiter {
    struct rl_waiter *prev, *next;
    struct rl_wait_queue *queue; /* NULL: in none */
    void (*turn)(struct rl_waiter *waiter, enum rl_turn why, int64_t now_ns);
};

struct rl_wait_queue {
    struct rl_wait_queue *next; /* in its bucket; spare */
    uint64_t number;            /* what the masters know it by */
    uint64_t rounds;            /* that its first ones have begun */
    struct rl_waiter *first, *last;
    uint64_t wakes;   /* nodes that woke us since the first one asked last */
    int64_t woken_ns; /* the first of them */
    int64_t hint_ns;  /* what a minority says is followed by no round before this time */
    struct rl_backoff hint_backoff;
    uint64_t queued;  /* nodes that have us in their queue, or tell everybody */
    uint64_t entered; /* nodes that may have us in their queue */
    struct rl_channel
        *channel; /* where it hears of releases; NULL: on the client's own channel */
    struct rl_wait_queue *channel_next, *channel_prev; /* others that hear there */
    struct rl_target
        target; /* its bytes are in `bytes`; the owner only where each has a queue */
    size_t bytes_size;
    char *bytes;
};

/* A lock that was released a moment ago, after it had been waited for. */
struct rl_yield {
    uint64_t hash;
    int64_t until_ns;
};
#define RL_YIELDS 8

/* A queue that left its queues while masters could not be told: there it would be woken in the
 * place of others who wait. */
struct rl_pending_leave {
    uint64_t nodes; /* that have yet to be told; 0: none */
    uint64_t number;
    int64_t until_ns; /* the queue's life */
    struct rl_target target;
    char *bytes; /* its name */
};
#define RL_PENDING_LEAVES 16

struct rl_wait_queues {
    struct rl_wait_queue **bucket; /* by name; a power of 2 */
    struct rl_wait_queue **place;  /* by the low bits of the number */
    size_t buckets, places, count;
    uint64_t last_number;
    unsigned waiting; /* waiters in all of them */
    int64_t left_ns;  /* when the last queue was put away */
    struct rl_wait_queue *spare;
    struct rl_yield yield[RL_YIELDS];
    unsigned yields;
    struct rl_pending_leave pending_leave[RL_PENDING_LEAVES];
    unsigned pending_leave_count;
};

struct rl_wait_queue *rl_wait_queue_find(redlock *client, const struct rl_target *target);

/* Stand at the end of the target's queue. REDLOCK_ENOMEM. */
int rl_wait_queue_join(redlock *client, struct rl_waiter *waiter,
                       const struct rl_target *target, int64_t now_ns);

/* The nodes from which its first one would hear of a release; may there soon be more? */
uint64_t rl_wait_queue_listening(const redlock *client, const struct rl_wait_queue *queue);
bool rl_wait_queue_pending(const redlock *client, const struct rl_wait_queue *queue);

/* The nodes at which a try of this kind that stands in the queue of that number is to be queued
 * when it asks. */
uint64_t rl_wait_queue_nodes(const redlock *client, const struct rl_kind *kind,
                             uint64_t number);

static inline bool rl_wait_queue_is_first(const struct rl_waiter *waiter)
{
    return waiter->queue && waiter->queue->first == waiter;
}

/* Step out (in no queue: nothing). `won`: the lock was taken. The next one has its turn. */
void rl_wait_queue_leave(redlock *client, struct rl_waiter *waiter, bool won, int64_t now_ns);

/* What became of a RL_WAIT with the queue's number at a node: queued there; in a round before
 * the last one, so that it may have been woken since, and the word of that been quicker; not
 * (any more); or nobody knows (an error, a broken link). */
enum rl_queued { RL_QUEUED, RL_WAS_QUEUED, RL_NOT_QUEUED, RL_MAYBE_QUEUED };
void rl_wait_queue_on_reply(redlock *client, uint64_t number, unsigned node,
                            enum rl_queued queued, int64_t now_ns);

/* How many rounds have been begun for the queue of that number. */
uint64_t rl_wait_queue_rounds(const redlock *client, uint64_t number);

/* Is the queue of that number still there? */
bool rl_wait_queue_exists(const redlock *client, uint64_t number);

/* A node says that the lock was released; a node is (not) listened to any more: on the client's
 * own channel; on a channel's. */
void rl_wait_queue_on_wakeup(redlock *client, unsigned node, uint64_t number, int64_t now_ns);
void rl_wait_queues_on_listening(redlock *client, unsigned node, bool listens, int64_t now_ns);
void rl_wait_queue_on_message(redlock *client, unsigned node, struct rl_channel *channel,
                              int64_t now_ns);
void rl_wait_queue_on_subscribed(redlock *client, unsigned node, struct rl_channel *channel,
                                 int64_t now_ns);

/* A round of the first one's begins. What a minority of the masters says (`hinted`) may be made
 * up by one of them, or by whoever may publish there: it costs a bounded number of rounds. The
 * first one comes at once, each of the next ones later, and no more than one in half of a
 * probe's time; until a majority wakes the queue, or it has won. This is the one place where
 * these are counted, and rl_wait_queue_hint_ns() the one that holds them back: when may the
 * queue ask for such a reason, if not before `soon_ns`? */
void rl_wait_queue_round_begins(redlock *client, struct rl_wait_queue *queue, bool hinted,
                                int64_t now_ns);
int64_t rl_wait_queue_hint_ns(const struct rl_wait_queue *queue, int64_t soon_ns);

/* This client gives the lock up: the first in its queue need not wait to hear of it. Only where
 * releases are heard on the client's own channel: elsewhere the message is as quick. */
void rl_wait_queue_on_release(redlock *client, const struct rl_target *target, int64_t now_ns);

/* Who has just released what others are likely to wait for lets them go first: the one who was
 * woken and our own next try would meet at the masters, where ours would only be in the way.
 * until_ns: when to ask for it again; 0: at once. As above, of plain locks only. */
void rl_wait_queue_yield(redlock *client, const struct rl_target *target, int64_t now_ns);
int64_t rl_wait_queue_yields_until_ns(const redlock *client, const struct rl_target *target);

/* Out of the queues of these nodes: now, or when they can be told. Is that still to come? One
 * is UP again. */
void rl_wait_queue_leave_nodes(redlock *client, const struct rl_target *target, uint64_t number,
                               uint64_t nodes, int64_t now_ns);
bool rl_wait_queues_leaving(const redlock *client, int64_t now_ns);
void rl_wait_queues_node_up(redlock *client, unsigned node, int64_t now_ns);

void rl_wait_queues_free(redlock *client);

/* ---- between wait_*.c only ------------------------------------------------------------- */

struct rl_wait_queue *rl_wait_queue_by_number(const redlock *client,
                                              uint64_t number); /* or NULL */

/* wait_channel.c: hear where releases of its kind are told of (false: no memory), and no more;
 * a channel has a user less. */
bool rl_wait_queue_subscribe(redlock *client, struct rl_wait_queue *queue);
void rl_wait_queue_unsubscribe(redlock *client, struct rl_wait_queue *queue, int64_t now_ns);
void rl_wait_queue_unref_channel(redlock *client, struct rl_channel *channel, int64_t now_ns);

#endif
