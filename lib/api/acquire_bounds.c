/* acquire_bounds.c - where a try begins and where it ends: its place in a line, its last
 * moment, and what its caller gets. */
#include "config_auto.h"

#include "api/acquire.h"
#include "api/try.h"

/* Stand in the name's line, where there is one, or where waiting can be expected to be worth
 * one: then a first round that is lost has entered the masters' queues already. Who may have
 * the lock by its owner asks first: it must not wait for those who wait for itself. */
int rl_attempt_line_up(struct rl_attempt *attempt, int64_t now_ns)
{
    redlock *client = attempt->op.client;
    const struct rl_kind *kind = attempt->target.kind;
    bool joins = kind->queues_at_once;
    if (attempt->once)
        return 0;
    if (!rl_kind_owned(kind))
        joins = rl_count(client->subs.listening) >= rl_quorum_needed(client->nodes.n) ||
                rl_line_find(client, &attempt->target);
    return joins ? rl_line_join(client, &attempt->waiter, &attempt->target, now_ns) : 0;
}

/* When it is to be over. Who asks once takes no longer than those beside him who wait. */
int64_t rl_attempt_last_ns(const struct rl_attempt *attempt, int64_t now_ns)
{
    int64_t wait_ms = attempt->options.wait_ms;
    if (attempt->once && attempt->beside)
        return attempt->beside->left_ns == INT64_MAX ? INT64_MAX
                                                     : now_ns + attempt->beside->left_ns;
    if (attempt->once || attempt->forever)
        return INT64_MAX;
    if (wait_ms > RL_DURATION_MAX_MS)
        return INT64_MAX / 2; /* to which connecting is added */
    return now_ns + wait_ms * RL_NS_PER_MS;
}

size_t rl_beside_ended(const struct rl_beside *beside)
{
    size_t i = 0;
    while (i < beside->count && !atomic_load(&beside->clients[i]->calls.canceled))
        i++;
    return i;
}

/* Of the clients that it is tried on together, one is cancelled or is being closed. */
bool rl_attempt_ended(const struct rl_op *op)
{
    const struct rl_attempt *attempt = (const struct rl_attempt *)op;
    return rl_beside_ended(attempt->beside) < attempt->beside->count;
}

/* A lock that was won may have run out while the winner's thread did not run. */
int rl_attempt_conclude(struct rl_op *op, redlock_lock **ret_lock)
{
    struct rl_attempt *attempt = rl_attempt_of(op);
    struct redlock_lock *lock = attempt->lock;
    struct rl_claim *claim = op->claim;
    int result = op->result;
    if (result == REDLOCK_OK) {
        int64_t now_ns = rl_client_now_ns(op->client);
        lock->claim = claim;
        if (!rl_watch_over(claim, now_ns)) {
            *ret_lock = lock;
            return REDLOCK_OK;
        }
        result = REDLOCK_ENOQUORUM;
        claim->lock = NULL;
        if (claim->hold.phase == RL_HOLD_HELD)
            rl_claim_release(claim, now_ns, 0);
        else
            rl_claim_disown(claim, now_ns);
    }
    rl_lock_recycle(lock);
    return result;
}
