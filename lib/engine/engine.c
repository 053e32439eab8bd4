/* engine.c - connects the parts of a client. Events of nodes and subscribers go to leases,
 * wait queues and calls. A turn of the loop reaches them all. Only this file knows all parts.
 * Each part knows those below it, and the loop knows none (struct rl_loop_hooks). */
#include "config_auto.h"

#include "engine/engine.h"

#include "engine/masters/certify.h"
#include "engine/cork.h"
#include "engine/masters/duplicates.h"
#include "engine/lease/lease.h"
#include "engine/wait/subscribers.h"
#include "node/node_met.h"

#include <assert.h>

/* ---- what nodes tell -------------------------------------------------------------------- */

static void on_changed(void *owner, struct rl_node *node, int64_t now_ns)
{
    redlock *client = owner;
    assert(node->index < client->nodes.n && node == &client->nodes.all[node->index]);
    rl_duplicates_find(&client->duplicates, &client->nodes, now_ns);
    rl_certify_go_on(&client->certifying, &client->nodes, now_ns);
    if (node->mode == RL_UP && node->sub) {
        rl_sub_compare(node->sub, node->met);
        rl_sub_node_up(node->sub, now_ns);
    }
    if (node->mode == RL_UP)
        rl_wait_queues_node_up(&client->wait_queues, node->index, now_ns);
    rl_renewals_node_changed(client, now_ns);
    rl_fill_in_node_changed(&client->voters, node);
    if (client->leases.releasing_count > 0)
        client->leases.release_retry_ns = now_ns; /* releases that are due can be sent now */
    RL_EACH (struct rl_call, call, &client->calls.all, entry) {
        if (!call->done)
            rl_call_due(call, now_ns); /* calls that wait for nodes check again */
    }
}

static void on_pinged(void *owner, struct rl_node *node, int64_t round_trip_ns)
{
    redlock *client = owner;
    assert(node->index < client->nodes.n && round_trip_ns >= 0);
    RL_EACH (struct rl_call, call, &client->calls.all, entry) {
        if (call->pinged && !call->done)
            call->pinged(call, node, round_trip_ns);
    }
}

static void on_proved(void *owner, struct rl_node *node, const struct rl_inflight *inflight,
                      const struct rl_reply *reply, int64_t now_ns)
{
    redlock *client = owner;
    if (rl_duplicates_proved(&client->duplicates, &client->nodes, node, inflight, reply,
                             now_ns))
        on_changed(client, node, now_ns);
}

static void on_disagrees(void *owner, struct rl_node *node, const struct rl_list_mark *other)
{
    redlock *client = owner;
    rl_lists_disagree(&client->lists_told, node, other);
    client->stats.other_lists = client->lists_told.count;
}

static void on_certified(void *owner, struct rl_node *node, const struct rl_certificate *told,
                         int64_t now_ns)
{
    redlock *client = owner;
    rl_certify_told(&client->certifying, &client->nodes, node, told, now_ns);
}

static void on_voided(void *owner, struct rl_node *node, int64_t now_ns)
{
    rl_leases_void(owner, node->index, now_ns);
}

const struct rl_node_events rl_engine_node_events = {
    .answered = rl_lease_on_reply,
    .name = rl_lease_name,
    .next = rl_lease_is_next,
    .unexecuted = rl_lease_on_unexecuted,
    .drains = rl_lease_on_drain,
    .lost = rl_lease_on_link_lost,
    .pinged = on_pinged,
    .proved = on_proved,
    .voided = on_voided,
    .disagrees = on_disagrees,
    .certified = on_certified,
    .changed = on_changed,
    .log = rl_client_log,
};

/* ---- what subscribers tell --------------------------------------------------------------- */

static void on_wakeup(void *owner, struct rl_node *node, uint64_t number, int64_t now_ns)
{
    redlock *client = owner;
    bool taken = false;
    assert(node->index < client->nodes.n);
    if (number >= RL_CALL_NUMBERS) { /* it may be a call's own */
        RL_EACH (struct rl_call, call, &client->calls.all, entry)
            taken = taken || (call->woken && call->woken(call, node->index, number));
    }
    if (taken)
        return;
    client->stats.wakes++;
    rl_wait_queue_on_wakeup(&client->wait_queues, node->index, number, now_ns);
}

static void on_listens(void *owner, struct rl_node *node, bool listens, int64_t now_ns)
{
    redlock *client = owner;
    assert(node->index < client->nodes.n && node->sub);
    if (listens)
        client->subs.listening |= rl_bit(node->index);
    else
        client->subs.listening &= ~rl_bit(node->index);
    rl_wait_queues_on_listening(&client->wait_queues, node->index, listens, now_ns);
}

static void on_message(void *owner, struct rl_node *node, struct rl_channel *channel,
                       int64_t now_ns)
{
    redlock *client = owner;
    client->stats.wakes++;
    rl_wait_queue_on_message(&client->subs, node->index, channel, now_ns);
}

static void on_met(void *owner, struct rl_node *node, const char *run_id, int64_t sent_ns,
                   int64_t now_ns)
{
    assert(((redlock *)owner)->nodes.n > node->index);
    rl_node_met(node, run_id, sent_ns, now_ns);
}

static void on_subscribed(void *owner, struct rl_node *node, struct rl_channel *channel,
                          int64_t now_ns)
{
    assert(rl_channel_listening(channel) & rl_bit(node->index)); /* it is confirmed */
    redlock *client = owner;
    rl_wait_queue_on_subscribed(&client->subs, node->index, channel, now_ns);
}

const struct rl_sub_events rl_engine_sub_events = {
    .woken = on_wakeup,
    .changed = on_listens,
    .log = rl_client_log,
    .message = on_message,
    .met = on_met,
    .subscribed = on_subscribed,
};

/* ---- a turn of the loop ------------------------------------------------------------------ */

static bool unflushed(const redlock *client)
{
    if (client->subs.unflushed)
        return true;
    for (unsigned i = 0; i < client->nodes.n; i++) {
        if (client->nodes.all[i].unflushed)
            return true;
    }
    return false;
}

static void flush(redlock *client, int64_t now_ns)
{
    /* A flush that breaks a link may queue requests on other nodes: check again. */
    bool again;
    rl_cork_pull(client);
    client->background.deferred = false;
    do {
        again = false;
        if (client->subs.unflushed)
            rl_subs_flush(&client->subs, now_ns);
        for (unsigned i = 0; i < client->nodes.n; i++) {
            if (client->nodes.all[i].unflushed) {
                rl_node_flush(&client->nodes.all[i], now_ns);
                again = true;
            }
        }
    } while (again);
}

/* Nobody polled for so long: no master may be blamed for that time. */
static void absent(redlock *client, int64_t absent_ns)
{
    assert(absent_ns > 0);
    for (unsigned i = 0; i < client->nodes.n; i++)
        rl_node_absent(&client->nodes.all[i], absent_ns);
    rl_endpoints_absent(&client->endpoints, absent_ns);
    rl_subs_absent(&client->subs, absent_ns);
    client->loop.absent_ns += absent_ns;
    client->loop.suspended_ns = rl_clock_suspended_ns();
    client->voters.opened_ns += absent_ns; /* the beginning of its first connects */
    RL_EACH (struct rl_call, call, &client->calls.all, entry)
        call->connect_until_ns += absent_ns;
}

/* Cancels the calls in progress. A try checks itself that none begins after
 * redlock_shutdown(). */
static void cancel_all(struct rl_calls *calls, int64_t now_ns)
{
    assert(!calls->cancel_seen); /* a shutdown is for good, and is seen once */
    calls->cancel_seen = true;
    RL_EACH (struct rl_call, call, &calls->all, entry) {
        if (!call->done && call->cancel)
            call->cancel(call, now_ns);
    }
}

/* Only the wall clock shows that time was lost, so a new epoch begins without a step. */
static void log_epoch(redlock *client, int64_t step_ns)
{
    static const char lost[] =
        "every lock that was held is lost, since nobody can tell for how "
        "long it has been held";
    if (step_ns > RL_CLOCK_JITTER_NS)
        rl_client_log(client, REDLOCK_LOG_WARNING, "the clock went back by %lld ms: %s",
                      (long long)(step_ns / RL_NS_PER_MS), lost);
    else
        rl_client_log(client, REDLOCK_LOG_WARNING,
                      "the wall clock went on further than ours (watch-wall-clock): %s", lost);
}

/* The clock went back, or lost time: held locks are lost, everything else goes on. */
void rl_engine_see_to_clock(redlock *client, int64_t now_ns)
{
    int64_t epoch = rl_clock_epoch(&client->clock);
    assert(now_ns > 0);
    if (client->loop.seen_epoch == epoch)
        return;
    assert(epoch > client->loop.seen_epoch); /* the epoch is the sum of all steps back */
    log_epoch(client, epoch - client->loop.seen_epoch);
    client->identity.texts_since_ns = rl_clock_kernel_ns(now_ns, client->loop.seen_epoch);
    client->loop.seen_epoch = epoch;
    rl_renewals_clock_went_back(&client->leases, &client->loop.timers, now_ns);
}

/* Does anybody want votes now, or soon? Then Sentinels are asked. */
static bool wants_votes(const redlock *client)
{
    return client->calls.all.first || client->leases.open.first;
}

static void tick(redlock *client, int64_t now_ns)
{
    assert(now_ns > 0); /* 0 is "never" in many places */
    rl_engine_see_to_clock(client, now_ns);
    rl_endpoints_tick(&client->endpoints, wants_votes(client), now_ns);
    for (unsigned i = 0; i < client->nodes.n; i++)
        rl_node_tick(&client->nodes.all[i], now_ns);
    if (now_ns >= client->duplicates.again_ns)
        rl_duplicates_find(&client->duplicates, &client->nodes, now_ns);
    if (now_ns >= client->certifying.now.again_ns)
        rl_certify_go_on(&client->certifying, &client->nodes, now_ns);
    bool used = client->wait_queues.by_name.count > 0 || client->probes.running > 0;
    rl_subs_tick(&client->subs, used ? INT64_MAX : client->wait_queues.left_ns, now_ns);
    if (now_ns >= client->leases.release_retry_ns)
        rl_leases_retry_releases(client, now_ns);
    if (atomic_load(&client->calls.canceled) && !client->calls.cancel_seen)
        cancel_all(&client->calls, now_ns);
    if (rl_fill_in_busy(&client->voters.fill_in))
        rl_fill_in_tick(client, now_ns); /* before calls begin rounds that ask all masters */
    rl_timers_run(&client->loop.timers, now_ns);
    rl_renewals_go_on(&client->leases, &client->voters, now_ns);
    rl_tallies_tell(client, false, now_ns);
    if (client->calls.backlog.first)
        rl_backlog_resume(&client->calls, now_ns);
}

static int64_t due_ns(redlock *client)
{
    client->node_settings.watched = client->leases.open.first != NULL;
    int64_t due =
        rl_earlier_ns(rl_timers_due_ns(&client->loop.timers), rl_subs_due_ns(&client->subs));
    due = rl_earlier_ns(due, rl_renewals_due_ns(&client->leases));
    due = rl_earlier_ns(due, client->leases.release_retry_ns);
    due = rl_earlier_ns(due, client->duplicates.again_ns);
    due = rl_earlier_ns(due, rl_fill_in_due_ns(&client->voters.fill_in));
    due = rl_earlier_ns(due, client->certifying.now.again_ns);
    due = rl_earlier_ns(due, rl_tallies_due_ns(&client->tallies));
    due = rl_earlier_ns(due, rl_endpoints_due_ns(&client->endpoints, wants_votes(client)));
    for (unsigned i = 0; i < client->nodes.n; i++)
        due = rl_earlier_ns(due, rl_node_due_ns(&client->nodes.all[i]));
    return due;
}

static bool overdue(redlock *client, int64_t now_ns)
{
    return rl_voters_overdue(&client->voters, now_ns);
}

const struct rl_loop_hooks rl_engine_hooks = {
    .tick = tick,
    .flush = flush,
    .unflushed = unflushed,
    .due_ns = due_ns,
    .overdue = overdue,
    .absent = absent,
};
