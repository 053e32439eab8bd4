/* call.h - one call in progress. A blocking call lives on its caller's stack and returns when
 * it is done. An asynchronous one is freed before its callback runs. */
#ifndef RL_CALL_H
#define RL_CALL_H

#include "engine/client/client.h"
#include "engine/loop/report.h"

/* Waiters that calls have beside the wait queues have numbers above all of those. */
#define RL_CALL_NUMBERS (UINT64_C(1) << 63)

struct rl_call {
    struct rl_timer timer;   /* first: when step() must be called at the latest */
    struct rl_entry entry;   /* in client->calls.all */
    struct rl_entry backlog; /* in client->calls.backlog, or in none */
    redlock *client;
    struct rl_voters *voters; /* on its name */
    struct rl_lease *lease;   /* that it works on now; NULL: none */
    bool done;
    bool async;
    int result;
    struct rl_parked *parked; /* its thread sleeps there until it is done; or NULL */

    /* Time passed, or a node has changed. */
    void (*step)(struct rl_call *call, int64_t now_ns);
    /* The lease's hold has changed (RL_EV_*). May be NULL. */
    void (*on_hold_event)(struct rl_call *call, unsigned events, int64_t now_ns);
    /* A node answered the lease's request, or failed. May be NULL. */
    void (*on_vote)(struct rl_call *call, struct rl_node *node, enum rl_verb verb,
                    const struct rl_vote_reply *vote_reply);
    /* A node answered a PING. May be NULL. */
    void (*pinged)(struct rl_call *call, struct rl_node *node, int64_t round_trip_ns);
    /* A node wakes the waiter of that number, which is above RL_CALL_NUMBERS. False: it is not
     * the call's. May be NULL. */
    bool (*woken)(struct rl_call *call, unsigned node, uint64_t number);
    /* redlock_shutdown() or redlock_cancel() was called. May be NULL. */
    void (*cancel)(struct rl_call *call, int64_t now_ns);
    /* Must it be cancelled because of another client's shutdown? Polled. May be NULL. */
    bool (*ended)(const struct rl_call *call);
    /* It is done: make the result, and the user's lock if there is one. May be NULL. */
    int (*conclude)(struct rl_call *call, redlock_lock **ret_lock);

    struct rl_callback callback; /* async: reports that it is done */
    redlock_done_fn *on_done;
    void *context;
    uint64_t id;
    int64_t connect_until_ns; /* it may wait for connections until then */
    struct rl_report report;
};

/* Enter the client's list. 0 or REDLOCK_ENOMEM. The caller must have set the handlers. */
int rl_call_begin(struct rl_call *call, redlock *client);

/* Make an asynchronous call of `size` bytes, the first `zeroed` of them 0. The call is their
 * first member. NULL: no memory. rl_call_free() frees it, or keeps it for the next. */
void *rl_call_new(struct rl_calls *calls, size_t size, size_t zeroed, redlock_done_fn *done,
                  void *context);
void rl_call_free(struct rl_calls *calls, void *call);
void rl_calls_free(struct rl_calls *calls);

/* Call step() at that time. */
void rl_call_due(struct rl_call *call, int64_t due_ns);

/* It is done, and has no lease. Else: rl_call_finish_without_lease() in lease.h. */
void rl_call_finish(struct rl_call *call, int result);

static inline bool rl_call_in_backlog(const struct rl_call *call)
{
    return rl_list_has(&call->client->calls.backlog, &call->backlog);
}

/* Is it worth waiting for more nodes than `voting`, of which these are `of_use`? Connections
 * are waited for until `until_ns`, nodes that have too many requests until `backlog_ns`. If
 * so, the call is due again, or it joins the backlog, which is served in order. */
bool rl_call_awaits_nodes(struct rl_call *call, uint64_t voting, uint64_t of_use,
                          int64_t until_ns, int64_t backlog_ns, int64_t now_ns);

/* Nodes may have room again: resume calls of the backlog while they have. */
void rl_backlog_resume(struct rl_calls *calls, int64_t now_ns);

/* Blocking: send what it has queued by now, wait, conclude, end. */
int rl_call_wait(struct rl_call *call, int64_t now_ns, redlock_lock **ret_lock);

#endif
