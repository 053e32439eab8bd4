/* acquire.h - one acquisition in progress. A try waits for nodes and asks them. After a
 * refusal it sleeps and asks again with a fresh token, until it has the lock or the caller's
 * time is over.
 *
 * The phases of a try are drawn in docs/ARCHITECTURE.md.
 *
 * A try that was refused joins the name's wait queue (wait_queue.h). The next round enters the
 * try into the queues of the nodes. The try then sleeps until a majority of them reports the
 * release.
 */
#ifndef RL_ACQUIRE_H
#define RL_ACQUIRE_H

#include "core/outcome.h"
#include "engine/lease/lease.h"

enum rl_acquire_phase { RL_ACQ_CONNECTING, RL_ACQ_ROUND, RL_ACQ_BACKOFF, RL_ACQ_QUEUED };

struct rl_acquire {
    struct rl_call call; /* first: the callbacks get this one */
    struct rl_waiter waiter;
    enum rl_acquire_phase phase;
    struct rl_target target;
    struct rl_group *group; /* or NULL */
    redlock_options options;
    int64_t ttl_ns;
    bool wait_forever, try_once;
    bool was_queued;   /* it was behind others in the wait queue */
    bool round_begun;  /* the first round has begun */
    bool wait_started; /* connecting is over; it does not count to the wait */
    uint64_t among;    /* ROUND: the nodes that could vote when it began */
    uint64_t broke;    /* ROUND: nodes whose connection broke in it */
    uint64_t able;     /* ROUND: nodes with nothing against them when it began but silence */
    uint64_t told;     /* ROUND: of these, those that have failed for certain */
    int64_t patience_ns; /* ROUND: nodes that are silent for less have not failed */
    struct rl_round last;    /* as it was lost; n is 0: there was none, or others came since */
    struct rl_finding found; /* by the last round that told anything, see core/outcome.h */
    int64_t began_ns;
    int64_t give_up_ns;            /* far away if there is no wait budget */
    int64_t nodes_since_ns;        /* CONNECTING: since when */
    bool connects;                 /* CONNECTING: it waits for connections */
    struct rl_pause pause;         /* BACKOFF */
    bool ordered_next;             /* the last round was split: ask one node first */
    bool ordered;                  /* this round asked one node first */
    int refused; /* for good, by the last round */
    int loss;    /* of the last round, silence counted as failure: how to go on */
    unsigned upgrades, wrong_type; /* nodes that refused for good, by reason */
    bool lacked_quorum;  /* too few nodes could be asked */
    bool split_holders;  /* nodes name two holders: perhaps neither has a majority */
    uint64_t holder;     /* hash of one holder; 0: none yet */
    uint64_t refusing;   /* ROUND: nodes that refused what a person must mend */
    int64_t hopeless_ns; /* since when these leave no majority; 0: they do not */
    bool foreign_holder; /* a holder of another library, whose release wakes nobody */
    struct redlock_lock *lock;
    struct rl_refusals refusals; /* of the last round. What is zeroed ends before its held_ns */
    uint64_t number[REDLOCK_NODES_MAX]; /* ROUND: see core/fence.h */
    char owner[RL_OWNER_MAX + 1];
};

/* Set all but `group` and `lock`, and do not begin the call (rl_call_begin). The options must
 * have been checked. The name stays the caller's. */
void rl_acquire_init(struct rl_acquire *acquire, redlock *client,
                     const struct rl_target *target, const redlock_options *options,
                     int64_t ttl_ms);

void rl_acquire_start(struct rl_acquire *acquire, int64_t now_ns);

/* ---- between acquire*.c only ---------------------------------------------------------- */

static inline struct rl_acquire *rl_acquire_of(struct rl_call *call)
{
    return (struct rl_acquire *)call;
}

/* What follows a refused round: the end; new connections, because some were found broken; or a
 * pause or a place in the wait queue. */
enum rl_next { RL_NEXT_GIVE_UP, RL_NEXT_RECONNECT, RL_NEXT_WAIT };

/* acquire_round.c. Prepare a round among the nodes that can vote (0, or why not) and send it.
 * Then handle time, votes, and at the end a refusal. Sending and the refusal need RL_ACQ_ROUND.
 * None of these changes the phase. */
int rl_acquire_round_begin(struct rl_acquire *acquire, uint64_t voting, int64_t now_ns);
void rl_acquire_round_ask(struct rl_acquire *acquire);
void rl_acquire_step_round(struct rl_acquire *acquire, int64_t now_ns);
void rl_acquire_await_votes(struct rl_acquire *acquire, int64_t now_ns);
void rl_acquire_on_vote(struct rl_call *call, struct rl_node *node, enum rl_verb verb,
                        const struct rl_vote_reply *vote_reply);
enum rl_next rl_acquire_round_lost(struct rl_acquire *acquire, struct rl_defeat *ret_defeat,
                                   int64_t now_ns);

/* The result of a try whose time is over. */
int rl_acquire_outcome(const struct rl_acquire *acquire, int64_t now_ns);

/* acquire_bounds.c. _join_queue: join the name's wait queue, if that is worth it; 0, or why
 * that is not possible. _enqueue: join it. _yields_until_ns: until when others go first, to
 * whom this client has just released the lock. _last_ns: when the try must end. _ended: has
 * another client of its group been shut down? _conclude: the result and the user's lock. */
int rl_acquire_join_queue(struct rl_acquire *acquire, int64_t now_ns);
int rl_acquire_enqueue(struct rl_acquire *acquire, int64_t now_ns);
int64_t rl_acquire_yields_until_ns(const struct rl_acquire *acquire);
int64_t rl_acquire_last_ns(const struct rl_acquire *acquire, int64_t now_ns);
bool rl_acquire_ended(const struct rl_call *call);
int rl_acquire_conclude(struct rl_call *call, redlock_lock **ret_lock);

#endif
