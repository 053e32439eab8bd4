/* client.h - what a client is made of, and how its parts meet. Internal.
 *
 *   op     one call of a user's: waits for nodes, for a round, for time (op.h)
 *   claim  one token on the nodes: a hold (core) and the requests that carry it (claim.h)
 *   node   one master (node.h)
 *   lock   the handle a user has: finds the claim, and knows the deadline by itself
 *
 * One mutex guards it all; it is never held across a wait. Whoever waits first leads: runs
 * the loop for everybody, the mutex dropped while in epoll_wait. See loop.c.
 */
#ifndef RL_CLIENT_H
#define RL_CLIENT_H

#include "node.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

struct rl_op;
struct rl_claim;

/* A user's handle. The memory stays a handle until the client closes, so that a thread that
 * comes too late finds "not held", and not somebody else's memory. */
struct redlock_lock {
    _Atomic int64_t deadline_ns; /* 0: not valid */
    redlock *client;
    struct rl_claim *claim; /* NULL: not held by this handle (any more) */
    struct redlock_lock *next_free;
    struct redlock_lock *next_all;
};

#define RL_RANDOM_POOL 512

struct redlock {
    pid_t pid;
    pthread_mutex_t mutex;
    struct rl_config config;
    redlock_log_fn *log;
    void *log_context;
    int log_level;

    int epoll_fd;
    int wake_fd;
    atomic_bool canceled;
    bool closing;

    unsigned n;
    struct rl_node *nodes;
    struct rl_node_settings settings;
    struct rl_prng prng;
    char sha[RL_VERBS][41]; /* of the plain kind's scripts */

    int64_t opened_ns;
    int64_t majority_ns; /* when a majority was first able to vote; 0: not yet */
    bool warm;           /* a round has been begun */
    int64_t turned_ns;   /* when the loop last looked at its descriptors */

    struct rl_op *ops; /* calls in progress, newest first */
    struct rl_op *leader;

    struct rl_claim *claims; /* not settled */
    struct rl_claim *spare_claims;
    int64_t sweep_ns; /* when to look for claims whose keys have run out; INT64_MAX: none */
    unsigned ending;  /* claims in ENDING */
    struct redlock_lock *free_locks, *free_locks_tail; /* first freed, first used again */
    unsigned free_lock_count;
    struct redlock_lock *all_locks;

    uint64_t nonce;
    unsigned char random[RL_RANDOM_POOL];
    unsigned random_left;
    char boot_id[37];
    char holder[RL_CLIENT_NAME_MAX + 1]; /* what tokens end in */

    redlock_stats stats;
};

/* Enter and leave a public call: fork check, mutex, and no thread cancellation in between
 * (a thread that vanished in epoll_wait would leave the others without a leader).
 * 0, REDLOCK_EFORK, or REDLOCK_EDEADLK (called back from within the client). */
int rl_client_enter(redlock *client, int *ret_cancel_state);
void rl_client_leave(redlock *client, int cancel_state);

void rl_client_log(void *client, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The nodes that can vote now; and how many are still on their way for the first time. */
uint64_t rl_client_able(redlock *client, int64_t now_ns);
unsigned rl_client_pending(redlock *client);

/* The round trip within which a majority of `nodes` answers; 0: unknown. */
int64_t rl_client_round_trip_ns(redlock *client, uint64_t nodes);

/* Are all nodes that a round could need as ready as they will be? See loop.c. */
bool rl_client_ready(redlock *client, uint64_t able, int64_t now_ns, int64_t *ret_until_ns);

/* loop.c: send what is queued; see to timers; wait until the op is done. Mutex held. */
bool rl_loop_unflushed(const redlock *client);
void rl_loop_flush(redlock *client, int64_t now_ns);
void rl_loop_tick(redlock *client, int64_t now_ns);
/* What has come in meanwhile is handled; catch_up: only after a long time of not looking. */
int64_t rl_loop_look(redlock *client);
int64_t rl_loop_catch_up(redlock *client);
void rl_loop_wait(redlock *client, struct rl_op *op);
void rl_loop_linger(redlock *client, int64_t until_ns);
extern const struct rl_node_events rl_client_events;

/* Handles. NULL: out of memory. */
struct redlock_lock *rl_lock_new(redlock *client);
void rl_lock_recycle(struct redlock_lock *lock);

/* With the client entered: why this handle can't be worked on (ENOTHELD, EBUSY), or 0. */
int rl_lock_check(const struct redlock_lock *lock);

#endif
