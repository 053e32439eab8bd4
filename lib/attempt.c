/* attempt.c - see attempt.h. */
#include "config_auto.h"

#include "attempt.h"

#include "clock.h"
#include "owner.h"
#include "text.h"

#include <stddef.h>
#include <string.h>

#define CUT_SHORT_NS (20 * RL_NS_PER_MS)
#define LISTEN_NS RL_NS_PER_MS /* between a first node that is listened to and more */

static struct rl_attempt *attempt_of(struct rl_op *op)
{
    return (struct rl_attempt *)op;
}

/* What is left for a round: of the wait budget, or of the TTL, whichever is less. */
static int64_t remaining_ns(const struct rl_attempt *attempt, int64_t now_ns)
{
    if (attempt->forever || attempt->once)
        return attempt->ttl_ns;
    int64_t left = attempt->give_up_ns - now_ns;
    return left < attempt->ttl_ns ? left : attempt->ttl_ns;
}

static int first_in_rotation(const struct rl_attempt *attempt, uint64_t able, unsigned n)
{
    /* The same for all clients. */
    unsigned start =
        (unsigned)((rl_hash(attempt->target.name, attempt->target.name_len) >> 32) % n);
    for (unsigned i = 0; i < n; i++) {
        unsigned node = (start + i) % n;
        if (able & rl_bit(node))
            return (int)node;
    }
    return -1;
}

static void give_up(struct rl_attempt *attempt, int result)
{
    struct rl_claim *claim = attempt->op.claim;
    attempt->op.claim = NULL;
    if (claim) {
        claim->op = NULL;
        claim->lock = NULL;
    }
    rl_op_finish(&attempt->op, result);
    rl_line_leave(attempt->op.client, &attempt->waiter, false, rl_clock_now_ns());
}

static void start_round(struct rl_attempt *attempt, uint64_t able, int64_t now_ns)
{
    redlock *client = attempt->op.client;
    struct rl_claim *claim;
    int64_t budget = rl_client_budget_ns(client, able, remaining_ns(attempt, now_ns));
    if (budget < 0 && attempt->asked) {
        give_up(attempt, attempt->loss);
        return;
    }
    /* The first round is always made, however slow the masters were when last heard of. */
    if (budget < 0)
        budget = RL_ROUND_MIN_NS > remaining_ns(attempt, now_ns)
                     ? RL_ROUND_MIN_NS
                     : remaining_ns(attempt, now_ns);
    int result = rl_claim_new(client, &attempt->target, NULL, &claim);
    if (result) {
        give_up(attempt, result);
        return;
    }
    if (attempt->waiter.line) {
        claim->waiter = attempt->waiter.line->number;
        claim->waiter_round = ++attempt->waiter.line->rounds;
        claim->waits_since_ns = attempt->began_ns;
        client->stats.probes += attempt->probes && !attempt->waiter.line->wakes;
        /* Where we were woken by name it is kept for us, and nobody else is told. */
        if (attempt->waiter.line->wakes && !attempt->waiter.line->ear)
            attempt->ordered_next = false;
        attempt->waiter.line->wakes = 0;
    }
    attempt->probes = false;
    rl_hold_init(&claim->hold, client->n, attempt->ttl_ns, client->config.drift_factor);
    claim->hold.several = attempt->target.kind->several;
    claim->budget_ns = budget;
    claim->contended = attempt->asked;
    claim->waits = !attempt->once;
    claim->op = &attempt->op;
    claim->lock = attempt->lock;
    attempt->op.claim = claim;
    attempt->cut_short =
        attempt->asked && budget < CUT_SHORT_NS && budget < attempt->ttl_ns / client->n;
    attempt->phase = RL_ROUND;
    attempt->asked = true;
    attempt->held_count = 0;
    attempt->upgrades = attempt->miskinded = 0;
    attempt->foreign = attempt->disputed = attempt->can_hear = false;
    attempt->holder = 0;
    attempt->place = INT64_MAX;
    int first = attempt->ordered_next ? first_in_rotation(attempt, able, client->n) : -1;
    attempt->ordered_next = false;
    attempt->ordered = first >= 0;
    rl_report_begin(&attempt->op, able, now_ns);
    /* t0: nothing of this round has been handed to the kernel yet. */
    int64_t t0_ns = rl_clock_now_ns();
    rl_op_due(&attempt->op, t0_ns + budget);
    rl_claim_ask(claim, able, first, t0_ns, t0_ns + budget);
}

static void pause_until(struct rl_attempt *attempt, int64_t until_ns)
{
    attempt->phase = RL_PAUSE;
    attempt->pause_until_ns = until_ns;
    rl_op_due(&attempt->op, until_ns);
}

/* Would a majority be heard that releases the lock? */
static bool hears(const struct rl_attempt *attempt)
{
    const redlock *client = attempt->op.client;
    uint64_t nodes = rl_line_listening(client, attempt->waiter.line);
    return rl_count(nodes) >= rl_quorum_needed(client->n);
}

static void pause_after(struct rl_attempt *attempt, bool split, uint64_t silent, int64_t now_ns)
{
    int64_t until = rl_attempt_sleep_until_ns(attempt, split, silent, now_ns);
    bool more = attempt->target.kind->channel == RL_CHANNEL_CLIENT ||
                rl_line_pending(attempt->op.client, attempt->waiter.line);
    int64_t listen_ns = more ? LISTEN_NS : 0;
    if (attempt->can_hear && now_ns + listen_ns < until)
        until = now_ns + listen_ns;
    if (!attempt->forever) {
        /* The last attempt must still fit before the end; where none fits, it is over. */
        int64_t latest = attempt->give_up_ns - RL_ROUND_MIN_NS;
        if (now_ns >= latest) {
            give_up(attempt, attempt->loss);
            return;
        }
        if (until > latest)
            until = latest;
    }
    pause_until(attempt, until);
}

/* Behind those of this client who came before: nothing to do but to give up in time. */
static void stand(struct rl_attempt *attempt)
{
    attempt->phase = RL_LINED;
    attempt->lined = true;
    rl_op_due(&attempt->op, attempt->forever ? INT64_MAX : attempt->give_up_ns);
}

/* Would it be in vain to ask again? One master alone may have what was undone elsewhere long
 * ago; but who has the lock to read, here, will not become its writer by waiting. */
static int refused_for_good(const struct rl_attempt *attempt, const struct rl_round *round,
                            int64_t now_ns)
{
    unsigned spare = round->n - rl_quorum_needed(round->n);
    unsigned failed = rl_count(round->failed);
    if (attempt->miskinded > 0 && attempt->miskinded + failed > spare)
        return REDLOCK_EKIND;
    if (attempt->upgrades > 0 && (attempt->upgrades + failed > spare ||
                                  rl_claims_read(attempt->op.client, &attempt->target, now_ns)))
        return REDLOCK_EUPGRADE;
    return 0;
}

static void lost(struct rl_attempt *attempt, int64_t now_ns)
{
    redlock *client = attempt->op.client;
    struct rl_claim *claim = attempt->op.claim;
    const struct rl_round *round = &claim->hold.ask;
    bool won_late = rl_round_verdict(round) == RL_WON;
    int loss = won_late || rl_round_no_quorum(round) ? REDLOCK_ENOQUORUM : REDLOCK_EHELD;
    /* Silence in the last few milliseconds of a wait does not make another's lock vanish. */
    if (!(attempt->cut_short && attempt->loss == REDLOCK_EHELD))
        attempt->loss = loss;
    attempt->starved = attempt->loss == REDLOCK_ENOQUORUM &&
                       rl_count(rl_client_able(client, now_ns)) < rl_quorum_needed(client->n);
    /* Also where all of many who ask at once have lost to each other. */
    bool split = rl_round_split(round) || attempt->disputed;
    uint64_t silent = rl_round_silent(round) & claim->queues;
    attempt->ordered_next = split;
    rl_report_end(&attempt->op, round, now_ns);
    claim->op = NULL;
    claim->lock = NULL;
    attempt->op.claim = NULL;
    int refused = refused_for_good(attempt, round, now_ns);
    if (refused)
        attempt->loss = refused;
    if (attempt->once || refused) {
        give_up(attempt, attempt->loss);
        return;
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
        attempt->can_hear |= attempt->waiter.line->ear && hears(attempt);
    }
    if (attempt->waiter.line && !rl_line_is_first(&attempt->waiter))
        stand(attempt);
    else
        pause_after(attempt, split, silent, now_ns);
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
    struct rl_attempt *attempt = attempt_of(op);
    if (did & RL_DID_WIN) {
        won(attempt, now_ns);
    } else if (did & RL_DID_LOSE) {
        lost(attempt, now_ns);
    } else {
        rl_op_due(op, rl_hold_next_ns(&op->claim->hold));
    }
}

/* What a refusal tells of who has it, and for how long. */
static void learn(struct rl_attempt *attempt, const struct rl_judged *judged)
{
    uint64_t holder = rl_hash(judged->holder, judged->holder_len);
    bool queues = attempt->target.kind->channel == RL_CHANNEL_CLIENT; /* marks of ours */
    bool kept = queues && rl_kind_holder_is_kept(judged->holder, judged->holder_len);
    /* Readers are many, and each master may name another of them. */
    if (attempt->target.kind->channel != RL_CHANNEL_RW)
        attempt->disputed |= attempt->holder && attempt->holder != holder;
    attempt->holder = holder;
    attempt->foreign |= queues && !rl_kind_holder_wakes(judged->holder, judged->holder_len);
    if (judged->answer.code == RL_UPGRADES)
        attempt->upgrades++;
    else if (judged->answer.code == RL_MISKINDED)
        attempt->miskinded++;
    int64_t place = rl_kind_broadcasts(attempt->target.kind) ? 0 : judged->answer.place;
    if (place > INT32_MAX) /* a master may say anything: times are made of these two */
        place = INT32_MAX;
    if (judged->answer.with_place && place >= 0 && place < attempt->place)
        attempt->place = place;
    /* One who has it will wake the next; whoever is merely about to may not get it. */
    attempt->op.claim->silent = !attempt->disputed && !kept;
    int64_t ttl_ms = judged->answer.ttl_ms;
    if (ttl_ms < 0)
        return;
    if (ttl_ms > RL_DURATION_MAX_MS)
        ttl_ms = RL_DURATION_MAX_MS;
    int64_t until = rl_clock_now_ns() + ttl_ms * RL_NS_PER_MS;
    unsigned at = attempt->held_count++;
    for (; at > 0 && attempt->held_ns[at - 1] > until; at--)
        attempt->held_ns[at] = attempt->held_ns[at - 1];
    attempt->held_ns[at] = until;
}

static void on_heard(struct rl_op *op, struct rl_node *node, enum rl_verb verb,
                     const struct rl_judged *judged)
{
    static const int votes[] = {
        [RL_VOTE_YES] = REDLOCK_VOTE_GRANTED,
        [RL_VOTE_NO] = REDLOCK_VOTE_HELD,
        [RL_VOTE_FAILED] = REDLOCK_VOTE_FAILED,
    };
    if (verb != RL_ACQUIRE)
        return;
    rl_report_vote(op, node->index, votes[judged->vote], judged);
    if (judged->vote == RL_VOTE_NO)
        learn(attempt_of(op), judged);
}

static void wait_for_nodes(struct rl_attempt *attempt, int64_t now_ns)
{
    uint64_t able = rl_client_able(attempt->op.client, now_ns);
    int64_t crowd_ns = attempt->forever ? INT64_MAX : attempt->give_up_ns;
    if (attempt->once)
        crowd_ns = attempt->began_ns + attempt->ttl_ns;
    if (rl_op_awaits_nodes(&attempt->op, able, attempt->nodes_until_ns, crowd_ns, now_ns))
        return;
    /* Connecting has a budget of its own: the first round gets all of the caller's. */
    if (!attempt->asked && !attempt->lined && !attempt->forever && !attempt->once)
        attempt->give_up_ns += now_ns - attempt->began_ns;
    start_round(attempt, able, now_ns);
}

/* Ask (again). */
static void begin_round(struct rl_attempt *attempt, int64_t now_ns)
{
    attempt->phase = RL_NODES;
    if (attempt->asked)
        attempt->nodes_until_ns = now_ns;
    wait_for_nodes(attempt, now_ns);
}

static void step(struct rl_op *op, int64_t now_ns)
{
    struct rl_attempt *attempt = attempt_of(op);
    switch (attempt->phase) {
    case RL_NODES:
        wait_for_nodes(attempt, now_ns);
        break;
    case RL_ROUND:
        rl_op_due(op, rl_hold_next_ns(&op->claim->hold));
        rl_claim_tick(op->claim, now_ns);
        break;
    case RL_PAUSE: {
        /* Masters that have come back end a pause for want of a quorum. */
        bool back = attempt->starved && rl_count(rl_client_able(op->client, now_ns)) >=
                                            rl_quorum_needed(op->client->n);
        if (now_ns < attempt->pause_until_ns && !back)
            rl_op_due(op, attempt->pause_until_ns);
        else
            begin_round(attempt, now_ns);
        break;
    }
    case RL_LINED:
        if (!attempt->forever && now_ns >= attempt->give_up_ns)
            give_up(attempt, attempt->loss);
        else
            stand(attempt);
        break;
    }
}

/* Something that makes it worth asking sooner than planned: when; INT64_MAX: it does not. */
static int64_t sooner_ns(struct rl_attempt *attempt, enum rl_turn why, int64_t now_ns)
{
    redlock *client = attempt->op.client;
    switch (why) {
    case RL_TURN_FIRST:
    case RL_TURN_FREED:
        return now_ns;
    case RL_TURN_WOKEN:
        return rl_attempt_woken(attempt)
                   ? now_ns
                   : attempt->waiter.line->woken_ns + rl_attempt_grace_ns(client);
    case RL_TURN_LISTENS:
        if (!hears(attempt))
            return INT64_MAX;
        return rl_line_pending(client, attempt->waiter.line) ? now_ns + LISTEN_NS : now_ns;
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
        attempt->phase = RL_PAUSE;
        attempt->pause_until_ns = INT64_MAX;
    }
    attempt->can_hear |= attempt->phase == RL_ROUND && why == RL_TURN_LISTENS;
    if (attempt->phase != RL_PAUSE)
        return;
    int64_t soon_ns = sooner_ns(attempt, why, now_ns);
    if (soon_ns <= now_ns && (why == RL_TURN_WOKEN || why == RL_TURN_FREED)) {
        begin_round(attempt, now_ns);
    } else if (soon_ns < attempt->pause_until_ns) {
        pause_until(attempt, soon_ns);
    }
}

static void on_cancel(struct rl_op *op, int64_t now_ns)
{
    struct rl_claim *claim = op->claim;
    give_up(attempt_of(op), REDLOCK_ECANCELED);
    if (claim)
        rl_claim_release(claim, now_ns, 0);
}

/* A lock that was won may have run out while the winner's thread did not run. */
static int conclude(struct rl_op *op, redlock_lock **ret_lock)
{
    struct rl_attempt *attempt = attempt_of(op);
    struct redlock_lock *lock = attempt->lock;
    struct rl_claim *claim = op->claim;
    int result = op->result;
    if (result == REDLOCK_OK) {
        int64_t now_ns = rl_clock_now_ns();
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
    attempt->op.report = options->report;
    attempt->op.step = step;
    attempt->op.did = on_did;
    attempt->op.heard = on_heard;
    attempt->op.cancel = on_cancel;
    attempt->op.conclude = conclude;
    attempt->waiter.turn = on_turn;
    attempt->phase = RL_NODES;
    attempt->options = *options;
    attempt->ttl_ns = ttl_ms * RL_NS_PER_MS;
    attempt->forever = options->wait_ms < 0;
    attempt->once = options->wait_ms == 0;
    attempt->loss = REDLOCK_ENOQUORUM;
    rl_backoff_init(&attempt->backoff, RL_RETRY_MIN_MS * RL_NS_PER_MS,
                    RL_RETRY_MAX_MS * RL_NS_PER_MS);
    rl_report_clear(client, options->report);
}

/* Stand in the name's line, where there is one, or where waiting can be expected to be worth
 * one: then a first round that is lost has entered the masters' queues already. Who may have
 * the lock by its owner asks first: it must not wait for those who wait for itself. */
static int line_up(struct rl_attempt *attempt, int64_t now_ns)
{
    redlock *client = attempt->op.client;
    const struct rl_kind *kind = attempt->target.kind;
    bool joins = kind->queues_at_once;
    if (attempt->once)
        return 0;
    if (!rl_kind_owned(kind))
        joins = rl_count(client->listening) >= rl_quorum_needed(client->n) ||
                rl_line_find(client, &attempt->target);
    return joins ? rl_line_join(client, &attempt->waiter, &attempt->target, now_ns) : 0;
}

void rl_attempt_start(struct rl_attempt *attempt, int64_t now_ns)
{
    redlock *client = attempt->op.client;
    int64_t wait_ms = attempt->options.wait_ms;
    attempt->began_ns = attempt->give_up_ns = now_ns;
    attempt->nodes_until_ns = now_ns + client->settings.connect_timeout_ns;
    if (wait_ms > 0)
        attempt->give_up_ns =
            wait_ms > RL_DURATION_MAX_MS ? INT64_MAX / 2 : now_ns + wait_ms * RL_NS_PER_MS;
    int result = line_up(attempt, now_ns);
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
