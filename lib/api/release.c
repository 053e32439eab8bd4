/* release.c - gives a lock up: the user's lock is consumed, whatever the masters reply. */
#include "config_auto.h"

#include "engine/lease/lease.h"
#include "api/lock.h"
#include "engine/background.h"
#include "engine/cork.h"
#include "engine/loop/loop.h"
#include "engine/enter.h"

#include <assert.h>

static void release_on_hold_event(struct rl_call *call, unsigned events, int64_t now_ns)
{
    (void)now_ns;
    assert(!call->done && call->lease->call == call);
    if (events & RL_EV_RELEASED)
        rl_call_finish_without_lease(call, rl_hold_release_result(&call->lease->hold));
}

static void release_step(struct rl_call *call, int64_t now_ns)
{
    assert(!call->done && call->lease->call == call);
    rl_call_due(call, rl_hold_next_ns(&call->lease->hold));
    rl_lease_tick(call->lease, now_ns);
}

static int release_conclude(struct rl_call *call, redlock_lock **ret_lock)
{
    (void)ret_lock; /* the user's lock is consumed */
    assert(call->done && !call->lease);
    return call->result;
}

/* How long to wait for replies to a release: a node's share of the TTL; if masters are
 * connecting, connecting has its own budget. */
static int64_t release_budget_ns(redlock *client, const struct rl_lease *lease, int64_t now_ns)
{
    uint64_t voting = rl_voters_to_ask(lease->voters, now_ns);
    int64_t budget = rl_voters_budget_ns(lease->voters, voting, lease->hold.ttl_ns);
    if (budget < 0)
        budget = lease->hold.ttl_ns;
    if (rl_count(voting) < rl_quorum_needed(lease->voters->n) &&
        rl_voters_pending(lease->voters) > 0)
        budget += client->node_settings.connect_timeout_ns;
    return budget;
}

/* Take the lease from the user's lock: a second release finds nothing held. An extension that
 * another caller waits for fails. `ret_over`: the lock had expired. NULL: the handle holds
 * nothing. */
static struct rl_lease *take_lease(struct redlock_lock *lock, int64_t now_ns, bool *ret_over)
{
    /* A callback about its loss must not find the user's lock gone, nor run after this. */
    rl_callback_wait(lock->client, lock);
    struct rl_lease *lease = lock->lease;
    if (!lease)
        return NULL;
    rl_callback_remove(&lock->client->callbacks, &lock->lost);
    rl_shown_end(&lock->shown);
    lock->lease = NULL;
    lease->lock = NULL;
    *ret_over = rl_lease_over(lease, now_ns);
    rl_renewal_end(lease);
    if (lease->call)
        rl_call_finish_without_lease(lease->call, REDLOCK_ENOTHELD);
    assert(!lease->call && !lease->renewal.on && !lock->lease);
    return lease;
}

/* False: nothing was left to release, and the lease is dropped. */
static bool keep_if_held(struct rl_lease *lease, bool over, int64_t now_ns)
{
    bool held = lease->hold.phase == RL_HOLD_HELD;
    assert(!lease->lock && !lease->call); /* take_lease() */
    if (held && !over)
        return true;
    lease->client->stats.lost += held;
    rl_lock_give_up(lease, now_ns);
    return false;
}

/* The releases are queued: this client's next waiter may send its request right behind. */
static void release(struct rl_lease *lease, int64_t now_ns)
{
    redlock *client = lease->client;
    assert(!lease->lock && lease->hold.phase == RL_HOLD_HELD);
    lease->budget_ns = release_budget_ns(client, lease, now_ns);
    rl_lease_ref(lease);
    rl_lease_release(lease, now_ns, now_ns + lease->budget_ns);
    if (!lease->hold.kept)
        rl_wait_queue_on_release(&client->wait_queues, &lease->target, now_ns);
    if (lease->contended && !lease->hold.kept)
        rl_wait_queue_yield(&client->wait_queues, &lease->target, now_ns);
    rl_lease_unref(lease, now_ns);
}

static int release_and_wait(redlock *client, struct rl_lease *lease, int64_t now_ns)
{
    struct rl_call call = {
        .lease = lease, .step = release_step, .on_hold_event = release_on_hold_event};
    assert(!lease->call && client->calls.callers > 0);
    if (rl_call_begin(&call, client)) { /* no memory, but the releases are sent */
        bool keeps = rl_hold_keeps(&lease->hold, now_ns);
        release(lease, now_ns);
        return keeps ? REDLOCK_OK : REDLOCK_EUNCONFIRMED;
    }
    lease->call = &call;
    release(lease, now_ns);
    if (!call.done)
        rl_call_due(&call, rl_hold_next_ns(&lease->hold));
    return rl_call_wait(&call, now_ns, NULL);
}

/* ---- without waiting ------------------------------------------------------------------ */

static struct rl_call *release_call_new(redlock *client, redlock_done_fn *done, void *context)
{
    struct rl_call *call =
        rl_call_new(&client->calls, sizeof(*call), sizeof(*call), done, context);
    if (!call)
        return NULL;
    call->step = release_step;
    call->on_hold_event = release_on_hold_event;
    call->conclude = release_conclude;
    return call;
}

/* With `done`, a call waits for the result; without, the lease is released on its own. */
static int release_async(redlock *client, struct rl_lease *lease, bool over, int64_t now_ns,
                         redlock_done_fn *done, void *context)
{
    int result = done ? rl_background_require(client) : 0;
    struct rl_call *call = NULL;
    if (done && result == 0) {
        call = release_call_new(client, done, context);
        result = call && rl_call_begin(call, client) == 0 ? 0 : REDLOCK_ENOMEM;
    }
    if (result) {
        rl_call_free(&client->calls, call);
        call = NULL;
    }
    if (!keep_if_held(lease, over, now_ns)) {
        if (call)
            rl_call_finish(call, REDLOCK_EEXPIRED);
        return result;
    }
    if (call) {
        call->lease = lease;
        lease->call = call;
    }
    release(lease, now_ns);
    if (call && !call->done)
        rl_call_due(call, rl_hold_next_ns(&lease->hold));
    return result;
}

/* Queue the release, and return. It waits for other requests, unless a waiter is known. This
 * client's waiting calls have a leader, which sends it. A waiter of another client made this
 * lock's first round fail. */
static int release_lazily(redlock *client, struct rl_lease *lease, bool over, int64_t now_ns)
{
    if (!keep_if_held(lease, over, now_ns))
        return REDLOCK_EEXPIRED;
    bool waited_for = lease->contended;
    release(lease, now_ns);
    if (!waited_for)
        rl_cork(client, now_ns);
    return REDLOCK_OK;
}

static int release_unawaited(redlock_lock *lock, bool lazily, redlock_done_fn *done,
                             void *context)
{
    int cancel_state;
    redlock *client = lock->client;
    int result = rl_client_enter(client, &cancel_state);
    if (result)
        return result;
    bool over;
    int64_t now_ns = rl_client_now_ns(client);
    struct rl_lease *lease = take_lease(lock, now_ns, &over);
    if (lease) {
        result = lazily ? release_lazily(client, lease, over, now_ns)
                        : release_async(client, lease, over, now_ns, done, context);
        rl_lock_recycle(lock);
    } else {
        result = REDLOCK_ENOTHELD;
    }
    rl_client_leave(client, cancel_state);
    return result;
}

int redlock_release_async(redlock_lock *lock, redlock_done_fn *done, void *context)
{
    return lock ? release_unawaited(lock, false, done, context) : REDLOCK_EINVAL;
}

/* ---- the call that waits, unless the lock's options say otherwise ---------------------- */

int redlock_release(redlock_lock *lock)
{
    int cancel_state;
    if (!lock)
        return REDLOCK_OK;
    if (atomic_load(&lock->lazy))
        return release_unawaited(lock, true, NULL, NULL);
    redlock *client = lock->client;
    int result = rl_client_enter_blocking(client, &cancel_state);
    if (result)
        return result;
    int64_t now_ns =
        rl_loop_poll_if_idle(client); /* unlocks: the user's lock must be checked afterwards */
    bool over;
    struct rl_lease *lease = take_lease(lock, now_ns, &over);
    if (!lease) {
        rl_client_leave_blocking(client, cancel_state);
        return REDLOCK_ENOTHELD;
    }
    result = keep_if_held(lease, over, now_ns) ? release_and_wait(client, lease, now_ns)
                                               : REDLOCK_EEXPIRED;
    rl_lock_recycle(lock);
    rl_client_leave_blocking(client, cancel_state);
    return result;
}
