/* wait_queue.h - the tries of this client that wait for one name: first come, first served.
 *
 * Only the first waiter asks the nodes. The nodes enter it into their own queues under the
 * number of the wait queue. So a process is one contender, however many of its threads wait.
 * Each kind of lock has wait queues of its own. If the nodes serve owners in turn, each owner
 * has a wait queue of its own. The mutex must be held. */
#ifndef RL_WAIT_QUEUE_H
#define RL_WAIT_QUEUE_H

#include "base/hash.h"
#include "base/list.h"
#include "core/outcome.h"
#include "core/waking.h"
#include "engine/masters/voters.h"
#include "engine/wait/subscribers.h"
#include "node/target.h"
#include "node/request.h"

#include <redlock.h>
#include <stddef.h>

/* A place in a wait queue. Part of a try. */
struct rl_waiter {
    struct rl_entry entry;       /* in queue->waiters */
    struct rl_wait_queue *queue; /* NULL: it is in none */
    void (*turn)(struct rl_waiter *waiter, enum rl_turn why, int64_t now_ns);
};

struct rl_wait_queue {
    struct rl_hashed by_name; /* in queues->by_name */
    struct rl_entry entry;    /* in channel->queues; spare */
    uint64_t number;          /* the nodes know it by this */
    struct rl_list waiters;   /* one at least; empty: it is spare */
    struct rl_waking waking;
    struct rl_finding found;    /* by a round of its waiters that told */
    struct rl_channel *channel; /* of releases; NULL: the client's own channel */
    struct rl_target target;    /* bytes in `bytes`; with the owner if each has a queue */
    struct rl_target_bytes bytes;
};

/* A contended lock that this client released a moment ago: its next try must wait. */
struct rl_yield {
    uint64_t hash;
    int64_t until_ns;
};
#define RL_YIELDS 8

/* A waiter that must still be removed from the queues of nodes which could not be reached.
 * Until then such a node may wake it instead of a waiter that is still there. */
struct rl_pending_leave {
    uint64_t nodes; /* that still have it; 0: none */
    uint64_t number;
    int64_t until_ns; /* when the nodes' queues expire */
    struct rl_target target;
    char *bytes; /* its name */
};
#define RL_PENDING_LEAVES 16

struct rl_wait_queues {
    struct rl_subs *subs;
    struct rl_voters *voters; /* on every name */
    struct rl_requests *requests;
    const char *uuid; /* the client's */
    struct rl_hash_table by_name;
    struct rl_wait_queue **place; /* by the low bits of the number */
    size_t places;                /* a power of 2 */
    uint64_t last_number;
    unsigned waiting; /* waiters in all of them */
    int64_t left_ns;  /* when the last queue was put away */
    struct rl_list spare;
    struct rl_yield yield[RL_YIELDS];
    unsigned yields;
    struct rl_pending_leave pending_leave[RL_PENDING_LEAVES];
    unsigned pending_leave_count;
};

struct rl_wait_queue *rl_wait_queue_find(struct rl_wait_queues *queues,
                                         const struct rl_target *target);

/* Join the end of the target's wait queue. 0 or REDLOCK_ENOMEM. */
int rl_wait_queue_join(struct rl_wait_queues *queues, struct rl_waiter *waiter,
                       const struct rl_target *target, int64_t now_ns);

/* _listening: the nodes from which the first waiter would hear of a release.
 * _pending: true while more of them may follow soon. */
uint64_t rl_wait_queue_listening(const struct rl_wait_queues *queues,
                                 const struct rl_wait_queue *queue);
bool rl_wait_queue_pending(const struct rl_wait_queues *queues,
                           const struct rl_wait_queue *queue);

/* The nodes that must queue the first waiter of that queue when it asks for a lock of this
 * kind. */
uint64_t rl_wait_queue_nodes(const struct rl_wait_queues *queues, const struct rl_kind *kind,
                             uint64_t number);

static inline bool rl_wait_queue_is_first(const struct rl_waiter *waiter)
{
    return waiter->queue && waiter->queue->waiters.first == &waiter->entry;
}

/* Leave the queue, if the waiter is in one. `won`: it has the lock. The next waiter is called.
 */
void rl_wait_queue_leave(struct rl_wait_queues *queues, struct rl_waiter *waiter, bool won,
                         int64_t now_ns);

/* The result of an RL_ACQUIRE_OR_QUEUE at a node. */
void rl_wait_queue_on_reply(struct rl_wait_queues *queues, uint64_t number, unsigned node,
                            enum rl_queued queued, int64_t now_ns);

/* The number of rounds that were begun for that queue. */
uint64_t rl_wait_queue_rounds(const struct rl_wait_queues *queues, uint64_t number);

/* Does a queue of that number still exist? */
bool rl_wait_queue_exists(const struct rl_wait_queues *queues, uint64_t number);

/* Events of subscribers. On the client's own channel: a node wakes the waiter of that number;
 * the subscription to a node begins or ends. On a channel of the lock's: a message; a confirmed
 * subscription. */
void rl_wait_queue_on_wakeup(struct rl_wait_queues *queues, unsigned node, uint64_t number,
                             int64_t now_ns);
void rl_wait_queues_on_listening(struct rl_wait_queues *queues, unsigned node, bool listens,
                                 int64_t now_ns);
void rl_wait_queue_on_message(struct rl_subs *subs, unsigned node, struct rl_channel *channel,
                              int64_t now_ns);
void rl_wait_queue_on_subscribed(struct rl_subs *subs, unsigned node,
                                 struct rl_channel *channel, int64_t now_ns);

/* This client releases the lock: call the first waiter before any node does. Only for kinds
 * that use the client's own channel, because for others the message is as quick. */
void rl_wait_queue_on_release(struct rl_wait_queues *queues, const struct rl_target *target,
                              int64_t now_ns);

/* This client has released a contended lock. Its next try should wait for some round trips,
 * lest it collides with the waiter that was just woken. _until_ns: when that try may begin; 0:
 * at once. As above, for plain locks only. */
void rl_wait_queue_yield(struct rl_wait_queues *queues, const struct rl_target *target,
                         int64_t now_ns);
int64_t rl_wait_queue_yields_until_ns(const struct rl_wait_queues *queues,
                                      const struct rl_target *target);

/* Remove a waiter from the queues of these nodes: now, or when they can be reached. _leaving:
 * is any removal still to come? _node_up: this node can be reached again. */
void rl_wait_queue_leave_nodes(struct rl_wait_queues *queues, const struct rl_target *target,
                               uint64_t number, uint64_t nodes, int64_t now_ns);
bool rl_wait_queues_leaving(const struct rl_wait_queues *queues, int64_t now_ns);
void rl_wait_queues_node_up(struct rl_wait_queues *queues, unsigned node, int64_t now_ns);

void rl_wait_queues_free(struct rl_wait_queues *queues);

/* ---- between wait_*.c only ------------------------------------------------------------- */

/* NULL: there is none. */
struct rl_wait_queue *rl_wait_queue_by_number(const struct rl_wait_queues *queues,
                                              uint64_t number);

/* Call the first waiter. */
static inline void rl_wait_queue_call(struct rl_wait_queue *queue, enum rl_turn why,
                                      int64_t now_ns)
{
    struct rl_waiter *first = RL_FIRST(&queue->waiters, struct rl_waiter, entry);
    assert(first); /* a queue that nobody waits in is put away */
    assert(first->queue == queue && first->turn);
    first->turn(first, why, now_ns);
}

/* wait_channel.c. Subscribe the queue to the channel of its kind; false: no memory. Unsubscribe
 * it. _unref: one user of a channel less, which may free it. */
bool rl_wait_queue_subscribe(struct rl_wait_queues *queues, struct rl_wait_queue *queue);
void rl_wait_queue_unsubscribe(struct rl_wait_queues *queues, struct rl_wait_queue *queue,
                               int64_t now_ns);
void rl_wait_channel_unref(struct rl_subs *subs, struct rl_channel *channel, int64_t now_ns);

#endif
