/* renewal.c - leases that are renewed by themselves, and leases whose loss is reported.
 *
 * Such a lease has one timer. It fires when the next extension is due: a third of the TTL has
 * passed. Then the lease waits for its turn (renewal_queue.c). The timer also fires when the
 * time of the extension in flight is over, and when the lease counts as lost. That is a margin
 * before the deadline, so that the user has time to stop its work.
 */
#include "config_auto.h"

#include "engine/lease/lease_parts.h"

#include <assert.h>

#define BUSY_NS (2 * RL_NS_PER_MS) /* the delay while the caller's own extension goes first */

static void plan(struct rl_lease *lease)
{
    int64_t due_ns = rl_renewal_lost_ns(lease);
    assert(lease->renewal.on && lease->hold.phase == RL_HOLD_HELD);
    rl_renewal_unqueue(lease);
    if (lease->hold.extending)
        due_ns = rl_earlier_ns(due_ns, rl_hold_next_ns(&lease->hold));
    else if (lease->renewal.renews)
        due_ns = rl_earlier_ns(due_ns, lease->renewal.renew_ns);
    rl_timer_set(&lease->client->loop.timers, &lease->timer, due_ns);
}

static void plan_renewal(struct rl_lease *lease)
{
    const struct rl_hold *hold = &lease->hold;
    assert(lease->renewal.on && hold->phase == RL_HOLD_HELD);
    lease->renewal.renew_ns = rl_renewal_due_ns(hold->deadline_ns, hold->ttl_ns,
                                                hold->drift_factor, lease->renewal.margin_ns);
}

static void run_lost(redlock *client, struct rl_callback *callback)
{
    redlock_lock *lock = RL_ITEM(callback, struct redlock_lock, lost);
    redlock_lost_fn *on_lost = lock->on_lost;
    void *context = lock->lost_context;
    assert(on_lost && lock->client == client);
    rl_callback_enter(client, lock);
    on_lost(context, lock);
    rl_callback_exit(client);
}

static bool has_quorum(struct rl_voters *voters, int64_t now_ns)
{
    return rl_count(rl_voters_to_renew(voters, now_ns)) >= rl_quorum_needed(voters->n);
}

/* A held lock that may be lost does not wait for the end of a backoff. */
static void hasten_nodes(redlock *client, int64_t now_ns)
{
    assert(client->leases.starving > 0 && client->leases.starving <= client->leases.renewals);
    for (unsigned i = 0; i < client->nodes.n; i++)
        rl_node_hasten(&client->nodes.all[i], now_ns);
    rl_voters_need(&client->voters, 0, now_ns);
}

void rl_renewals_node_changed(redlock *client, int64_t now_ns)
{
    if (client->leases.starving == 0)
        return;
    if (!has_quorum(&client->voters, now_ns)) {
        hasten_nodes(client, now_ns);
        return;
    }
    RL_EACH (struct rl_lease, lease, &client->leases.open, entry) {
        if (!lease->renewal.on || !lease->renewal.lacks_quorum)
            continue;
        rl_renewal_set_lacks_quorum(lease, false);
        lease->renewal.renew_ns = now_ns;
        plan(lease);
    }
    assert(client->leases.starving == 0); /* those that starve are open */
}

/* Once in a line, however often it is tried meanwhile. */
static void tell(struct rl_lease *lease, enum rl_told what, int64_t now_ns)
{
    char text[RL_TALLY_TEXT_MAX];
    if (!rl_tally_count(&lease->client->tallies, what, now_ns))
        return;
    rl_account_text(lease, text, sizeof(text), now_ns);
    if (what == RL_TOLD_NOT_RENEWED)
        rl_account_add_left(lease, text, sizeof(text), now_ns);
    rl_tally_text(lease->client, what, &lease->target, text, now_ns);
}

static void tell_not_renewed(struct rl_lease *lease, int64_t now_ns)
{
    uint64_t turn = lease->client->tallies.of[RL_TOLD_NOT_RENEWED].turn + 1;
    if (lease->renewal.told_turn == turn)
        return;
    lease->renewal.told_turn = turn;
    tell(lease, RL_TOLD_NOT_RENEWED, now_ns);
}

/* End the renewal, once, and tell the user of the loss. */
static void lose(struct rl_lease *lease, int64_t now_ns)
{
    struct redlock_lock *lock = lease->lock;
    redlock *client = lease->client;
    assert(lease->renewal.on); /* a loss is reported once */
    rl_renewal_end(lease);
    tell(lease, RL_TOLD_LOST, now_ns);
    if (lock && lock->lease && lock->on_lost)
        rl_callback_enqueue(client, &lock->lost);
}

/* The keys stay for the last millisecond that the user was shown, and for the lock-delay. */
static void give_up(struct rl_lease *lease, int64_t now_ns)
{
    assert(lease->hold.phase == RL_HOLD_HELD && !lease->releasing);
    rl_lease_keep_keys(lease, rl_lease_deadline_ns(lease));
    rl_account_lost(lease, now_ns);
    lose(lease, now_ns);
    lease->client->stats.lost++;
    /* An extension that a caller waits for fails with it. */
    if (lease->call)
        rl_call_finish_without_lease(lease->call, REDLOCK_EEXPIRED);
    rl_lease_release(lease, now_ns, 0);
}

/* Nothing more can be done for it in time. */
void rl_renewal_wait_for_loss(struct rl_lease *lease)
{
    lease->renewal.renew_ns = INT64_MAX;
    plan(lease);
}

void rl_renewal_extend(struct rl_lease *lease, int64_t now_ns)
{
    redlock *client = lease->client;
    assert(lease->renewal.renews && !lease->renewal.extending);
    /* A caller's own extension goes first. Otherwise it would starve if a round trip takes a
     * third of the TTL. */
    if (lease->call || lease->hold.extending) {
        lease->renewal.renew_ns = now_ns + BUSY_NS;
        plan(lease);
        return;
    }
    rl_renewal_unqueue(lease);
    uint64_t voting = rl_voters_to_renew(lease->voters, now_ns);
    int64_t left_ns = rl_validity_left_ns(rl_renewal_lost_ns(lease), now_ns);
    int64_t budget_ns = rl_voters_budget_ns(lease->voters, voting, left_ns);
    lease->budget_ns = budget_ns < 0 ? left_ns : budget_ns; /* a last try is worth it */
    lease->renewal.extending = true;
    client->leases.renewing++;
    int64_t t0_ns = rl_client_now_ns(client);
    rl_lease_extend(lease, voting, lease->hold.ttl_ns, t0_ns, t0_ns + lease->budget_ns);
    if (lease->renewal.on)
        plan(lease);
}

void rl_renewals_clock_went_back(struct rl_leases *leases, struct rl_timers *timers,
                                 int64_t now_ns)
{
    RL_EACH (struct rl_lease, lease, &leases->open, entry) {
        assert(!lease->releasing);
        if (!lease->renewal.on)
            continue;
        rl_renewal_unqueue(lease);
        rl_timer_set(timers, &lease->timer, now_ns);
    }
}

void rl_renewal_fire(struct rl_lease *lease, int64_t now_ns)
{
    assert(lease->renewal.on && lease->hold.phase == RL_HOLD_HELD);
    lease->renewal.waits = false;
    if (rl_lease_over(lease, now_ns)) {
        give_up(lease, now_ns);
    } else if (lease->hold.extending) {
        rl_lease_tick(lease, now_ns);
        if (lease->renewal.on)
            plan(lease);
    } else if (lease->renewal.renews && now_ns >= lease->renewal.renew_ns) {
        rl_renewal_queue(lease);
    } else {
        plan(lease);
    }
}

static void on_hold_event(struct rl_lease *lease, unsigned events, int64_t now_ns)
{
    struct rl_renewal *renewal = &lease->renewal;
    assert(renewal->on);
    if (events & RL_EV_LOST) {
        lose(lease, now_ns);
        return;
    }
    if (events & RL_EV_EXTENDED) {
        rl_backoff_reset(&renewal->backoff);
        rl_renewal_set_lacks_quorum(lease, false);
        plan_renewal(lease);
    } else if (events & RL_EV_NOT_EXTENDED) {
        tell_not_renewed(lease, now_ns);
        renewal->renew_ns =
            now_ns + rl_backoff_next_ns(&renewal->backoff, &lease->client->prng);
        rl_renewal_set_lacks_quorum(lease, !has_quorum(&lease->client->voters, now_ns));
        if (renewal->lacks_quorum)
            hasten_nodes(lease->client, now_ns);
    } else {
        return;
    }
    rl_renewal_extension_over(lease);
    plan(lease);
}

static const struct rl_renewal_ops ops = {.fire = rl_renewal_fire,
                                          .on_hold_event = on_hold_event};

void rl_renewal_begin(struct rl_lease *lease, const redlock_options *options, int64_t now_ns)
{
    struct rl_renewal *renewal = &lease->renewal;
    int64_t ttl_ns = lease->hold.ttl_ns;
    assert(!renewal->on && lease->lock && lease->hold.phase == RL_HOLD_HELD);
    assert(options->auto_renew || options->on_lost);
    *renewal = (struct rl_renewal){
        .on = true,
        .ops = &ops,
        .renews = options->auto_renew != 0,
        .max_hold_end_ns = rl_max_hold_end_ns(now_ns, options->max_hold_ms),
        .margin_ns = rl_lost_margin_ns(ttl_ns),
    };
    rl_backoff_init(&renewal->backoff, RL_RETRY_MIN_MS * RL_NS_PER_MS,
                    ttl_ns / 10 > RL_RETRY_MIN_MS * RL_NS_PER_MS
                        ? ttl_ns / 10
                        : RL_RETRY_MIN_MS * RL_NS_PER_MS);
    lease->lock->on_lost = options->on_lost;
    lease->lock->lost_context = options->lost_context;
    lease->lock->lost.run = run_lost;
    rl_shown_begin(&lease->lock->shown, rl_lease_deadline_ns(lease), lease->clock_epoch);
    lease->client->leases.renewals++;
    lease->client->stats.renewing += renewal->renews;
    plan_renewal(lease);
    plan(lease);
}
