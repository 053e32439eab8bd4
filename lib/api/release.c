/* release.c - giving a lock up: the handle is consumed, whatever the masters say. */
#include "config_auto.h"

#include "engine/lease.h"

static void release_did(struct rl_op *op, unsigned did, int64_t now_ns)
{
    (void)now_ns;
    if (did & RL_DID_FINISH)
        rl_op_let_go(op, rl_hold_release_result(&op->claim->hold));
}

static void release_step(struct rl_op *op, int64_t now_ns)
{
    rl_op_due(op, rl_hold_next_ns(&op->claim->hold));
    rl_claim_tick(op->claim, now_ns);
}

static int release_conclude(struct rl_op *op, redlock_lock **ret_lock)
{
    (void)ret_lock; /* there is none any more */
    return op->result;
}

/* How long answers to a release are waited for: a node's share of the TTL; where masters are
 * on their way, connecting has its own budget. */
static int64_t release_budget_ns(redlock *client, const struct rl_claim *claim, int64_t now_ns)
{
    uint64_t able = rl_nodes_able(&client->nodes, now_ns);
    int64_t budget = rl_nodes_budget_ns(&client->nodes, able, claim->hold.ttl_ns);
    if (budget < 0)
        budget = claim->hold.ttl_ns;
    if (rl_count(able) < rl_quorum_needed(client->nodes.n) &&
        rl_nodes_pending(&client->nodes) > 0)
        budget += client->nodes.settings.connect_timeout_ns;
    return budget;
}

/* The handle's claim, taken from it: whoever else comes finds it not held. An extension
 * that another caller waits for has lost against the release. `ret_over`: too late, its time
 * was over. NULL: not held by it. */
static struct rl_claim *take_claim(struct redlock_lock *lock, int64_t now_ns, bool *ret_over)
{
    /* A callback that tells of its loss must not find it gone, or run after this. */
    rl_notice_wait(lock->client, lock);
    struct rl_claim *claim = lock->claim;
    if (!claim)
        return NULL;
    rl_notice_drop(lock->client, &lock->lost);
    atomic_store(&lock->deadline_ns, 0);
    lock->claim = NULL;
    claim->lock = NULL;
    *ret_over = rl_watch_over(claim, now_ns);
    rl_watch_end(claim);
    if (claim->op)
        rl_op_let_go(claim->op, REDLOCK_ENOTHELD);
    return claim;
}

/* Is there anything left to give up? If not, the claim is done with. */
static bool ours(struct rl_claim *claim, bool over, int64_t now_ns)
{
    if (claim->hold.phase != RL_HOLD_HELD) {
        rl_claim_disown(claim, now_ns);
        return false;
    }
    if (over) {
        claim->client->stats.lost++;
        rl_claim_release(claim, now_ns, 0);
        return false;
    }
    return true;
}

/* The releases are queued: the next one of this client's own that waits asks right behind. */
static void release(struct rl_claim *claim, int64_t now_ns)
{
    redlock *client = claim->client;
    claim->budget_ns = release_budget_ns(client, claim, now_ns);
    rl_claim_enter(claim);
    rl_claim_release(claim, now_ns, now_ns + claim->budget_ns);
    rl_line_freed(client, &claim->target, now_ns);
    if (claim->contended)
        rl_line_part(client, &claim->target, now_ns);
    rl_claim_leave(claim, now_ns);
}

static int release_and_wait(redlock *client, struct rl_claim *claim, int64_t now_ns)
{
    struct rl_op op = {.claim = claim, .step = release_step, .did = release_did};
    if (rl_op_begin(&op, client)) { /* out of memory, but not out of releases */
        release(claim, now_ns);
        return REDLOCK_EUNCONFIRMED;
    }
    claim->op = &op;
    release(claim, now_ns);
    if (!op.done)
        rl_op_due(&op, rl_hold_next_ns(&claim->hold));
    rl_loop_submit(client, now_ns);
    return rl_op_wait(&op, NULL);
}

int redlock_release(redlock_lock *lock)
{
    int cancel_state;
    if (!lock)
        return REDLOCK_OK;
    redlock *client = lock->client;
    int result = rl_client_enter_blocking(client, &cancel_state);
    if (result)
        return result;
    int64_t now_ns = rl_loop_catch_up(client); /* unlocks: the handle is looked at after it */
    bool over;
    struct rl_claim *claim = take_claim(lock, now_ns, &over);
    if (!claim) {
        rl_client_leave_blocking(client, cancel_state);
        return REDLOCK_ENOTHELD;
    }
    result = ours(claim, over, now_ns) ? release_and_wait(client, claim, now_ns)
                                       : REDLOCK_EEXPIRED;
    rl_lock_recycle(lock);
    rl_client_leave_blocking(client, cancel_state);
    return result;
}

/* ---- asynchronous --------------------------------------------------------------------- */

/* With `done`, an op that waits for the outcome; without, the claim goes its way alone. */
static int release_async(redlock *client, struct rl_claim *claim, bool over, int64_t now_ns,
                         redlock_done_fn *done, void *context)
{
    int result = done ? rl_drive_need(client) : 0;
    struct rl_op *op = NULL;
    if (done && result == 0) {
        op = rl_op_new(client, sizeof(*op), sizeof(*op), done, context);
        result = op && rl_op_begin(op, client) == 0 ? 0 : REDLOCK_ENOMEM;
    }
    if (result) {
        rl_op_free(client, op);
        op = NULL;
    }
    if (op) {
        op->step = release_step;
        op->did = release_did;
        op->conclude = release_conclude;
    }
    if (!ours(claim, over, now_ns)) {
        if (op)
            rl_op_finish(op, REDLOCK_EEXPIRED);
        return result;
    }
    if (op) {
        op->claim = claim;
        claim->op = op;
    }
    release(claim, now_ns);
    if (op && !op->done)
        rl_op_due(op, rl_hold_next_ns(&claim->hold));
    return result;
}

int redlock_release_async(redlock_lock *lock, redlock_done_fn *done, void *context)
{
    int cancel_state;
    if (!lock)
        return REDLOCK_EINVAL;
    redlock *client = lock->client;
    int result = rl_client_enter(client, &cancel_state);
    if (result)
        return result;
    bool over;
    int64_t now_ns = rl_client_now_ns(client);
    struct rl_claim *claim = take_claim(lock, now_ns, &over);
    if (claim) {
        result = release_async(client, claim, over, now_ns, done, context);
        rl_lock_recycle(lock);
    } else {
        result = REDLOCK_ENOTHELD;
    }
    rl_client_leave(client, cancel_state);
    return result;
}
