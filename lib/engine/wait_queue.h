/* wait_queue.h - the tries of this client that wait for one name: first come, first served.
 * Only the first one asks the masters, and it is queued there under the line's number, so that
 * a process is one contender however many of its threads wait. Each kind of lock has lines of
 * its own, and where the masters serve owners in turn, so has each owner. Mutex held. */
#ifndef RL_WAIT_QUEUE_H
#define RL_WAIT_QUEUE_H

#include "core/backoff.h"
#include "node/channel.h"
#include "kinds/kind.h"

#include <redlock.h>
#include <stddef.h>

/* Why the first one in a line is called. */
enum rl_turn {
    RL_TURN_FIRST,   /* it has just become the first */
    RL_TURN_WOKEN,   /* a master has said that the lock was released */
    RL_TURN_FREED,   /* this client has released it: the release is queued at the masters */
    RL_TURN_LISTENS, /* releases are heard now that would have been missed before */
    RL_TURN_MISSED   /* a node that was asked to queue it has not */
};

/* Somebody in a line: part of a try. */
struct rl_waiter {
    struct rl_waiter *prev, *next;
    struct rl_line *line; /* NULL: in none */
    void (*turn)(struct rl_waiter *waiter, enum rl_turn why, int64_t now_ns);
};

struct rl_line {
    struct rl_line *next; /* in its bucket; spare */
    uint64_t number;      /* what the masters know it by */
    uint64_t rounds;      /* that its first ones have begun */
    struct rl_waiter *first, *last;
    uint64_t wakes;   /* nodes that woke us since the first one asked last */
    int64_t woken_ns; /* the first of them */
    int64_t heed_ns;  /* what a minority says is followed by no round before this time */
    struct rl_backoff heed;
    uint64_t queued;    /* nodes that have us in their queue, or tell everybody */
    uint64_t entered;   /* nodes that may have us in their queue */
    struct rl_ear *ear; /* where it hears of releases; NULL: on the client's own channel */
    struct rl_line *ear_next, *ear_prev; /* others that hear there */
    struct rl_target
        target; /* its bytes are in `bytes`; the owner only where each has a line */
    size_t bytes_size;
    char *bytes;
};

/* A lock that was released a moment ago, after it had been waited for. */
struct rl_parting {
    uint64_t hash;
    int64_t until_ns;
};
#define RL_PARTINGS 8

/* A line that left its queues while masters could not be told: there it would be woken in the
 * place of others who wait. */
struct rl_departed {
    uint64_t nodes; /* that have yet to be told; 0: none */
    uint64_t number;
    int64_t until_ns; /* the queue's life */
    struct rl_target target;
    char *bytes; /* its name */
};
#define RL_DEPARTED 16

struct rl_lines {
    struct rl_line **bucket; /* by name; a power of 2 */
    struct rl_line **place;  /* by the low bits of the number */
    size_t buckets, places, count;
    uint64_t last_number;
    unsigned waiting; /* waiters in all of them */
    int64_t left_ns;  /* when the last line was put away */
    struct rl_line *spare;
    struct rl_parting parting[RL_PARTINGS];
    unsigned partings;
    struct rl_departed departed[RL_DEPARTED];
    unsigned departures;
};

struct rl_line *rl_line_find(redlock *client, const struct rl_target *target);

/* Stand at the end of the target's line. REDLOCK_ENOMEM. */
int rl_line_join(redlock *client, struct rl_waiter *waiter, const struct rl_target *target,
                 int64_t now_ns);

/* The nodes from which its first one would hear of a release; may there soon be more? */
uint64_t rl_line_listening(const redlock *client, const struct rl_line *line);
bool rl_line_pending(const redlock *client, const struct rl_line *line);

/* The nodes at which a try of this kind that stands in the line of that number is to be queued
 * when it asks. */
uint64_t rl_line_queues_at(const redlock *client, const struct rl_kind *kind, uint64_t number);

static inline bool rl_line_is_first(const struct rl_waiter *waiter)
{
    return waiter->line && waiter->line->first == waiter;
}

/* Step out (in no line: nothing). `won`: the lock was taken. The next one has its turn. */
void rl_line_leave(redlock *client, struct rl_waiter *waiter, bool won, int64_t now_ns);

/* What became of a RL_WAIT with the line's number at a node: queued there; in a round before
 * the last one, so that it may have been woken since, and the word of that been quicker; not
 * (any more); or nobody knows (an error, a broken link). */
enum rl_queued { RL_QUEUED, RL_WAS_QUEUED, RL_NOT_QUEUED, RL_MAYBE_QUEUED };
void rl_line_answered(redlock *client, uint64_t number, unsigned node, enum rl_queued queued,
                      int64_t now_ns);

/* How many rounds have been begun for the line of that number. */
uint64_t rl_line_rounds(const redlock *client, uint64_t number);

/* Is the line of that number still there? */
bool rl_line_stands(const redlock *client, uint64_t number);

/* A node says that the lock was released; a node is (not) listened to any more: on the client's
 * own channel; on an ear's. */
void rl_line_woken(redlock *client, unsigned node, uint64_t number, int64_t now_ns);
void rl_lines_changed(redlock *client, unsigned node, bool listens, int64_t now_ns);
void rl_line_heard(redlock *client, unsigned node, struct rl_ear *ear, int64_t now_ns);
void rl_line_hears(redlock *client, unsigned node, struct rl_ear *ear, int64_t now_ns);

/* A round of the first one's begins. What a minority of the masters says (`hinted`) may be made
 * up by one of them, or by whoever may publish there: it costs a bounded number of rounds. The
 * first one comes at once, each of the next ones later, and no more than one in half of a
 * probe's time; until a majority wakes the line, or it has won. This is the one place where
 * these are counted, and rl_line_heed_ns() the one that holds them back: when may the line ask
 * for such a reason, if not before `soon_ns`? */
void rl_line_asks(redlock *client, struct rl_line *line, bool hinted, int64_t now_ns);
int64_t rl_line_heed_ns(const struct rl_line *line, int64_t soon_ns);

/* This client gives the lock up: the first in its line need not wait to hear of it. Only where
 * releases are heard on the client's own channel: elsewhere the message is as quick. */
void rl_line_freed(redlock *client, const struct rl_target *target, int64_t now_ns);

/* Who has just released what others are likely to wait for lets them go first: the one who was
 * woken and our own next try would meet at the masters, where ours would only be in the way.
 * until_ns: when to ask for it again; 0: at once. As above, of plain locks only. */
void rl_line_part(redlock *client, const struct rl_target *target, int64_t now_ns);
int64_t rl_line_parted_until_ns(const redlock *client, const struct rl_target *target);

/* Out of the queues of these nodes: now, or when they can be told. Is that still to come? One
 * is UP again. */
void rl_line_depart(redlock *client, const struct rl_target *target, uint64_t number,
                    uint64_t nodes, int64_t now_ns);
bool rl_lines_departing(const redlock *client, int64_t now_ns);
void rl_lines_node_up(redlock *client, unsigned node, int64_t now_ns);

void rl_lines_free(redlock *client);

/* ---- between line*.c only ------------------------------------------------------------- */

struct rl_line *rl_line_by_number(const redlock *client, uint64_t number); /* or NULL */

/* wait_channel.c: hear where releases of its kind are told of (false: no memory), and no more;
 * an ear has a user less. */
bool rl_line_give_ear(redlock *client, struct rl_line *line);
void rl_line_take_ear(redlock *client, struct rl_line *line, int64_t now_ns);
void rl_line_let_ear_go(redlock *client, struct rl_ear *ear, int64_t now_ns);

#endif
