/* extend.c - extends a held lock: one round while it is still ours, and another one if masters
 * have been connected since. */
#include "config_auto.h"

#include "api/try.h"
#include "api/lock.h"
#include "base/struct_abi.h"
#include "engine/background.h"
#include "engine/lease/lease.h"
#include "engine/loop/call.h"
#include "engine/loop/loop.h"
#include "engine/enter.h"

#include <assert.h>

#define DEBT_NS (5 * RL_NS_PER_MS) /* how often nodes with a reply overdue are checked */

struct extend {
    struct rl_call call; /* first */
    struct redlock_lock *lock;
    int64_t ttl_ns;
    uint64_t tried; /* nodes that were asked in rounds without success */
    bool asked;
    bool broke; /* a connection has broken since */
};

static struct extend *extend_of(struct rl_call *call)
{
    return (struct extend *)call;
}

/* The end of its wait for masters. */
static int64_t nodes_until_ns(const struct rl_call *call)
{
    return rl_earlier_ns(call->connect_until_ns, call->lease->hold.deadline_ns);
}

/* Can another round succeed? It must ask a majority, and some nodes for the first time.
 * Otherwise an extension would repeat rounds while too few nodes connect. */
static bool others_come(const struct extend *extend, int64_t now_ns)
{
    struct rl_voters *voters = extend->call.voters;
    uint64_t voting = rl_voters_to_ask(voters, now_ns);
    unsigned pending = rl_voters_pending(voters);
    return rl_count(voting) + pending >= rl_quorum_needed(voters->n) &&
           ((voting & ~extend->tried) != 0 || pending > 0);
}

/* After a round without success: may another one succeed? */
static bool may_try_others(struct extend *extend, int64_t now_ns)
{
    assert(extend->asked && !extend->call.lease->hold.extending);
    if (now_ns >= nodes_until_ns(&extend->call))
        return false;
    if (extend->broke)
        extend->tried = 0; /* the next connections may do better */
    else if (!others_come(extend, now_ns))
        return false;
    extend->asked = extend->broke = false;
    return true;
}

static void extend_end(struct rl_call *call, int result, int64_t now_ns)
{
    assert(call->lease && call->lease->call == call);
    rl_report_end(call, &call->lease->hold.extend, now_ns);
    rl_call_finish_without_lease(call, result);
}

static void extend_on_hold_event(struct rl_call *call, unsigned events, int64_t now_ns)
{
    assert(!call->done && call->lease);
    if (!(events & (RL_EV_EXTENDED | RL_EV_LOST | RL_EV_NOT_EXTENDED)))
        return;
    if (!extend_of(call)->asked && !(events & RL_EV_LOST)) {
        rl_call_due(call, now_ns); /* the renewal that was in flight is over */
        return;
    }
    if ((events & RL_EV_NOT_EXTENDED) && may_try_others(extend_of(call), now_ns)) {
        rl_call_due(call, now_ns);
        return;
    }
    extend_end(call,
               events & RL_EV_EXTENDED ? REDLOCK_OK
               : events & RL_EV_LOST   ? REDLOCK_EEXPIRED
                                       : REDLOCK_ENOQUORUM,
               now_ns);
}

static void extend_on_vote(struct rl_call *call, struct rl_node *node, enum rl_verb verb,
                           const struct rl_vote_reply *vote_reply)
{
    static const int votes[] = {
        [RL_VOTE_YES] = REDLOCK_VOTE_GRANTED,
        [RL_VOTE_NO] = REDLOCK_VOTE_FREE,
        [RL_VOTE_FAILED] = REDLOCK_VOTE_FAILED,
    };
    assert(!call->done && call->lease);
    if (!extend_of(call)->asked)
        rl_call_due(call, 0); /* one awaited reply less */
    else if (vote_reply->vote == RL_VOTE_FAILED && (rl_node_was_cut(node) || vote_reply->stale))
        extend_of(call)->broke = true;
    if (verb == RL_EXTEND)
        rl_report_vote(call, node->index, votes[vote_reply->vote], vote_reply);
}

static void extend_start(struct extend *extend, uint64_t voting, int64_t now_ns)
{
    struct rl_call *call = &extend->call;
    struct rl_lease *lease = call->lease;
    assert(!extend->asked && !lease->hold.extending);
    assert(lease->hold.phase == RL_HOLD_HELD);
    redlock *client = call->client;
    int64_t left = rl_validity_left_ns(lease->hold.deadline_ns, now_ns);
    if (rl_lease_over(lease, now_ns) && lease->renewal.on) {
        rl_renewal_fire(lease, now_ns);
        return;
    }
    if (rl_lease_over(lease, now_ns)) {
        rl_lease_keep_keys(lease, lease->hold.deadline_ns);
        rl_lease_release(lease, now_ns, 0);
        rl_call_finish_without_lease(call, REDLOCK_EEXPIRED);
        return;
    }
    int64_t budget = rl_voters_budget_ns(call->voters, voting, left);
    if (budget < 0)
        budget = left; /* a last try is worth it */
    extend->asked = true;
    extend->tried |= voting;
    lease->budget_ns = budget;
    rl_report_begin(call, voting, now_ns);
    int64_t t0_ns = rl_client_now_ns(client);
    rl_call_due(call, t0_ns + budget);
    rl_lease_extend(lease, voting, extend->ttl_ns, t0_ns, t0_ns + budget);
}

/* Does the lease already last as long as the caller wants? */
static bool lasts(const struct extend *extend, int64_t now_ns)
{
    const struct rl_lease *lease = extend->call.lease;
    return !rl_lease_over(lease, now_ns) &&
           rl_validity_lasts(lease->hold.deadline_ns, now_ns, extend->ttl_ns,
                             lease->hold.drift_factor);
}

/* Right after the acquire, or after a round that failed early, only a late reply may be lacking
 * for a majority. */
static bool in_debt(const struct rl_call *call, uint64_t voting, int64_t now_ns)
{
    unsigned needed = rl_quorum_needed(call->voters->n);
    if (rl_count(voting) < needed)
        return rl_voters_overdue(call->voters, now_ns);
    return rl_count(rl_lease_idle_nodes(call->lease, voting)) < needed;
}

static void extend_step(struct rl_call *call, int64_t now_ns)
{
    struct extend *extend = extend_of(call);
    assert(!call->done && call->lease->call == call && extend->lock->lease == call->lease);
    if (extend->asked || call->lease->hold.extending) {
        rl_call_due(call, rl_hold_next_ns(&call->lease->hold));
        rl_lease_tick(call->lease, now_ns);
        return;
    }
    if (lasts(extend, now_ns)) {
        rl_call_finish_without_lease(call, REDLOCK_OK);
        return;
    }
    int64_t until_ns = nodes_until_ns(call);
    rl_nodes_want(&call->client->nodes, &call->client->node_settings, now_ns);
    uint64_t voting = rl_voters_to_ask(call->voters, now_ns);
    if (in_debt(call, voting, now_ns) && now_ns < until_ns) {
        rl_call_due(call, now_ns + DEBT_NS);
        return;
    }
    if (extend->tried != 0 && (voting & ~extend->tried) == 0) {
        if (now_ns < until_ns && others_come(extend, now_ns))
            rl_call_due(call, until_ns);
        else
            extend_end(call, REDLOCK_ENOQUORUM, now_ns);
    } else if (!rl_call_awaits_nodes(call, voting, voting, until_ns, until_ns, now_ns)) {
        extend_start(extend, voting, now_ns);
    }
}

/* The caller's thread may not have run for a while: the lock may have expired. */
static int extend_conclude(struct rl_call *call, redlock_lock **ret_lock)
{
    struct redlock_lock *lock = extend_of(call)->lock;
    assert(call->done && !call->lease);
    *ret_lock = lock->lease ? lock : NULL;
    return call->result == REDLOCK_OK && redlock_validity_ms(lock) == 0 ? REDLOCK_EEXPIRED
                                                                        : call->result;
}

/* Check the caller's arguments; then `extend` is ready for extend_step(). */
static int extend_prepare(struct extend *extend, struct redlock_lock *lock, int64_t ttl_ms,
                          redlock_report *report, int64_t now_ns)
{
    redlock *client = lock->client;
    assert(!extend->call.client && !extend->asked && extend->tried == 0); /* zeroed */
    int result = rl_lock_check(lock);
    if (result)
        return result;
    struct rl_lease *lease = lock->lease;
    char why[RL_STRUCT_WHY_MAX];
    if (!rl_report_fits(report, why, sizeof(why)))
        return rl_client_wrong(client, why);
    if (ttl_ms != 0)
        result = rl_ttl_check(client, lease->target.kind, ttl_ms);
    if (result)
        return result;
    if (lease->hold.phase != RL_HOLD_HELD)
        return REDLOCK_EEXPIRED;
    rl_report_open(&extend->call.report, &client->nodes, report);
    extend->lock = lock;
    extend->ttl_ns = ttl_ms ? ttl_ms * RL_NS_PER_MS : lease->hold.ttl_ns;
    extend->call.connect_until_ns = now_ns + client->node_settings.connect_timeout_ns;
    extend->call.lease = lease;
    extend->call.step = extend_step;
    extend->call.on_hold_event = extend_on_hold_event;
    extend->call.on_vote = extend_on_vote;
    extend->call.conclude = extend_conclude;
    if (rl_call_begin(&extend->call, client))
        return REDLOCK_ENOMEM;
    lease->call = &extend->call;
    return 0;
}

int redlock_extend(redlock_lock *lock, int64_t ttl_ms, redlock_report *report)
{
    struct extend extend = {.asked = false};
    redlock_lock *same;
    int cancel_state;
    if (!lock)
        return REDLOCK_EINVAL;
    redlock *client = lock->client;
    int result = rl_client_enter_blocking(client, &cancel_state);
    if (result)
        return result;
    /* Read late grants first: a node with a request in flight can't be asked again. This
     * unlocks the client, so the user's lock must be checked afterwards. */
    int64_t now_ns = rl_loop_poll_now(client);
    result = extend_prepare(&extend, lock, ttl_ms, report, now_ns);
    if (result == 0) {
        extend_step(&extend.call, now_ns);
        result = rl_call_wait(&extend.call, now_ns, &same);
    }
    rl_client_leave_blocking(client, cancel_state);
    return result;
}

static int extend_async(redlock_lock *lock, int64_t ttl_ms, redlock_report *report,
                        redlock_done_fn *done, void *context)
{
    redlock *client = lock->client;
    int result = rl_background_require(client);
    struct extend *extend =
        result ? NULL
               : rl_call_new(&client->calls, sizeof(*extend), sizeof(*extend), done, context);
    if (!extend)
        return result ? result : REDLOCK_ENOMEM;
    int64_t now_ns = rl_client_now_ns(client);
    result = extend_prepare(extend, lock, ttl_ms, report, now_ns);
    if (result)
        rl_call_free(&client->calls, extend);
    else
        extend_step(&extend->call, now_ns);
    return result;
}

int redlock_extend_async(redlock_lock *lock, int64_t ttl_ms, redlock_report *report,
                         redlock_done_fn *done, void *context)
{
    int cancel_state;
    if (!lock)
        return REDLOCK_EINVAL;
    redlock *client = lock->client;
    if (!done)
        return rl_client_refuse(client, RL_NO_DONE);
    int result = rl_client_enter(client, &cancel_state);
    if (result)
        return result;
    result = extend_async(lock, ttl_ms, report, done, context);
    rl_client_leave(client, cancel_state);
    return result;
}
