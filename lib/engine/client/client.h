/* client.h - what a client is made of, and how its parts meet. Internal.
 *
 *   call        one call of the user: waits for nodes, for a round, for time (call.h)
 *   lease       one token on the nodes: a hold (core) and its requests (lease.h)
 *   node        one master (node.h)
 *   subscriber  the connection that tells of its releases (subscriber.h)
 *   wait queue  the calls that wait for one name, in their order (wait_queue.h)
 *   lock        the user's lock: refers to the lease, and knows the deadline by itself
 *   callback    a report to the user that is still to be made (callbacks.h)
 *
 * This header has the structs alone. What each part does is in its own header, which its users
 * include; how a public call enters a client is in enter.h.
 *
 * One mutex guards all of it. The mutex must not be held across a wait or a callback. The
 * first thread that waits becomes the leader: it runs the loop for all (leader.c, loop.c). If
 * no thread waits, the user's event loop or the background thread runs it (background.c).
 */
#ifndef RL_CLIENT_H
#define RL_CLIENT_H

#include "base/clock.h"
#include "base/fork_check.h"
#include "base/timer_heap.h"
#include "core/driven.h"
#include "core/gather.h"
#include "endpoint/endpoints.h"
#include "engine/client/callbacks.h"
#include "engine/client/log.h"
#include "engine/client/parking.h"
#include "engine/client/tally.h"
#include "engine/masters/certify.h"
#include "engine/masters/duplicates.h"
#include "engine/masters/lists_told.h"
#include "engine/masters/nodes.h"
#include "engine/masters/voters.h"
#include "engine/wait/subscribers.h"
#include "engine/wait/wait_queue.h"
#include "node/node.h"
#include "node/request.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

struct rl_call;
struct rl_lease;

/* A user's lock, until the client closes: a late thread finds "not held", and no other lock. */
struct redlock_lock {
    struct rl_shown shown;
    redlock *client;
    struct rl_lease *lease;  /* NULL: not held */
    struct rl_callback lost; /* enqueued once, when the lock is lost */
    redlock_lost_fn *on_lost;
    void *lost_context;
    atomic_bool lazy;               /* REDLOCK_RELEASE_LAZY */
    _Atomic uint64_t fencing_token; /* 0: none */
    struct rl_entry free;           /* in client->locks.free, or in none */
    struct rl_entry all;
};

/* The loop calls these (engine.c). The mutex is held. */
struct rl_loop_hooks {
    void (*tick)(redlock *client, int64_t now_ns);      /* do all that is due */
    void (*flush)(redlock *client, int64_t now_ns);     /* send all that is queued */
    bool (*unflushed)(const redlock *client);           /* is there anything to be sent? */
    int64_t (*due_ns)(redlock *client);                 /* when to tick next */
    bool (*overdue)(redlock *client, int64_t now_ns);   /* is an answer of some node? */
    void (*absent)(redlock *client, int64_t absent_ns); /* nobody polled for so long */
};

/* The client's identity, as masters and other users see it. */
struct rl_client_identity {
    struct rl_fork_check fork_check;
    char uuid[RL_UUID_LEN + 1];
    char holder[RL_CLIENT_NAME_MAX + 1]; /* the end of its tokens */
    /* These decide whether a handle's text is valid: this boot, its clock, and when that clock
     * last went back. A text written earlier may be from before the step. */
    char boot_id[37];
    int64_t clock_offset; /* rl_clock_offset() */
    int64_t texts_since_ns;
};

/* loop.c, leader.c */
struct rl_loop {
    const struct rl_loop_hooks *hooks;
    int epoll_fd;
    int wake_fd;
    struct rl_tag wake_tag;
    struct rl_timers timers;
    struct rl_call *leader;
    bool named;                /* by the leader before it: its thread has not woken yet */
    bool polling;              /* the leader waits for descriptors */
    bool blind;                /* one of ours is not ours any more: that is logged once */
    int64_t poll_deadline_ns;  /* until then at the longest */
    int64_t last_caller_ns;    /* when a blocking call last looked at its descriptors */
    struct rl_parking parking; /* threads that sleep while another one leads */
    struct rl_gather gather;   /* those that are expected back */
    int64_t seen_epoch;        /* the clock's, up to which engine.c has told of losses */
    struct rl_driven driven;   /* when somebody polled */
    int64_t absent_ns;         /* in all, nobody ran it for so long */
    int64_t suspended_ns;      /* rl_clock_suspended_ns(), when such a time had ended last */
};

/* background.c */
struct rl_background {
    int kick_fd;  /* wakes the event loop or thread; -1: none was made */
    int outer_fd; /* redlock_fd(): epoll_fd, kick_fd and alarm_fd */
    bool kicked;
    int alarm_fd;     /* wakes them at alarm_ns, without a wake-up before; -1: none yet */
    int64_t alarm_ns; /* INT64_MAX: not set */
    bool user_driven; /* the user's event loop runs it, on `loop_thread` */
    pthread_t loop_thread;
    bool sent;          /* a try on that thread, since the loop's last turn */
    bool deferred;      /* tries that have been queued since leave with the next call or turn */
    bool running, stop; /* the background thread */
    bool refused;       /* it could not be started, and the log says so */
    bool hands_off;     /* it does not poll the descriptors: callers do, or nobody */
    pthread_t thread;
    int64_t sleeps_until_ns; /* it sleeps until then; INT64_MIN: it is awake */
};

/* call.c */
struct rl_calls {
    struct rl_list all;     /* in progress, newest first */
    struct rl_list backlog; /* waiting until fewer requests are in flight */
    unsigned callers;       /* blocking calls that are in progress */
    pthread_cond_t idle;    /* signalled when that becomes 0 */
    unsigned async_count;
    uint64_t last_id;              /* of an asynchronous call */
    struct rl_block *spare_blocks; /* where asynchronous calls have lived */
    unsigned spare_block_count;
    atomic_bool canceled;
    bool cancel_seen;
    bool closing; /* redlock_close() has begun: no call begins any more */
};

/* Of redlock_probe(). */
struct rl_probes {
    unsigned running;
    uint64_t count; /* of all probes so far */
};

/* lease*.c, renewal.c */
struct rl_leases {
    struct rl_list open;      /* asking or held */
    struct rl_list releasing; /* ended; a node may still have their key */
    unsigned releasing_count;
    int64_t release_retry_ns; /* when to look at those; INT64_MAX: no need */
    struct rl_list spare;
    struct rl_hash_table named; /* open ones of kinds with owners, by name */
    unsigned renewals;          /* leases that are renewed, or whose loss is reported */
    struct rl_timers waiting;   /* those that are due, by when they are lost */
    unsigned renewing, at_once; /* extension rounds under way, and how many there may be */
    unsigned starving;          /* renewals that lack a quorum of nodes */
    unsigned char random[512];
    unsigned random_left;
};

/* Do renewals wait for their turn? Then what is not urgent waits as well. */
static inline bool rl_renewals_wait(const struct rl_leases *leases)
{
    return leases->waiting.count > 0;
}

/* cork.c */
struct rl_cork {
    bool ready; /* there is a timer, and a thread or an event loop that runs it */
    bool on;    /* only releases are queued at the nodes, and they wait for company */
    struct rl_timer timer;
    struct rl_entry entry; /* in the list of those that are flushed when the process ends */
};

/* lock.c: the pool of users' locks. */
struct rl_locks {
    struct rl_list free; /* first freed, first used again */
    unsigned free_count;
    struct rl_list all;
};

struct redlock {
    struct rl_client_identity identity;
    struct rl_clock clock;
    pthread_mutex_t mutex;
    struct rl_config config;
    struct rl_log log;
    struct rl_prng prng;
    struct rl_loop loop;
    struct rl_background background;
    struct rl_callbacks callbacks;
    struct rl_calls calls;

    struct rl_node_settings node_settings;
    struct rl_nodes nodes;
    struct rl_endpoints endpoints;
    struct rl_voters voters; /* all of `nodes`, on every name */
    struct rl_proof duplicates;
    struct rl_certificates certifying;
    struct rl_wait_queues wait_queues;
    struct rl_subs subs;
    struct rl_probes probes;
    struct rl_requests requests;
    struct rl_leases leases;
    struct rl_cork cork;
    struct rl_lists_told lists_told;
    struct rl_tallies tallies;
    struct rl_locks locks;
    redlock_stats stats;
};

/* The client's time. All parts of a client must use this clock. */
static inline int64_t rl_client_now_ns(redlock *client)
{
    return rl_clock_steady_ns(&client->clock);
}

#endif
