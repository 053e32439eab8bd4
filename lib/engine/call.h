/* call.h - one call in progress. That of a blocking call lives on its caller's stack: the call
 * does not return before it is done. That of an asynchronous one is freed when its callback
 * has been told. */
#ifndef RL_CALL_H
#define RL_CALL_H

#include "engine/client.h"
#include "engine/report.h"

struct rl_call {
    struct rl_timer timer;       /* first: when step() must be called at the latest */
    struct rl_call *prev, *next; /* in client->calls.first */
    struct rl_call *backlog_prev, *backlog_next; /* in client->calls.backlog */
    bool in_backlog;
    redlock *client;
    struct rl_lease *lease; /* what it is about now; NULL: nothing */
    bool done;
    int result;
    struct rl_parked *parked; /* a thread sleeps there until it is done; or NULL */
    struct rl_report report;
    int64_t connect_until_ns; /* so long it may wait for connections, all in all */

    bool async;
    uint64_t id;
    struct rl_callback callback; /* async: that it is done */
    redlock_done_fn *on_done;
    void *context;

    /* Time passed, or a node has changed. */
    void (*step)(struct rl_call *call, int64_t now_ns);
    /* The lease's hold did something (RL_EV_*). NULL: does not care. */
    void (*on_hold_event)(struct rl_call *call, unsigned events, int64_t now_ns);
    /* A node answered (or failed: vote_reply->vote) the lease. NULL: does not care. */
    void (*on_vote)(struct rl_call *call, struct rl_node *node, enum rl_verb verb,
                    const struct rl_vote_reply *vote_reply);
    /* A node answered a PING. NULL: does not care. */
    void (*pinged)(struct rl_call *call, struct rl_node *node, int64_t round_trip_ns);
    /* redlock_shutdown() was called. NULL: does not care. */
    void (*cancel)(struct rl_call *call, int64_t now_ns);
    /* Is it to be cancelled for what happened outside of the client? Asked from time to time.
     * NULL: nothing there matters. */
    bool (*ended)(const struct rl_call *call);
    /* It is done, and whoever asked is there: the last words. */
    int (*conclude)(struct rl_call *call, redlock_lock **ret_lock);
};

/* Into the client's list. REDLOCK_ENOMEM. The caller has filled in the callbacks. */
int rl_call_begin(struct rl_call *call, redlock *client);

/* Memory for an asynchronous call: `size` bytes, which begin with it, of which the first
 * `zeroed` are. NULL: ENOMEM. Freed by rl_call_free(), which keeps some for the next. */
void *rl_call_new(redlock *client, size_t size, size_t zeroed, redlock_done_fn *done,
                  void *context);
void rl_call_free(redlock *client, void *call);
void rl_calls_free(redlock *client);

void rl_call_due(struct rl_call *call, int64_t due_ns);
void rl_call_finish(struct rl_call *call, int result);
void rl_call_finish_without_lease(struct rl_call *call,
                                  int result);            /* of its lease, and finish */
void rl_call_abort(struct rl_call *call, int64_t now_ns); /* the client is being closed */
void rl_call_end(struct rl_call *call);                   /* out of the client's list */

/* Is it worth waiting for more nodes than `voting`: until `until_ns` for those on their way,
 * until `crowd_ns` for those that have too much to do? Then the call is due again, or stands
 * in the backlog: first come, first served. */
bool rl_call_awaits_nodes(struct rl_call *call, uint64_t voting, int64_t until_ns,
                          int64_t backlog_ns, int64_t now_ns);

/* Nodes may have room again: let those of the backlog go on for whom there is. */
void rl_backlog_resume(redlock *client, int64_t now_ns);

/* Blocking: wait, conclude, end. */
int rl_call_wait(struct rl_call *call, redlock_lock **ret_lock);

#endif
