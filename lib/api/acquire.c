/* acquire.c - see acquire.h: a try, but for its rounds: when they begin, and how it ends. */
#include "config_auto.h"

#include "api/acquire.h"

#include "engine/owner.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#define LISTEN_NS RL_NS_PER_MS /* between a first node that is listened to and more */

static void give_up(struct rl_attempt *attempt, int result)
{
    redlock *client = attempt->op.client;
    struct rl_claim *claim = attempt->op.claim;
    attempt->op.claim = NULL;
    if (claim) {
        claim->op = NULL;
        claim->lock = NULL;
    }
    rl_op_finish(&attempt->op, result);
    rl_line_leave(client, &attempt->waiter, false, rl_client_now_ns(client));
}

/* The one place that changes the phase. */
static void set_phase(struct rl_attempt *attempt, enum rl_attempt_phase phase)
{
    static const unsigned allowed[] = {
        [RL_NODES] = 1U << RL_NODES | 1U << RL_ROUND | 1U << RL_PAUSE | 1U << RL_LINED,
        [RL_ROUND] = 1U << RL_NODES | 1U << RL_PAUSE | 1U << RL_LINED,
        [RL_PAUSE] = 1U << RL_NODES | 1U << RL_PAUSE,
        [RL_LINED] = 1U << RL_PAUSE | 1U << RL_LINED,
    };
    assert(!attempt->op.done);
    assert(allowed[attempt->phase] & 1U << phase);
    attempt->phase = phase;
}

static void pause_until(struct rl_attempt *attempt, int64_t until_ns)
{
    set_phase(attempt, RL_PAUSE);
    attempt->pause_until_ns = until_ns;
    rl_op_due(&attempt->op, rl_earlier_ns(until_ns, attempt->look_ns));
}

static void pause_after(struct rl_attempt *attempt, const struct rl_defeat *defeat,
                        int64_t now_ns)
{
    int64_t until = rl_attempt_sleep_until_ns(attempt, defeat, now_ns);
    bool more = rl_kind_queues(attempt->target.kind) ||
                rl_line_pending(attempt->op.client, attempt->waiter.line);
    int64_t listen_ns = more ? LISTEN_NS : 0;
    if (attempt->can_hear) {
        bool hint = rl_attempt_others_tell(attempt);
        int64_t soon_ns = now_ns + listen_ns;
        if (hint)
            soon_ns = rl_line_heed_ns(attempt->waiter.line, soon_ns);
        attempt->hinted = hint && soon_ns < until;
        until = rl_earlier_ns(until, soon_ns);
    }
    /* The last attempt must still fit before the end; where none fits, it is over. */
    int64_t latest = attempt->give_up_ns - RL_ROUND_MIN_NS;
    if (now_ns >= latest)
        give_up(attempt, attempt->loss);
    else
        pause_until(attempt, rl_earlier_ns(until, latest));
}

/* Behind those of this client who came before: nothing to do but to give up in time. */
static void stand(struct rl_attempt *attempt)
{
    set_phase(attempt, RL_LINED);
    attempt->lined = true;
    rl_op_due(&attempt->op, attempt->give_up_ns);
}

/* Until when it waits for connections now: once that is over, they are part of the wait. */
static int64_t nodes_until_ns(const struct rl_attempt *attempt, int64_t now_ns)
{
    if (!attempt->connects)
        return now_ns;
    int64_t until_ns = attempt->op.connect_until_ns;
    return attempt->timed ? rl_earlier_ns(until_ns, attempt->give_up_ns) : until_ns;
}

/* Begin a round among the nodes that are able. */
static void begin(struct rl_attempt *attempt, uint64_t able, int64_t now_ns)
{
    int result = rl_attempt_round_begin(attempt, able, now_ns);
    if (result) {
        give_up(attempt, result);
        return;
    }
    set_phase(attempt, RL_ROUND);
    rl_attempt_round_ask(attempt);
}

static void wait_for_nodes(struct rl_attempt *attempt, int64_t now_ns)
{
    uint64_t able = rl_nodes_able(&attempt->op.client->nodes, now_ns);
    int64_t crowd_ns = attempt->give_up_ns;
    if (attempt->once)
        crowd_ns = rl_earlier_ns(crowd_ns, attempt->began_ns + attempt->ttl_ns);
    bool waits = rl_op_awaits_nodes(&attempt->op, able, nodes_until_ns(attempt, now_ns),
                                    crowd_ns, now_ns);
    if (waits && !attempt->op.crowds)
        return;
    /* Connecting has a budget of its own: the first round gets all of the caller's, less what
     * it has to stand in a crowd for. */
    if (!attempt->timed && !attempt->lined && !attempt->forever && !attempt->once)
        attempt->give_up_ns += now_ns - attempt->nodes_since_ns;
    attempt->timed = true;
    if (!waits)
        begin(attempt, able, now_ns);
}

/* Ask (again). */
static void begin_round(struct rl_attempt *attempt, int64_t now_ns)
{
    set_phase(attempt, RL_NODES);
    attempt->connects = !attempt->asked;
    wait_for_nodes(attempt, now_ns);
}

static void reconnect(struct rl_attempt *attempt, int64_t now_ns)
{
    set_phase(attempt, RL_NODES);
    attempt->timed = false;
    attempt->nodes_since_ns = now_ns;
    attempt->connects = true;
    rl_op_due(&attempt->op, now_ns); /* by the loop, lest losses nest */
}

/* After a round that was lost. */
static void lost(struct rl_attempt *attempt, int64_t now_ns)
{
    redlock *client = attempt->op.client;
    struct rl_defeat defeat;
    switch (rl_attempt_round_lost(attempt, &defeat, now_ns)) {
    case RL_NEXT_RECONNECT:
        reconnect(attempt, now_ns);
        return;
    case RL_NEXT_GIVE_UP:
        give_up(attempt, attempt->loss);
        return;
    case RL_NEXT_WAIT:
        break;
    }
    /* Who has it by its owner asks on, outside of the line: those in it may wait for that. */
    if (!attempt->waiter.line && attempt->loss == REDLOCK_EHELD &&
        !rl_claims_own(client, &attempt->target, now_ns)) {
        int result = rl_line_join(client, &attempt->waiter, &attempt->target, now_ns);
        if (result) {
            give_up(attempt, result);
            return;
        }
        /* Another line hears there already: no word will come that this one does. */
        attempt->can_hear |= attempt->waiter.line->ear && rl_attempt_hears(attempt);
    }
    if (attempt->waiter.line && !rl_line_is_first(&attempt->waiter))
        stand(attempt);
    else
        pause_after(attempt, &defeat, now_ns);
}

static void won(struct rl_attempt *attempt, int64_t now_ns)
{
    struct rl_op *op = &attempt->op;
    struct rl_claim *claim = op->claim;
    rl_report_end(op, &claim->hold.ask, now_ns);
    claim->op = NULL;
    if (attempt->options.auto_renew || attempt->options.on_lost)
        rl_watch_begin(claim, &attempt->options, now_ns);
    rl_op_finish(op, REDLOCK_OK);
    rl_line_leave(op->client, &attempt->waiter, true, now_ns);
}

static void on_did(struct rl_op *op, unsigned did, int64_t now_ns)
{
    struct rl_attempt *attempt = rl_attempt_of(op);
    if (did & RL_DID_WIN) {
        won(attempt, now_ns);
    } else if (did & RL_DID_LOSE) {
        lost(attempt, now_ns);
    } else {
        rl_attempt_await_votes(attempt, now_ns);
    }
}

static void step(struct rl_op *op, int64_t now_ns)
{
    struct rl_attempt *attempt = rl_attempt_of(op);
    switch (attempt->phase) {
    case RL_NODES:
        wait_for_nodes(attempt, now_ns);
        break;
    case RL_ROUND:
        rl_attempt_step_round(attempt, now_ns);
        break;
    case RL_PAUSE: {
        /* Masters that have come back end a pause for want of a quorum. */
        bool back = attempt->starved && rl_count(rl_nodes_able(&op->client->nodes, now_ns)) >=
                                            rl_quorum_needed(op->client->nodes.n);
        if (now_ns < attempt->pause_until_ns && !back && rl_attempt_is_heard(attempt, now_ns))
            pause_until(attempt, attempt->pause_until_ns);
        else
            begin_round(attempt, now_ns);
        break;
    }
    case RL_LINED:
        if (now_ns >= attempt->give_up_ns)
            give_up(attempt, attempt->loss);
        else
            stand(attempt);
        break;
    }
}

/* Something that makes it worth asking sooner than planned: when; INT64_MAX: it does not.
 * `hint`: it would do as well without. */
static int64_t sooner_ns(struct rl_attempt *attempt, enum rl_turn why, bool hint,
                         int64_t now_ns)
{
    redlock *client = attempt->op.client;
    switch (why) {
    case RL_TURN_FIRST:
    case RL_TURN_FREED:
        return now_ns;
    case RL_TURN_WOKEN:
        return rl_attempt_woken(attempt) ? now_ns : rl_attempt_heed_wakes_ns(attempt);
    case RL_TURN_LISTENS: {
        if (!rl_attempt_hears(attempt))
            return INT64_MAX;
        int64_t soon_ns =
            rl_line_pending(client, attempt->waiter.line) ? now_ns + LISTEN_NS : now_ns;
        return hint ? rl_line_heed_ns(attempt->waiter.line, soon_ns) : soon_ns;
    }
    case RL_TURN_MISSED: /* counted on, and not queued there after all */
        if (!attempt->probes || rl_attempt_will_be_woken(attempt, 0))
            return INT64_MAX;
        return now_ns + rl_backoff_next_ns(&attempt->backoff, &client->prng);
    }
    return INT64_MAX;
}

/* The first one in its line is called. */
static void on_turn(struct rl_waiter *waiter, enum rl_turn why, int64_t now_ns)
{
    struct rl_attempt *attempt =
        (struct rl_attempt *)(void *)((char *)waiter - offsetof(struct rl_attempt, waiter));
    if (why == RL_TURN_FIRST) { /* its round is begun by the loop, lest losses nest */
        assert(attempt->phase == RL_LINED);
        set_phase(attempt, RL_PAUSE);
        attempt->pause_until_ns = INT64_MAX;
    }
    attempt->can_hear |= attempt->phase == RL_ROUND && why == RL_TURN_LISTENS;
    if (attempt->phase != RL_PAUSE)
        return;
    bool hint = why == RL_TURN_LISTENS && rl_attempt_others_tell(attempt);
    int64_t soon_ns = sooner_ns(attempt, why, hint, now_ns);
    if (soon_ns <= now_ns && (why == RL_TURN_WOKEN || why == RL_TURN_FREED)) {
        begin_round(attempt, now_ns);
    } else if (soon_ns < attempt->pause_until_ns) {
        attempt->hinted = hint;
        pause_until(attempt, soon_ns);
    }
}

static void on_cancel(struct rl_op *op, int64_t now_ns)
{
    struct rl_claim *claim = op->claim;
    give_up(rl_attempt_of(op), REDLOCK_ECANCELED);
    if (claim)
        rl_claim_release(claim, now_ns, 0);
}

void rl_attempt_init(struct rl_attempt *attempt, redlock *client,
                     const struct rl_target *target, const redlock_options *options,
                     int64_t ttl_ms)
{
    size_t owner_len = options->owner ? strlen(options->owner) : 0;
    attempt->owner[0] = '\0';
    if (options->owner)
        memcpy(attempt->owner, options->owner, owner_len + 1);
    else if (rl_kind_owned(target->kind))
        owner_len = rl_owner_text(client, attempt->owner);
    attempt->target = *target;
    attempt->target.owner = attempt->owner;
    attempt->target.owner_len = owner_len;
    attempt->op.step = step;
    attempt->op.did = on_did;
    attempt->op.heard = rl_attempt_heard;
    attempt->op.cancel = on_cancel;
    attempt->op.ended = attempt->beside ? rl_attempt_ended : NULL;
    attempt->op.conclude = rl_attempt_conclude;
    attempt->waiter.turn = on_turn;
    attempt->phase = RL_NODES;
    attempt->options = *options;
    attempt->ttl_ns = ttl_ms * RL_NS_PER_MS;
    attempt->forever = options->wait_ms < 0;
    attempt->once = options->wait_ms == 0;
    attempt->loss = REDLOCK_ENOQUORUM;
    attempt->look_ns = INT64_MAX;
    rl_backoff_init(&attempt->backoff, RL_RETRY_MIN_MS * RL_NS_PER_MS,
                    RL_RETRY_MAX_MS * RL_NS_PER_MS);
    rl_report_open(&attempt->op.report, client, options->report);
}

void rl_attempt_start(struct rl_attempt *attempt, int64_t now_ns)
{
    redlock *client = attempt->op.client;
    attempt->began_ns = now_ns;
    attempt->give_up_ns = rl_attempt_last_ns(attempt, now_ns);
    attempt->op.connect_until_ns = now_ns + client->nodes.settings.connect_timeout_ns;
    attempt->nodes_since_ns = now_ns;
    attempt->connects = true;
    int result = rl_attempt_line_up(attempt, now_ns);
    int64_t parted_ns =
        attempt->waiter.line ? rl_line_parted_until_ns(client, &attempt->target) : 0;
    if (result) {
        give_up(attempt, result);
    } else if (attempt->waiter.line && !rl_line_is_first(&attempt->waiter)) {
        attempt->loss = REDLOCK_EHELD;
        stand(attempt);
    } else if (now_ns < parted_ns) {
        pause_until(attempt, parted_ns);
    } else {
        step(&attempt->op, now_ns);
    }
}
