/* lock.c - what is done with a lock that is held: look, extend, release, hand over. */
#include "config_auto.h"

#include "claim.h"
#include "clock.h"
#include "handle.h"
#include "op.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- handles -------------------------------------------------------------------------- */

struct redlock_lock *rl_lock_new(redlock *client)
{
    struct redlock_lock *lock = client->free_locks;
    /* Freed handles wait their turn, so that a stale one is found out for as long as can be. */
    if (lock && client->free_lock_count > RL_HANDLES_RESTING) {
        client->free_locks = lock->next_free;
        client->free_lock_count--;
    } else {
        lock = calloc(1, sizeof(*lock));
        if (!lock)
            return NULL;
        lock->client = client;
        lock->next_all = client->all_locks;
        client->all_locks = lock;
    }
    lock->next_free = NULL;
    return lock;
}

void rl_lock_recycle(struct redlock_lock *lock)
{
    redlock *client = lock->client;
    atomic_store(&lock->deadline_ns, 0);
    lock->claim = NULL;
    lock->next_free = NULL;
    if (client->free_lock_count++ == 0)
        client->free_locks = lock;
    else
        client->free_locks_tail->next_free = lock;
    client->free_locks_tail = lock;
}

/* The order matters: the deadline first and the clock last. The other way round, a pause
 * between the two and a deadline that has grown meanwhile could make a late yes. */
int64_t redlock_validity_ms(const redlock_lock *lock)
{
    if (!lock)
        return 0;
    int64_t deadline_ns = atomic_load(&lock->deadline_ns);
    if (deadline_ns == 0 || getpid() != lock->client->pid)
        return 0;
    int64_t left_ns = deadline_ns - rl_clock_now_ns();
    return left_ns > 0 ? left_ns / RL_NS_PER_MS : 0;
}

const char *redlock_token(const redlock_lock *lock)
{
    return lock && lock->claim ? lock->claim->token : "";
}

const char *redlock_name(const redlock_lock *lock, size_t *ret_len)
{
    bool held = lock && lock->claim;
    if (ret_len)
        *ret_len = held ? lock->claim->name_len : 0;
    return held ? lock->claim->name : "";
}

/* The handle lets go of its claim and rests. */
static void unhand(struct redlock_lock *lock, struct rl_claim *claim, int64_t now_ns)
{
    claim->lock = NULL;
    rl_lock_recycle(lock);
    rl_claim_let_go(claim, now_ns);
}

/* ---- extend --------------------------------------------------------------------------- */

struct extend {
    struct rl_op op; /* first */
    int64_t ttl_ns;
    int64_t nodes_until_ns;
    bool asked;
};

static void finish(struct rl_op *op, int result)
{
    struct rl_claim *claim = op->claim;
    op->claim = NULL;
    claim->op = NULL;
    rl_op_finish(op, result);
}

static void extend_did(struct rl_op *op, unsigned did, int64_t now_ns)
{
    if (!(did & (RL_DID_EXTEND | RL_DID_DIE | RL_DID_NOT_EXTEND)))
        return;
    rl_report_end(op, &op->claim->hold.extend, now_ns);
    if (did & RL_DID_EXTEND)
        finish(op, REDLOCK_OK);
    else if (did & RL_DID_DIE)
        finish(op, REDLOCK_EEXPIRED);
    else
        finish(op, REDLOCK_ENOQUORUM);
}

static void extend_heard(struct rl_op *op, struct rl_node *node, enum rl_verb verb,
                         const struct rl_judged *judged)
{
    static const int votes[] = {
        [RL_VOTE_YES] = REDLOCK_VOTE_GRANTED,
        [RL_VOTE_NO] = REDLOCK_VOTE_FREE,
        [RL_VOTE_FAILED] = REDLOCK_VOTE_FAILED,
    };
    if (verb == RL_EXTEND)
        rl_report_vote(op, node->index, votes[judged->vote], judged);
}

static void extend_start(struct extend *extend, uint64_t able, int64_t now_ns)
{
    struct rl_op *op = &extend->op;
    struct rl_claim *claim = op->claim;
    redlock *client = op->client;
    int64_t left = claim->hold.deadline_ns - now_ns;
    if (left <= 0) {
        rl_claim_release(claim, now_ns, 0);
        finish(op, REDLOCK_EEXPIRED);
        return;
    }
    int64_t budget = rl_node_budget_ns(left, client->n,
                                       client->config.node_timeout_ms * RL_NS_PER_MS,
                                       rl_client_round_trip_ns(client, able));
    if (budget < 0)
        budget = left; /* a last attempt is worth making */
    extend->asked = true;
    claim->budget_ns = budget;
    rl_report_begin(op, able, now_ns);
    int64_t t0_ns = rl_clock_now_ns();
    op->due_ns = t0_ns + budget;
    rl_claim_extend(claim, able, extend->ttl_ns, t0_ns, t0_ns + budget);
}

static void extend_step(struct rl_op *op, int64_t now_ns)
{
    struct extend *extend = (struct extend *)op;
    int64_t until;
    if (extend->asked) {
        op->due_ns = rl_hold_next_ns(&op->claim->hold);
        rl_claim_tick(op->claim, now_ns);
        return;
    }
    uint64_t able = rl_client_able(op->client, now_ns);
    if (now_ns < extend->nodes_until_ns &&
        !rl_client_ready(op->client, able, now_ns, &until)) {
        op->due_ns = until < extend->nodes_until_ns ? until : extend->nodes_until_ns;
        return;
    }
    extend_start(extend, able, now_ns);
}

/* With the client entered: why this handle can't be worked on, or 0. */
static int check_lock(const struct redlock_lock *lock)
{
    if (!lock->claim)
        return REDLOCK_ENOTHELD;
    return lock->claim->op ? REDLOCK_EBUSY : 0;
}

static int extend_entered(redlock *client, struct redlock_lock *lock, int64_t ttl_ms,
                          redlock_report *report)
{
    struct extend extend = {.ttl_ns = 0};
    int result = check_lock(lock);
    if (result)
        return result;
    struct rl_claim *claim = lock->claim;
    int64_t ttl_ns = ttl_ms ? ttl_ms * RL_NS_PER_MS : claim->hold.ttl_ns;
    if (ttl_ms < 0 || (ttl_ms && ttl_ms < RL_TTL_MIN_MS) ||
        ttl_ms > client->config.max_ttl_ms || !rl_report_fits(report))
        return REDLOCK_EINVAL;
    int64_t now_ns = rl_loop_catch_up(client);
    if (claim->hold.phase != RL_HOLD_HELD)
        return REDLOCK_EEXPIRED;
    if (now_ns < claim->hold.deadline_ns &&
        rl_validity_end_ns(now_ns, ttl_ns, client->config.drift_factor) <=
            claim->hold.deadline_ns)
        return REDLOCK_OK;
    extend.ttl_ns = ttl_ns;
    extend.nodes_until_ns = now_ns + client->settings.connect_timeout_ns;
    if (extend.nodes_until_ns > claim->hold.deadline_ns)
        extend.nodes_until_ns = claim->hold.deadline_ns;
    rl_op_begin(&extend.op, client);
    extend.op.claim = claim;
    extend.op.report = report;
    extend.op.step = extend_step;
    extend.op.did = extend_did;
    extend.op.heard = extend_heard;
    if (report)
        report->rounds = 0;
    claim->op = &extend.op;
    extend_step(&extend.op, now_ns);
    rl_loop_flush(client, now_ns);
    rl_loop_wait(client, &extend.op);
    rl_op_end(&extend.op);
    return extend.op.result;
}

int redlock_extend(redlock_lock *lock, int64_t ttl_ms, redlock_report *report)
{
    int cancel_state;
    if (!lock)
        return REDLOCK_EINVAL;
    redlock *client = lock->client;
    int result = rl_client_enter(client, &cancel_state);
    if (result)
        return result;
    result = extend_entered(client, lock, ttl_ms, report);
    /* The winner's thread may not have run for a while. */
    if (result == REDLOCK_OK && redlock_validity_ms(lock) == 0)
        result = REDLOCK_EEXPIRED;
    rl_client_leave(client, cancel_state);
    return result;
}

/* ---- release -------------------------------------------------------------------------- */

static void release_did(struct rl_op *op, unsigned did, int64_t now_ns)
{
    (void)now_ns;
    if (did & RL_DID_FINISH)
        finish(op, rl_hold_release_result(&op->claim->hold));
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
        finish(claim->op, REDLOCK_ENOTHELD);
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
    if (!lock->claim) {
        rl_client_leave(client, cancel_state);
        return REDLOCK_ENOTHELD;
    }
    struct rl_claim *claim = take_claim(lock);
    int64_t now_ns = rl_loop_catch_up(client);
    if (claim->hold.phase != RL_HOLD_HELD) {
        result = REDLOCK_EEXPIRED;
        rl_claim_let_go(claim, now_ns);
    } else if (now_ns >= claim->hold.deadline_ns) {
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

/* ---- detach and attach ---------------------------------------------------------------- */

static int encode(redlock *client, const struct rl_claim *claim, char *ret_text, size_t size)
{
    struct rl_handle handle = {
        .kind = REDLOCK_PLAIN,
        .n = client->n,
        .deadline_ns = claim->hold.deadline_ns,
        .ttl_ms = claim->hold.ttl_ns / RL_NS_PER_MS,
        .token_len = claim->token_len,
        .name_len = claim->name_len,
    };
    memcpy(handle.boot_id, client->boot_id, sizeof(handle.boot_id));
    memcpy(handle.token, claim->token, claim->token_len + 1);
    memcpy(handle.name, claim->name, claim->name_len + 1);
    return rl_handle_encode(&handle, ret_text, size);
}

/* The text of a handle that is valid; why not, otherwise. */
static int handle_text(redlock *client, const redlock_lock *lock, char *ret_text, size_t size)
{
    if (!lock->claim)
        return REDLOCK_ENOTHELD;
    if (redlock_validity_ms(lock) == 0)
        return REDLOCK_EEXPIRED;
    return encode(client, lock->claim, ret_text, size);
}

int redlock_handle(const redlock_lock *lock, char *ret_text, size_t size)
{
    int cancel_state;
    if (!lock || !ret_text)
        return REDLOCK_EINVAL;
    redlock *client = lock->client;
    int result = rl_client_enter(client, &cancel_state);
    if (result)
        return result;
    result = handle_text(client, lock, ret_text, size);
    rl_client_leave(client, cancel_state);
    return result;
}

int redlock_detach(redlock_lock *lock, char *ret_text, size_t size)
{
    int cancel_state;
    if (!lock || !ret_text)
        return REDLOCK_EINVAL;
    redlock *client = lock->client;
    int result = rl_client_enter(client, &cancel_state);
    if (result)
        return result;
    result = check_lock(lock);
    if (result == REDLOCK_OK)
        result = handle_text(client, lock, ret_text, size);
    if (result == REDLOCK_OK) {
        lock->claim->detached = true;
        unhand(lock, lock->claim, rl_clock_now_ns());
    }
    rl_client_leave(client, cancel_state);
    return result;
}

static int attach(redlock *client, const struct rl_handle *handle, redlock_lock **ret_lock)
{
    struct rl_claim *claim;
    const struct rl_kind *kind = rl_kind(handle->kind);
    if (!kind || handle->n != client->n || strcmp(handle->boot_id, client->boot_id) != 0 ||
        handle->ttl_ms > client->config.max_ttl_ms)
        return REDLOCK_EHANDLE;
    if (rl_clock_now_ns() >= handle->deadline_ns)
        return REDLOCK_EEXPIRED;
    struct redlock_lock *lock = rl_lock_new(client);
    if (!lock)
        return REDLOCK_ENOMEM;
    int result = rl_claim_new(client, kind, handle->name, handle->name_len, handle->token,
                              &claim);
    if (result) {
        rl_lock_recycle(lock);
        return result;
    }
    rl_hold_init_attached(&claim->hold, client->n, handle->ttl_ms * RL_NS_PER_MS,
                          client->config.drift_factor, handle->deadline_ns);
    claim->lock = lock;
    lock->claim = claim;
    atomic_store(&lock->deadline_ns, handle->deadline_ns);
    *ret_lock = lock;
    return REDLOCK_OK;
}

int redlock_attach(redlock *client, const char *text, redlock_lock **ret_lock)
{
    struct rl_handle handle;
    int cancel_state;
    if (!client || !text || !ret_lock)
        return REDLOCK_EINVAL;
    int result = rl_client_enter(client, &cancel_state);
    if (result)
        return result;
    result = rl_handle_decode(text, &handle);
    if (result == REDLOCK_OK)
        result = attach(client, &handle, ret_lock);
    rl_client_leave(client, cancel_state);
    return result;
}
