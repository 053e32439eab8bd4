/* release.c - giving a lock up: the handle is consumed, whatever the masters say. */
#include "config_auto.h"

#include "claim.h"
#include "clock.h"
#include "op.h"

static void release_did(struct rl_op *op, unsigned did, int64_t now_ns)
{
    (void)now_ns;
    if (did & RL_DID_FINISH)
        rl_op_let_go(op, rl_hold_release_result(&op->claim->hold));
}

static void release_step(struct rl_op *op, int64_t now_ns)
{
    op->due_ns = rl_hold_next_ns(&op->claim->hold);
    rl_claim_tick(op->claim, now_ns);
}

/* How long answers to a release are waited for: a node's share of the TTL; where masters are
 * on their way, connecting has its own budget. */
static int64_t release_budget_ns(redlock *client, const struct rl_claim *claim, int64_t now_ns)
{
    uint64_t able = rl_client_able(client, now_ns);
    int64_t budget = rl_node_budget_ns(claim->hold.ttl_ns, client->n,
                                       client->config.node_timeout_ms * RL_NS_PER_MS,
                                       rl_client_round_trip_ns(client, able));
    if (budget < 0)
        budget = claim->hold.ttl_ns;
    if (rl_count(able) < rl_quorum_needed(client->n) && rl_client_pending(client) > 0)
        budget += client->settings.connect_timeout_ns;
    return budget;
}

static int release_and_wait(redlock *client, struct rl_claim *claim, int64_t now_ns)
{
    struct rl_op op;
    rl_op_begin(&op, client);
    op.claim = claim;
    op.step = release_step;
    op.did = release_did;
    claim->op = &op;
    claim->budget_ns = release_budget_ns(client, claim, now_ns);
    op.due_ns = now_ns + claim->budget_ns;
    rl_claim_release(claim, now_ns, now_ns + claim->budget_ns);
    rl_loop_flush(client, now_ns);
    rl_loop_wait(client, &op);
    rl_op_end(&op);
    if (op.result == REDLOCK_OK)
        client->stats.released++;
    return op.result;
}

/* The handle's claim, taken from it: whoever else comes finds it not held. An extension
 * that another thread waits for has lost against the release. */
static struct rl_claim *take_claim(struct redlock_lock *lock)
{
    struct rl_claim *claim = lock->claim;
    atomic_store(&lock->deadline_ns, 0);
    lock->claim = NULL;
    claim->lock = NULL;
    if (claim->op)
        rl_op_let_go(claim->op, REDLOCK_ENOTHELD);
    return claim;
}

int redlock_release(redlock_lock *lock)
{
    int cancel_state;
    if (!lock)
        return REDLOCK_OK;
    redlock *client = lock->client;
    int result = rl_client_enter(client, &cancel_state);
    if (result)
        return result;
    int64_t now_ns = rl_loop_catch_up(client); /* unlocks: the handle is looked at after it */
    if (!lock->claim) {
        rl_client_leave(client, cancel_state);
        return REDLOCK_ENOTHELD;
    }
    struct rl_claim *claim = take_claim(lock);
    if (claim->hold.phase != RL_HOLD_HELD) {
        result = REDLOCK_EEXPIRED;
        rl_claim_let_go(claim, now_ns);
    } else if (rl_hold_over(&claim->hold, now_ns)) {
        result = REDLOCK_EEXPIRED;
        client->stats.lost++;
        rl_claim_release(claim, now_ns, 0);
    } else {
        result = release_and_wait(client, claim, now_ns);
    }
    rl_lock_recycle(lock);
    rl_client_leave(client, cancel_state);
    return result;
}
