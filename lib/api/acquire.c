/* acquire.c - see acquire.h: a try, but for its rounds: when they begin, and how it ends. */
#include "config_auto.h"

#include "api/acquire.h"

#include "engine/client/owner.h"
#include "engine/wait/subscribers.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

static void give_up(struct rl_acquire *acquire, int result)
{
    redlock *client = acquire->call.client;
    struct rl_lease *lease = acquire->call.lease;
    assert(result < 0);
    assert(!lease || (lease->call == &acquire->call && lease->lock == acquire->lock));
    acquire->call.lease = NULL;
    if (lease) {
        lease->call = NULL;
        lease->lock = NULL;
    }
    rl_call_finish(&acquire->call, result);
    rl_wait_queue_leave(&client->wait_queues, &acquire->waiter, false,
                        rl_client_now_ns(client));
}

/* The only place that changes the phase. */
static void set_phase(struct rl_acquire *acquire, enum rl_acquire_phase phase)
{
    static const unsigned allowed[] = {
        [RL_ACQ_CONNECTING] = 1U << RL_ACQ_CONNECTING | 1U << RL_ACQ_ROUND |
                              1U << RL_ACQ_BACKOFF | 1U << RL_ACQ_QUEUED,
        [RL_ACQ_ROUND] = 1U << RL_ACQ_CONNECTING | 1U << RL_ACQ_BACKOFF | 1U << RL_ACQ_QUEUED,
        [RL_ACQ_BACKOFF] = 1U << RL_ACQ_CONNECTING | 1U << RL_ACQ_BACKOFF,
        [RL_ACQ_QUEUED] = 1U << RL_ACQ_BACKOFF | 1U << RL_ACQ_QUEUED,
    };
    assert(!acquire->call.done);
    assert(allowed[acquire->phase] & 1U << phase);
    assert((acquire->call.lease != NULL) == (phase == RL_ACQ_ROUND)); /* a round has one */
    acquire->phase = phase;
}

static void pause_until(struct rl_acquire *acquire, int64_t until_ns)
{
    set_phase(acquire, RL_ACQ_BACKOFF);
    acquire->pause.until_ns = until_ns;
    rl_call_due(&acquire->call, rl_earlier_ns(until_ns, acquire->pause.look_ns));
}

static struct rl_wait_view view_of(const struct rl_acquire *acquire, int64_t now_ns)
{
    redlock *client = acquire->call.client;
    struct rl_voters *voters = acquire->call.voters;
    const struct rl_wait_queue *queue = acquire->waiter.queue;
    return (struct rl_wait_view){
        .n = voters->n,
        .waking = queue ? &queue->waking : NULL,
        .listening = rl_wait_queue_listening(&client->wait_queues, queue),
        .more = rl_wait_queue_pending(&client->wait_queues, queue),
        .fair = acquire->target.kind->wakeup == RL_WAKEUP_FAIR,
        .round_trip_ns = rl_voters_round_trip_ns(voters, rl_all(voters->n)),
        .now_ns = now_ns,
        .prng = &client->prng,
    };
}

static void pause_after(struct rl_acquire *acquire, const struct rl_defeat *defeat,
                        int64_t now_ns)
{
    assert(acquire->phase == RL_ACQ_ROUND && acquire->loss < 0);
    struct rl_wait_view view = view_of(acquire, now_ns);
    int64_t until = rl_pause_end_ns(&acquire->pause, &acquire->refusals, defeat, &view);
    /* The last round must still fit before the end; if none fits, the try is over. */
    int64_t latest = acquire->give_up_ns - RL_ROUND_MIN_NS;
    if (now_ns >= latest)
        give_up(acquire, rl_acquire_outcome(acquire, now_ns));
    else
        pause_until(acquire, rl_earlier_ns(until, latest));
}

/* Earlier waiters of this client come first: only the end of the wait is left to do. */
static void wait_in_queue(struct rl_acquire *acquire)
{
    assert(acquire->waiter.queue && !rl_wait_queue_is_first(&acquire->waiter));
    set_phase(acquire, RL_ACQ_QUEUED);
    acquire->was_queued = true;
    acquire->last.n = 0; /* rounds of others come after it */
    rl_call_due(&acquire->call, acquire->give_up_ns);
}

/* The end of the time for connections. Later connecting is part of the wait. */
static int64_t nodes_until_ns(const struct rl_acquire *acquire, int64_t now_ns)
{
    if (!acquire->connects)
        return now_ns;
    int64_t until_ns = acquire->call.connect_until_ns;
    return acquire->wait_started ? rl_earlier_ns(until_ns, acquire->give_up_ns) : until_ns;
}

/* Begin a round among the nodes that can vote. */
static void begin(struct rl_acquire *acquire, uint64_t voting, int64_t now_ns)
{
    assert(acquire->phase == RL_ACQ_CONNECTING && acquire->wait_started);
    int result = rl_acquire_round_begin(acquire, voting, now_ns);
    if (result) {
        give_up(acquire, result);
        return;
    }
    set_phase(acquire, RL_ACQ_ROUND);
    rl_acquire_round_ask(acquire);
}

static void wait_for_nodes(struct rl_acquire *acquire, int64_t now_ns)
{
    assert(acquire->phase == RL_ACQ_CONNECTING);
    redlock *client = acquire->call.client;
    struct rl_voters *voters = acquire->call.voters;
    rl_nodes_want(&client->nodes, &client->node_settings, now_ns);
    uint64_t voting = rl_voters_to_ask(voters, now_ns);
    uint64_t of_use = acquire->options.fenced ? rl_voters_to_fence(voters, voting) : voting;
    int64_t backlog_ns = acquire->give_up_ns;
    if (acquire->try_once)
        backlog_ns = rl_earlier_ns(backlog_ns, acquire->began_ns + acquire->ttl_ns);
    bool waits = rl_call_awaits_nodes(&acquire->call, voting, of_use,
                                      nodes_until_ns(acquire, now_ns), backlog_ns, now_ns);
    if (waits && !rl_call_in_backlog(&acquire->call))
        return;
    /* Connecting has a budget of its own: the first round gets all of the caller's wait, less
     * the time in the backlog. */
    if (!acquire->wait_started && !acquire->was_queued && !acquire->wait_forever &&
        !acquire->try_once)
        acquire->give_up_ns += now_ns - acquire->nodes_since_ns;
    acquire->wait_started = true;
    if (!waits)
        begin(acquire, voting, now_ns);
}

/* Ask (again). */
static void begin_round(struct rl_acquire *acquire, int64_t now_ns)
{
    set_phase(acquire, RL_ACQ_CONNECTING);
    acquire->connects = !acquire->round_begun;
    wait_for_nodes(acquire, now_ns);
}

static void reconnect(struct rl_acquire *acquire, int64_t now_ns)
{
    assert(acquire->broke && now_ns < acquire->call.connect_until_ns); /* so it ends */
    set_phase(acquire, RL_ACQ_CONNECTING);
    acquire->wait_started = false;
    acquire->nodes_since_ns = now_ns;
    acquire->connects = true;
    rl_call_due(&acquire->call, now_ns); /* by the loop, because refusals must not recurse */
}

/* After a round that was lost. */
static void on_refused(struct rl_acquire *acquire, int64_t now_ns)
{
    redlock *client = acquire->call.client;
    struct rl_defeat defeat;
    switch (rl_acquire_round_lost(acquire, &defeat, now_ns)) {
    case RL_NEXT_RECONNECT:
        reconnect(acquire, now_ns);
        return;
    case RL_NEXT_GIVE_UP:
        give_up(acquire, rl_acquire_outcome(acquire, now_ns));
        return;
    case RL_NEXT_WAIT:
        break;
    }
    /* If the owner holds the lock already, the try stays outside the queue: waiters in it may
     * wait for that owner. */
    if (!acquire->waiter.queue && acquire->loss == REDLOCK_EHELD &&
        !rl_leases_owner_holds(&client->leases, &acquire->target, now_ns)) {
        int result = rl_acquire_enqueue(acquire, now_ns);
        if (result) {
            give_up(acquire, result);
            return;
        }
        struct rl_wait_view view = view_of(acquire, now_ns);
        rl_pause_join(&acquire->pause, &view);
    }
    if (acquire->waiter.queue && !rl_wait_queue_is_first(&acquire->waiter))
        wait_in_queue(acquire);
    else
        pause_after(acquire, &defeat, now_ns);
}

static void on_acquired(struct rl_acquire *acquire, int64_t now_ns)
{
    struct rl_call *call = &acquire->call;
    struct rl_lease *lease = call->lease;
    assert(lease->call == call && lease->lock == acquire->lock);
    rl_report_end(call, &lease->hold.ask, now_ns);
    lease->call = NULL;
    atomic_store(&acquire->lock->fencing_token, rl_lease_fencing_token(lease, now_ns));
    if (acquire->options.auto_renew || acquire->options.on_lost)
        rl_renewal_begin(lease, &acquire->options, now_ns);
    /* Those who wait behind it are told so, if they can't hold it beside. */
    if (acquire->waiter.queue && !rl_kind_owned(acquire->target.kind))
        acquire->waiter.queue->found = (struct rl_finding){REDLOCK_EHELD, now_ns, true};
    rl_call_finish(call, REDLOCK_OK);
    rl_wait_queue_leave(&call->client->wait_queues, &acquire->waiter, true, now_ns);
}

static void on_hold_event(struct rl_call *call, unsigned events, int64_t now_ns)
{
    struct rl_acquire *acquire = rl_acquire_of(call);
    assert(!call->done && acquire->phase == RL_ACQ_ROUND);
    if (events & RL_EV_ACQUIRED) {
        on_acquired(acquire, now_ns);
    } else if (events & RL_EV_REFUSED) {
        on_refused(acquire, now_ns);
    } else {
        rl_acquire_await_votes(acquire, now_ns);
    }
}

static bool pause_lasts(struct rl_acquire *acquire, int64_t now_ns)
{
    struct rl_voters *voters = acquire->call.voters;
    assert(acquire->phase == RL_ACQ_BACKOFF);
    if (now_ns >= acquire->pause.until_ns)
        return false;
    /* If a quorum was lacking, masters that come back end the pause. */
    if (acquire->lacked_quorum &&
        rl_count(rl_voters_to_ask(voters, now_ns)) >= rl_quorum_needed(voters->n))
        return false;
    struct rl_wait_view view = view_of(acquire, now_ns);
    uint64_t alive = rl_subs_alive(&acquire->call.client->subs, now_ns - RL_ALIVE_NS);
    return rl_pause_look(&acquire->pause, &acquire->refusals, alive, &view);
}

static void step(struct rl_call *call, int64_t now_ns)
{
    struct rl_acquire *acquire = rl_acquire_of(call);
    assert(!call->done);
    switch (acquire->phase) {
    case RL_ACQ_CONNECTING:
        wait_for_nodes(acquire, now_ns);
        break;
    case RL_ACQ_ROUND:
        rl_acquire_step_round(acquire, now_ns);
        break;
    case RL_ACQ_BACKOFF:
        if (pause_lasts(acquire, now_ns))
            pause_until(acquire, acquire->pause.until_ns);
        else
            begin_round(acquire, now_ns);
        break;
    case RL_ACQ_QUEUED:
        if (now_ns >= acquire->give_up_ns)
            give_up(acquire, rl_acquire_outcome(acquire, now_ns));
        else
            wait_in_queue(acquire);
        break;
    }
}

/* The waiter is the first of its queue, and its turn has come. */
static void on_turn(struct rl_waiter *waiter, enum rl_turn why, int64_t now_ns)
{
    struct rl_acquire *acquire = RL_ITEM(waiter, struct rl_acquire, waiter);
    assert(!acquire->call.done && rl_wait_queue_is_first(waiter));
    if (why == RL_TURN_FIRST) { /* the loop begins its round: refusals must not recurse */
        assert(acquire->phase == RL_ACQ_QUEUED);
        set_phase(acquire, RL_ACQ_BACKOFF);
        acquire->pause.until_ns = INT64_MAX;
    }
    acquire->pause.can_hear |= acquire->phase == RL_ACQ_ROUND && why == RL_TURN_LISTENS;
    if (acquire->phase != RL_ACQ_BACKOFF)
        return;
    struct rl_wait_view view = view_of(acquire, now_ns);
    switch (rl_pause_turn(&acquire->pause, why, &view)) {
    case RL_ROUND_NOW:
        begin_round(acquire, now_ns);
        break;
    case RL_ROUND_SOONER:
        pause_until(acquire, acquire->pause.until_ns);
        break;
    case RL_ROUND_AS_PLANNED:
        break;
    }
}

static void on_cancel(struct rl_call *call, int64_t now_ns)
{
    struct rl_lease *lease = call->lease;
    assert(!lease || rl_acquire_of(call)->phase == RL_ACQ_ROUND);
    give_up(rl_acquire_of(call), REDLOCK_ECANCELED);
    if (lease)
        rl_lease_release(lease, now_ns, 0);
}

void rl_acquire_init(struct rl_acquire *acquire, redlock *client,
                     const struct rl_target *target, const redlock_options *options,
                     int64_t ttl_ms)
{
    size_t owner_len = options->owner ? strlen(options->owner) : 0;
    assert(target->kind && ttl_ms >= RL_TTL_MIN_MS && options->wait_ms >= -1);
    assert(owner_len <= RL_OWNER_MAX);
    acquire->owner[0] = '\0';
    if (options->owner)
        memcpy(acquire->owner, options->owner, owner_len + 1);
    else if (rl_kind_owned(target->kind))
        owner_len = rl_owner_text(&client->identity, acquire->owner);
    acquire->target = *target;
    acquire->target.owner = acquire->owner;
    acquire->target.owner_len = owner_len;
    acquire->call.step = step;
    acquire->call.on_hold_event = on_hold_event;
    acquire->call.on_vote = rl_acquire_on_vote;
    acquire->call.cancel = on_cancel;
    acquire->call.ended = acquire->group ? rl_acquire_ended : NULL;
    acquire->call.conclude = rl_acquire_conclude;
    acquire->waiter.turn = on_turn;
    acquire->phase = RL_ACQ_CONNECTING;
    acquire->options = *options;
    acquire->ttl_ns = ttl_ms * RL_NS_PER_MS;
    acquire->wait_forever = options->wait_ms < 0;
    acquire->try_once = options->wait_ms == 0;
    acquire->loss = REDLOCK_ENOQUORUM;
    rl_pause_init(&acquire->pause);
    rl_report_open(&acquire->call.report, &client->nodes, options->report);
}

void rl_acquire_start(struct rl_acquire *acquire, int64_t now_ns)
{
    redlock *client = acquire->call.client;
    assert(!acquire->round_begun && acquire->lock && !acquire->lock->lease);
    acquire->began_ns = now_ns;
    acquire->give_up_ns = rl_acquire_last_ns(acquire, now_ns);
    acquire->call.connect_until_ns = now_ns + client->node_settings.connect_timeout_ns;
    acquire->nodes_since_ns = now_ns;
    acquire->connects = true;
    int result = rl_acquire_join_queue(acquire, now_ns);
    int64_t yields_until_ns = rl_acquire_yields_until_ns(acquire);
    if (result) {
        give_up(acquire, result);
    } else if (acquire->waiter.queue && !rl_wait_queue_is_first(&acquire->waiter)) {
        acquire->loss = REDLOCK_EHELD;
        wait_in_queue(acquire);
    } else if (now_ns < yields_until_ns) {
        pause_until(acquire, yields_until_ns);
    } else {
        step(&acquire->call, now_ns);
    }
}
