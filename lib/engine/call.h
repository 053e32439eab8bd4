/* call.h - one call in progress. That of a blocking call lives on its caller's stack: the call
 * does not return before it is done. That of an asynchronous one is freed when its callback
 * has been told. */
#ifndef RL_OP_H
#define RL_OP_H

#include "engine/client.h"
#include "engine/report.h"

struct rl_op {
    struct rl_timer timer;                 /* first: when step() must be called at the latest */
    struct rl_op *prev, *next;             /* in client->calls.first */
    struct rl_op *crowd_prev, *crowd_next; /* in client->calls.crowd */
    bool crowds;
    redlock *client;
    struct rl_claim *claim; /* what it is about now; NULL: nothing */
    bool done;
    int result;
    struct rl_sleeper *sleeper; /* a thread sleeps there until it is done; or NULL */
    struct rl_report report;
    int64_t connect_until_ns; /* so long it may wait for connections, all in all */

    bool async;
    uint64_t id;
    struct rl_notice notice; /* async: that it is done */
    redlock_done_fn *tell;
    void *context;

    /* Time passed, or a node has changed. */
    void (*step)(struct rl_op *op, int64_t now_ns);
    /* The claim's hold did something (RL_DID_*). NULL: does not care. */
    void (*did)(struct rl_op *op, unsigned did, int64_t now_ns);
    /* A node answered (or failed: judged->vote) the claim. NULL: does not care. */
    void (*heard)(struct rl_op *op, struct rl_node *node, enum rl_verb verb,
                  const struct rl_judged *judged);
    /* A node answered a PING. NULL: does not care. */
    void (*pinged)(struct rl_op *op, struct rl_node *node, int64_t round_trip_ns);
    /* redlock_shutdown() was called. NULL: does not care. */
    void (*cancel)(struct rl_op *op, int64_t now_ns);
    /* Is it to be cancelled for what happened outside of the client? Asked from time to time.
     * NULL: nothing there matters. */
    bool (*ended)(const struct rl_op *op);
    /* It is done, and whoever asked is there: the last words. */
    int (*conclude)(struct rl_op *op, redlock_lock **ret_lock);
};

/* Into the client's list. REDLOCK_ENOMEM. The caller has filled in the callbacks. */
int rl_op_begin(struct rl_op *op, redlock *client);

/* An op of an asynchronous call: `size` bytes, which begin with it, of which the first `zeroed`
 * are. NULL: ENOMEM. Freed by rl_op_free(), which keeps some for the next. */
void *rl_op_new(redlock *client, size_t size, size_t zeroed, redlock_done_fn *tell,
                void *context);
void rl_op_free(redlock *client, void *op);
void rl_ops_free(redlock *client);

void rl_op_due(struct rl_op *op, int64_t due_ns);
void rl_op_finish(struct rl_op *op, int result);
void rl_op_let_go(struct rl_op *op, int result);    /* of its claim, and finish */
void rl_op_abort(struct rl_op *op, int64_t now_ns); /* the client is being closed */
void rl_op_end(struct rl_op *op);                   /* out of the client's list */

/* Is it worth waiting for more nodes than `able`: until `until_ns` for those on their way,
 * until `crowd_ns` for those that have too much to do? Then the op is due again, or stands
 * in the crowd: first come, first served. */
bool rl_op_awaits_nodes(struct rl_op *op, uint64_t able, int64_t until_ns, int64_t crowd_ns,
                        int64_t now_ns);

/* Nodes may have room again: let those of the crowd go on for whom there is. */
void rl_ops_go_on(redlock *client, int64_t now_ns);

/* Blocking: wait, conclude, end. */
int rl_op_wait(struct rl_op *op, redlock_lock **ret_lock);

#endif
