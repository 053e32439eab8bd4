/* acquire.h - one acquisition in progress: wait for nodes, ask them, and on a loss sleep and
 * ask again with a token of its own, until it is won or the time that the caller gave is over.
 *
 * Its phases are drawn in docs/ARCHITECTURE.md.
 *
 * Who was refused stands in the name's queue (wait_queue.h), is queued at the masters by its
 * next round, and sleeps until a majority of them has said that the lock was released.
 */
#ifndef RL_ACQUIRE_H
#define RL_ACQUIRE_H

#include "engine/lease.h"

enum rl_acquire_phase { RL_ACQ_CONNECTING, RL_ACQ_ROUND, RL_ACQ_BACKOFF, RL_ACQ_QUEUED };

struct rl_acquire {
    struct rl_call call; /* first: the callbacks get this one */
    struct rl_waiter waiter;
    enum rl_acquire_phase phase;
    struct rl_target target;
    const struct rl_group *group; /* or NULL */
    redlock_options options;
    int64_t ttl_ns;
    bool wait_forever, try_once;
    bool was_queued;   /* has stood behind others */
    bool can_hear;     /* ROUND: a node is listened to now that was not when it was asked */
    bool round_begun;  /* a first round has been begun */
    bool wait_started; /* connecting, which is no part of the wait, is over */
    uint64_t among;    /* ROUND: the nodes that it began with */
    uint64_t broke;    /* ROUND: nodes whose connection broke in it */
    int64_t began_ns;
    int64_t give_up_ns;     /* far away where there is no wait budget */
    int64_t nodes_since_ns; /* CONNECTING: since when */
    bool connects;          /* CONNECTING: it waits for connections */
    int64_t pause_until_ns; /* BACKOFF */
    bool probes;            /* BACKOFF: for a wake-up; its end is a fallback */
    bool hinted;            /* BACKOFF: its end is what a minority's word made of it */
    struct rl_backoff backoff;
    bool ordered_next;            /* the last round was split: ask one first */
    bool ordered;                 /* as this round did */
    int loss;                     /* what the last round came to */
    unsigned upgrades, miskinded; /* masters that refused this round for good, and why */
    bool short_round;             /* the wait's end left it less time than an answer may take */
    bool lacked_quorum;           /* and it was for want of masters that could be asked */
    unsigned held_count;
    bool split_holders;      /* by two others at least: perhaps nobody has a majority */
    uint64_t holder;         /* the hash of one of them; 0: none yet */
    bool foreign_holder;     /* a peer's, whose release nobody will hear of */
    int64_t place;           /* how many are in the queue before us, where that is least */
    uint64_t behind;         /* the holder that we were next to in the round before; 0: none */
    uint64_t next_to;        /* and in this one: the one that most masters tell */
    unsigned next_votes;     /* by so many more than tell another */
    unsigned behind_count;   /* masters that tell again that we are next to that one */
    int64_t behind_since_ns; /* since when */
    int64_t look_ns;         /* BACKOFF: when to look whether masters are still heard */
    struct redlock_lock *lock;
    int64_t held_ns[REDLOCK_NODES_MAX]; /* held_count: when each blocking key runs out,
                                           ascending. What is zeroed ends before it */
    char owner[RL_OWNER_MAX + 1];
};

/* Everything but the call's beginning (rl_call_begin), `group` and the handle, `lock`. The
 * options have been checked; the name stays the caller's. */
void rl_acquire_init(struct rl_acquire *acquire, redlock *client,
                     const struct rl_target *target, const redlock_options *options,
                     int64_t ttl_ms);

void rl_acquire_start(struct rl_acquire *acquire, int64_t now_ns);

/* ---- between acquire*.c only ---------------------------------------------------------- */

static inline struct rl_acquire *rl_acquire_of(struct rl_call *call)
{
    return (struct rl_acquire *)call;
}

/* What a lost round leaves behind: whether own grants and refusals kept it from a majority, and
 * the nodes that may still answer that it is queued there. */
struct rl_defeat {
    bool split;
    uint64_t silent;
};

/* What comes after a lost round: the end; connections first, as it came to nothing because some
 * were found broken; or a pause, or its place in the queue. */
enum rl_next { RL_NEXT_GIVE_UP, RL_NEXT_RECONNECT, RL_NEXT_WAIT };

/* acquire_round.c. A round is prepared among the nodes that are able (0, or why there is none),
 * and asked; then time passes, nodes answer, and what came of a lost one is told. None of these
 * changes the phase. */
int rl_acquire_round_begin(struct rl_acquire *acquire, uint64_t voting, int64_t now_ns);
void rl_acquire_round_ask(struct rl_acquire *acquire);
void rl_acquire_step_round(struct rl_acquire *acquire, int64_t now_ns);
void rl_acquire_await_votes(struct rl_acquire *acquire, int64_t now_ns);
void rl_acquire_on_vote(struct rl_call *call, struct rl_node *node, enum rl_verb verb,
                        const struct rl_vote_reply *vote_reply);
enum rl_next rl_acquire_round_lost(struct rl_acquire *acquire, struct rl_defeat *ret_defeat,
                                   int64_t now_ns);

/* acquire_bounds.c. Stand in the name's queue, if that is worth it (0, or why it is not
 * possible); when the try is to be over; is one over of those that it is tried with? Its
 * result. */
int rl_acquire_join_queue(struct rl_acquire *acquire, int64_t now_ns);
int64_t rl_acquire_last_ns(const struct rl_acquire *acquire, int64_t now_ns);
bool rl_acquire_ended(const struct rl_call *call);
int rl_acquire_conclude(struct rl_call *call, redlock_lock **ret_lock);

/* acquire_backoff.c. */

/* After a loss: until when to sleep. */
int64_t rl_acquire_sleep_until_ns(struct rl_acquire *acquire, const struct rl_defeat *defeat,
                                  int64_t now_ns);

/* Would a majority be heard that releases the lock? Will one tell of it, whatever one more node
 * has to say? */
bool rl_acquire_majority_listening(const struct rl_acquire *acquire);
bool rl_acquire_others_listening(const struct rl_acquire *acquire);

/* Is it queued at a majority, if the silent ones have queued it as well? */
bool rl_acquire_will_be_woken(const struct rl_acquire *acquire, uint64_t silent);

/* BACKOFF: it relies on being told. Would it still be: was a majority that has it in its queues
 * heard of a moment ago? Then, when to look again. */
bool rl_acquire_subscribers_alive(struct rl_acquire *acquire, int64_t now_ns);

/* Has a majority said that the lock was released? */
bool rl_acquire_woken(const struct rl_acquire *acquire);

/* When to ask after fewer wake-ups than a majority's, which are left to become one. */
int64_t rl_acquire_minority_wake_ns(const struct rl_acquire *acquire);

#endif
