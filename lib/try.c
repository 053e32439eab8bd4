/* try.c - acquiring: wait for nodes, ask them, and on a loss sleep and ask again with a token
 * of its own, until it is won or the time that the caller gave is over.
 *
 *   NODES --enough able, or none to hope for--> ROUND --won--> done
 *     ^ ^                                         |
 *     | +--- PAUSE <----------- lost -------------+--no time left--> done
 *     |        ^ woken, the holder's TTL over, or a probe due
 *     +----- LINED: others of this client wait for the same name, and came first
 *
 * Who was refused stands in the name's line (line.h), is queued at the masters by its next
 * round, and sleeps until a majority of them has said that the lock was released.
 */
#include "config_auto.h"

#include "claim.h"
#include "clock.h"
#include "text.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUT_SHORT_NS (20 * RL_NS_PER_MS)
#define WAKE_GRACE_NS RL_NS_PER_MS      /* between a first wake-up and a majority's */
#define PLACE_NS (2 * RL_NS_PER_MS)     /* between those who look whether a TTL has run out */
#define LISTEN_NS RL_NS_PER_MS          /* between a first node that is listened to and more */

enum phase { NODES, ROUND, PAUSE, LINED };

struct try {
    struct rl_op op; /* first: the callbacks get this one */
    struct rl_waiter waiter;
    enum phase phase;
    const struct rl_kind *kind;
    const void *name;
    size_t name_len;
    redlock_options options;
    int64_t ttl_ns;
    bool forever, once;
    bool asked;             /* a first round has been begun */
    int64_t began_ns;
    int64_t give_up_ns;     /* where there is a wait budget */
    int64_t nodes_until_ns; /* NODES: no longer than this */
    int64_t pause_until_ns; /* PAUSE */
    bool probes;            /* PAUSE: for a wake-up; its end is a fallback */
    struct rl_backoff backoff;
    bool ordered_next;      /* the last round was split: ask one first */
    int loss;               /* what the last round came to */
    bool cut_short;         /* the wait's end left it less time than an answer may take */
    bool starved;           /* and it was for want of masters that could be asked */
    unsigned held_count;
    int64_t held_ns[REDLOCK_NODES_MAX]; /* when each blocking key runs out, ascending */
    bool foreign;           /* a peer's, whose release nobody will hear of */
    int64_t place;          /* how many are in the queue before us, where that is least */
    struct redlock_lock *lock;
};

static struct try *try_of(struct rl_op *op)
{
    return (struct try *)op;
}

/* What is left for a round: of the wait budget, or of the TTL, whichever is less. */
static int64_t remaining_ns(const struct try *try, int64_t now_ns)
{
    if (try->forever || try->once)
        return try->ttl_ns;
    int64_t left = try->give_up_ns - now_ns;
    return left < try->ttl_ns ? left : try->ttl_ns;
}

static int first_in_rotation(const struct try *try, uint64_t able, unsigned n)
{
    /* The same for all clients. */
    unsigned start = (unsigned)((rl_hash(try->name, try->name_len) >> 32) % n);
    for (unsigned i = 0; i < n; i++) {
        unsigned node = (start + i) % n;
        if (able & rl_bit(node))
            return (int)node;
    }
    return -1;
}

static void give_up(struct try *try, int result)
{
    struct rl_claim *claim = try->op.claim;
    try->op.claim = NULL;
    if (claim) {
        claim->op = NULL;
        claim->lock = NULL;
    }
    rl_op_finish(&try->op, result);
    rl_line_leave(try->op.client, &try->waiter, false, rl_clock_now_ns());
}

static void start_round(struct try *try, uint64_t able, int64_t now_ns)
{
    redlock *client = try->op.client;
    struct rl_claim *claim;
    int64_t budget =
        rl_node_budget_ns(remaining_ns(try, now_ns), client->n,
                          client->config.node_timeout_ms * RL_NS_PER_MS,
                          rl_client_round_trip_ns(client, able));
    if (budget < 0 && try->asked) {
        give_up(try, try->loss);
        return;
    }
    /* The first round is always made, however slow the masters were when last heard of. */
    if (budget < 0)
        budget = RL_ROUND_MIN_NS > remaining_ns(try, now_ns) ? RL_ROUND_MIN_NS
                                                             : remaining_ns(try, now_ns);
    int result = rl_claim_new(client, try->kind, try->name, try->name_len, NULL, &claim);
    if (result) {
        give_up(try, result);
        return;
    }
    if (try->waiter.line) {
        claim->waiter = try->waiter.line->number;
        claim->waits_since_ns = try->began_ns;
        client->stats.probes += try->probes && !try->waiter.line->wakes;
        try->waiter.line->wakes = 0;
    }
    try->probes = false;
    rl_hold_init(&claim->hold, client->n, try->ttl_ns, client->config.drift_factor);
    claim->budget_ns = budget;
    claim->op = &try->op;
    claim->lock = try->lock;
    try->op.claim = claim;
    try->cut_short = try->asked && budget < CUT_SHORT_NS && budget < try->ttl_ns / client->n;
    try->phase = ROUND;
    try->asked = true;
    try->held_count = 0;
    try->foreign = false;
    try->place = INT64_MAX;
    int first = try->ordered_next ? first_in_rotation(try, able, client->n) : -1;
    try->ordered_next = false;
    rl_report_begin(&try->op, able, now_ns);
    /* t0: nothing of this round has been handed to the kernel yet. */
    int64_t t0_ns = rl_clock_now_ns();
    rl_op_due(&try->op, t0_ns + budget);
    rl_claim_ask(claim, able, first, t0_ns, t0_ns + budget);
}

/* The time from which a majority of keys could be free, if nobody does anything; or 0. */
static int64_t free_at_ns(const struct try *try, unsigned n)
{
    unsigned needed = rl_quorum_needed(n);
    unsigned not_held = n - try->held_count;
    if (not_held >= needed || try->held_count == 0)
        return 0;
    return try->held_ns[needed - not_held - 1];
}

/* Who waits unwoken asks all the same, less often the more are before it. */
static int64_t probe_ns(const struct try *try, redlock *client)
{
    int64_t ms = try->place < 4 * RL_PROBE_MAX_MS / RL_PROBE_MS
                     ? RL_PROBE_MS * (4 + try->place) / 4
                     : RL_PROBE_MAX_MS;
    if (ms > RL_PROBE_MAX_MS)
        ms = RL_PROBE_MAX_MS;
    return (ms + (int64_t)rl_prng_below(&client->prng, (uint64_t)ms / 4)) * RL_NS_PER_MS;
}

/* A majority's wake-ups tell that a majority was released: fewer may be stray, or all there
 * will be. */
static int64_t grace_ns(redlock *client)
{
    int64_t trips = 2 * rl_client_round_trip_ns(client, rl_all(client->n));
    return WAKE_GRACE_NS + trips +
           (int64_t)rl_prng_below(&client->prng, (uint64_t)(WAKE_GRACE_NS + trips));
}

static bool woken(const struct try *try)
{
    return rl_count(try->waiter.line->wakes) >= rl_quorum_needed(try->op.client->n);
}

/* Until when to sleep after a loss. */
static int64_t sleep_until_ns(struct try *try, bool split, int64_t now_ns)
{
    redlock *client = try->op.client;
    const struct rl_line *line = try->waiter.line;
    int64_t free_at = free_at_ns(try, client->n);
    bool queued = line && !split && !try->foreign && try->loss == REDLOCK_EHELD &&
                  rl_count(line->queued & client->listening) >= rl_quorum_needed(client->n);
    if (queued && woken(try))
        return now_ns;
    int64_t until = now_ns + (queued ? probe_ns(try, client)
                                     : rl_backoff_next_ns(&try->backoff, &client->prng));
    if (queued && line->wakes && line->woken_ns + grace_ns(client) < until)
        until = line->woken_ns + grace_ns(client);
    if (queued && free_at > now_ns && try->place < INT64_MAX)
        free_at += try->place * PLACE_NS;
    try->probes = queued;
    if (free_at > now_ns && free_at < until)
        until = free_at + (int64_t)rl_prng_below(&client->prng, RL_RETRY_MIN_MS * RL_NS_PER_MS);
    return until;
}

static void pause_after(struct try *try, bool split, int64_t now_ns)
{
    int64_t until = sleep_until_ns(try, split, now_ns);
    if (!try->forever) {
        /* The last attempt must still fit before the end; where none fits, it is over. */
        int64_t latest = try->give_up_ns - RL_ROUND_MIN_NS;
        if (now_ns >= latest) {
            give_up(try, try->loss);
            return;
        }
        if (until > latest)
            until = latest;
    }
    try->phase = PAUSE;
    try->pause_until_ns = until;
    rl_op_due(&try->op, until);
}

/* Behind those of this client who came before: nothing to do but to give up in time. */
static void stand(struct try *try)
{
    try->phase = LINED;
    rl_op_due(&try->op, try->forever ? INT64_MAX : try->give_up_ns);
}

static void lost(struct try *try, int64_t now_ns)
{
    redlock *client = try->op.client;
    struct rl_claim *claim = try->op.claim;
    const struct rl_round *round = &claim->hold.ask;
    bool won_late = rl_round_verdict(round) == RL_WON;
    int loss = won_late || rl_round_no_quorum(round) ? REDLOCK_ENOQUORUM : REDLOCK_EHELD;
    /* Silence in the last few milliseconds of a wait does not make another's lock vanish. */
    if (!(try->cut_short && try->loss == REDLOCK_EHELD))
        try->loss = loss;
    try->starved = try->loss == REDLOCK_ENOQUORUM &&
                   rl_count(rl_client_able(client, now_ns)) < rl_quorum_needed(client->n);
    bool split = rl_round_split(round);
    try->ordered_next = split;
    rl_report_end(&try->op, round, now_ns);
    claim->op = NULL;
    claim->lock = NULL;
    try->op.claim = NULL;
    if (try->once) {
        give_up(try, try->loss);
        return;
    }
    if (!try->waiter.line && try->loss == REDLOCK_EHELD) {
        int result = rl_line_join(client, &try->waiter, try->kind, try->name, try->name_len,
                                  now_ns);
        if (result) {
            give_up(try, result);
            return;
        }
    }
    if (try->waiter.line && !rl_line_is_first(&try->waiter))
        stand(try);
    else
        pause_after(try, split, now_ns);
}

static void won(struct try *try, int64_t now_ns)
{
    struct rl_op *op = &try->op;
    struct rl_claim *claim = op->claim;
    rl_report_end(op, &claim->hold.ask, now_ns);
    claim->op = NULL;
    if (try->options.auto_renew || try->options.on_lost)
        rl_watch_begin(claim, &try->options, now_ns);
    rl_op_finish(op, REDLOCK_OK);
    rl_line_leave(op->client, &try->waiter, true, now_ns);
}

static void on_did(struct rl_op *op, unsigned did, int64_t now_ns)
{
    struct try *try = try_of(op);
    if (did & RL_DID_WIN) {
        won(try, now_ns);
    } else if (did & RL_DID_LOSE) {
        lost(try, now_ns);
    } else {
        rl_op_due(op, rl_hold_next_ns(&op->claim->hold));
    }
}

static void on_heard(struct rl_op *op, struct rl_node *node, enum rl_verb verb,
                     const struct rl_judged *judged)
{
    struct try *try = try_of(op);
    static const int votes[] = {
        [RL_VOTE_YES] = REDLOCK_VOTE_GRANTED,
        [RL_VOTE_NO] = REDLOCK_VOTE_HELD,
        [RL_VOTE_FAILED] = REDLOCK_VOTE_FAILED,
    };
    if (verb != RL_ACQUIRE)
        return;
    rl_report_vote(op, node->index, votes[judged->vote], judged);
    if (judged->vote != RL_VOTE_NO)
        return;
    bool kept = judged->holder_len > strlen(RL_KEPT_PREFIX) &&
                memcmp(judged->holder, RL_KEPT_PREFIX, strlen(RL_KEPT_PREFIX)) == 0;
    try->foreign |= !rl_kind_holder_wakes(judged->holder, judged->holder_len);
    if (judged->answer.with_place && judged->answer.place >= 0 &&
        judged->answer.place < try->place)
        try->place = judged->answer.place;
    /* What is kept for one that was woken is about to be held: no time to look again at. */
    if (judged->answer.ttl_ms < 0 || (kept && judged->answer.place > 0))
        return;
    int64_t until = rl_clock_now_ns() + judged->answer.ttl_ms * RL_NS_PER_MS;
    unsigned at = try->held_count++;
    for (; at > 0 && try->held_ns[at - 1] > until; at--)
        try->held_ns[at] = try->held_ns[at - 1];
    try->held_ns[at] = until;
}

static void wait_for_nodes(struct try *try, int64_t now_ns)
{
    uint64_t able = rl_client_able(try->op.client, now_ns);
    int64_t crowd_ns = try->forever ? INT64_MAX : try->give_up_ns;
    if (try->once)
        crowd_ns = try->began_ns + try->ttl_ns;
    if (rl_op_awaits_nodes(&try->op, able, try->nodes_until_ns, crowd_ns, now_ns))
        return;
    /* Connecting has a budget of its own: the first round gets all of the caller's. */
    if (!try->asked && !try->forever && !try->once)
        try->give_up_ns += now_ns - try->began_ns;
    start_round(try, able, now_ns);
}

/* Ask (again). */
static void begin_round(struct try *try, int64_t now_ns)
{
    try->phase = NODES;
    if (try->asked)
        try->nodes_until_ns = now_ns;
    wait_for_nodes(try, now_ns);
}

static void step(struct rl_op *op, int64_t now_ns)
{
    struct try *try = try_of(op);
    switch (try->phase) {
    case NODES:
        wait_for_nodes(try, now_ns);
        break;
    case ROUND:
        rl_op_due(op, rl_hold_next_ns(&op->claim->hold));
        rl_claim_tick(op->claim, now_ns);
        break;
    case PAUSE: {
        /* Masters that have come back end a pause for want of a quorum. */
        bool back = try->starved && rl_count(rl_client_able(op->client, now_ns)) >=
                                        rl_quorum_needed(op->client->n);
        if (now_ns < try->pause_until_ns && !back)
            rl_op_due(op, try->pause_until_ns);
        else
            begin_round(try, now_ns);
        break;
    }
    case LINED:
        if (!try->forever && now_ns >= try->give_up_ns)
            give_up(try, try->loss);
        else
            stand(try);
        break;
    }
}

/* The first one in its line is called. */
static void on_turn(struct rl_waiter *waiter, enum rl_turn why, int64_t now_ns)
{
    struct try *try = (struct try *)(void *)((char *)waiter - offsetof(struct try, waiter));
    int64_t soon_ns = now_ns;
    if (atomic_load(&try->op.client->canceled))
        return; /* it is about to be told */
    if (why == RL_TURN_FIRST)
        begin_round(try, now_ns);
    if (try->phase != PAUSE || why == RL_TURN_FIRST)
        return;
    if (why == RL_TURN_FREED || (why == RL_TURN_WOKEN && woken(try))) {
        begin_round(try, now_ns);
        return;
    }
    if (why == RL_TURN_WOKEN)
        soon_ns = waiter->line->woken_ns + grace_ns(try->op.client);
    else if (rl_count(try->op.client->listening) < rl_quorum_needed(try->op.client->n))
        return;
    else if (rl_subs_pending(try->op.client))
        soon_ns = now_ns + LISTEN_NS;
    if (soon_ns < try->pause_until_ns) {
        try->pause_until_ns = soon_ns;
        rl_op_due(&try->op, soon_ns);
    }
}

static void on_cancel(struct rl_op *op, int64_t now_ns)
{
    struct rl_claim *claim = op->claim;
    give_up(try_of(op), REDLOCK_ECANCELED);
    if (claim)
        rl_claim_release(claim, now_ns, 0);
}

static int refuse(redlock *client, const char *why)
{
    rl_client_log(client, REDLOCK_LOG_ERROR, "%s", why);
    return REDLOCK_EINVAL;
}

/* Everything that can be wrong with what the caller says; the log tells what would be right. */
static int check(redlock *client, const void *name, size_t name_len,
                 const redlock_options *options, int64_t *ret_ttl_ms)
{
    char why[160];
    if (!name || name_len == 0)
        return refuse(client, "a lock needs a name of at least one byte");
    if (name_len > REDLOCK_NAME_MAX) {
        snprintf(why, sizeof(why), "the name has %zu bytes; at most %d are allowed", name_len,
                 REDLOCK_NAME_MAX);
        return refuse(client, why);
    }
    if (options->size != sizeof(*options) || !rl_report_fits(options->report))
        return refuse(client, "a struct's size is wrong: use REDLOCK_OPTIONS_INIT, and set "
                              "report.size to sizeof(redlock_report)");
    if (options->max_hold_ms < 0 || (options->max_hold_ms > 0 && !options->auto_renew))
        return refuse(client, "max_hold_ms must be 0 (no cap) or more, and goes with auto_renew");
    if (options->wait_ms < -1 || !rl_kind(options->kind))
        return refuse(client, "wait_ms must be -1 (for ever), 0 (once) or more, and kind one "
                              "of enum redlock_kind");
    int64_t ttl_ms = options->ttl_ms ? options->ttl_ms : client->config.ttl_ms;
    int64_t max_ms = client->config.max_ttl_ms;
    if (ttl_ms < RL_TTL_MIN_MS || ttl_ms > max_ms ||
        rl_drift_ns(ttl_ms * RL_NS_PER_MS, client->config.drift_factor) >=
            ttl_ms * RL_NS_PER_MS) {
        snprintf(why, sizeof(why),
                 "a ttl of %lld ms is not possible: it must be at least %d ms, above the drift "
                 "and at most max-ttl (%lld ms)",
                 (long long)ttl_ms, RL_TTL_MIN_MS, (long long)max_ms);
        return refuse(client, why);
    }
    *ret_ttl_ms = ttl_ms;
    return 0;
}

/* A lock that was won may have run out while the winner's thread did not run. */
static int conclude(struct rl_op *op, redlock_lock **ret_lock)
{
    struct try *try = try_of(op);
    struct redlock_lock *lock = try->lock;
    struct rl_claim *claim = op->claim;
    int result = op->result;
    if (result == REDLOCK_OK) {
        int64_t now_ns = rl_clock_now_ns();
        lock->claim = claim;
        if (!rl_hold_over(&claim->hold, now_ns)) {
            *ret_lock = lock;
            return REDLOCK_OK;
        }
        result = REDLOCK_ENOQUORUM;
        claim->lock = NULL;
        if (claim->hold.phase == RL_HOLD_HELD)
            rl_claim_release(claim, now_ns, 0);
        else
            rl_claim_let_go(claim, now_ns);
    }
    rl_lock_recycle(lock);
    return result;
}

static void init(struct try *try, redlock *client, const void *name, size_t name_len,
                 const redlock_options *options, int64_t ttl_ms)
{
    try->op.report = options->report;
    try->op.step = step;
    try->op.did = on_did;
    try->op.heard = on_heard;
    try->op.cancel = on_cancel;
    try->op.conclude = conclude;
    try->waiter.turn = on_turn;
    try->phase = NODES;
    try->kind = rl_kind(options->kind);
    try->name = name;
    try->name_len = name_len;
    try->options = *options;
    try->ttl_ns = ttl_ms * RL_NS_PER_MS;
    try->forever = options->wait_ms < 0;
    try->once = options->wait_ms == 0;
    try->loss = REDLOCK_ENOQUORUM;
    rl_backoff_init(&try->backoff, RL_RETRY_MIN_MS * RL_NS_PER_MS,
                    RL_RETRY_MAX_MS * RL_NS_PER_MS);
    rl_report_clear(client, options->report);
}

/* Stand in the name's line, where there is one, or where waiting can be expected to be worth
 * one: then a first round that is lost has entered the masters' queues already. */
static int line_up(struct try *try, int64_t now_ns)
{
    redlock *client = try->op.client;
    bool hears = rl_count(client->listening) >= rl_quorum_needed(client->n);
    if (try->once || !(hears || rl_line_find(client, try->name, try->name_len)))
        return 0;
    return rl_line_join(client, &try->waiter, try->kind, try->name, try->name_len, now_ns);
}

static void start(struct try *try, int64_t now_ns)
{
    redlock *client = try->op.client;
    int64_t wait_ms = try->options.wait_ms;
    try->began_ns = try->give_up_ns = now_ns;
    try->nodes_until_ns = now_ns + client->settings.connect_timeout_ns;
    if (wait_ms > 0)
        try->give_up_ns = wait_ms > RL_DURATION_MAX_MS ? INT64_MAX / 2
                                                       : now_ns + wait_ms * RL_NS_PER_MS;
    int result = line_up(try, now_ns);
    if (result) {
        give_up(try, result);
    } else if (try->waiter.line && !rl_line_is_first(&try->waiter)) {
        try->loss = REDLOCK_EHELD;
        stand(try);
    } else {
        step(&try->op, now_ns);
    }
}

/* What both calls begin with: a `try` that has been checked and given a handle, ready to be
 * put to work with start(). */
static int prepare(struct try *try, redlock *client, const void *name, size_t name_len,
                   const redlock_options *options)
{
    static const redlock_options defaults = REDLOCK_OPTIONS_INIT;
    int64_t ttl_ms;
    options = options ? options : &defaults;
    int result = check(client, name, name_len, options, &ttl_ms);
    if (result == 0 && atomic_load(&client->canceled))
        result = REDLOCK_ECANCELED;
    if (result == 0 && (options->auto_renew || options->on_lost || try->op.async))
        result = rl_drive_need(client);
    if (result)
        return result;
    init(try, client, name, name_len, options, ttl_ms);
    try->lock = rl_lock_new(client);
    if (!try->lock)
        return REDLOCK_ENOMEM;
    if (rl_op_begin(&try->op, client)) {
        rl_lock_recycle(try->lock);
        return REDLOCK_ENOMEM;
    }
    return 0;
}

int redlock_try_n(redlock *client, const void *name, size_t name_len,
                  const redlock_options *options, redlock_lock **ret_lock)
{
    struct try try = {.asked = false};
    int cancel_state;
    if (!client || !ret_lock)
        return REDLOCK_EINVAL;
    int result = rl_client_enter_blocking(client, &cancel_state);
    if (result)
        return result;
    int64_t now_ns = rl_loop_catch_up(client);
    result = prepare(&try, client, name, name_len, options);
    if (result == 0) {
        start(&try, now_ns);
        rl_loop_submit(client, now_ns);
        result = rl_op_wait(&try.op, ret_lock);
    }
    rl_client_leave_blocking(client, cancel_state);
    return result;
}

int redlock_try(redlock *client, const char *name, const redlock_options *options,
                redlock_lock **ret_lock)
{
    return redlock_try_n(client, name, name ? strlen(name) : 0, options, ret_lock);
}

/* ---- asynchronous --------------------------------------------------------------------- */

static int try_async(redlock *client, const void *name, size_t name_len,
                     const redlock_options *options, redlock_done_fn *done, void *context,
                     uint64_t *ret_id)
{
    size_t kept = name_len <= REDLOCK_NAME_MAX ? name_len : 0;
    struct try *try = rl_op_new(client, sizeof(*try) + kept, done, context);
    if (!try)
        return REDLOCK_ENOMEM;
    int result = prepare(try, client, name, name_len, options);
    if (result) {
        free(try);
        return result;
    }
    memcpy(try + 1, name, name_len);
    try->name = try + 1;
    if (ret_id)
        *ret_id = try->op.id;
    start(try, rl_clock_now_ns());
    return 0;
}

int redlock_try_async(redlock *client, const void *name, size_t name_len,
                      const redlock_options *options, redlock_done_fn *done, void *context,
                      uint64_t *ret_id)
{
    int cancel_state;
    if (!client || !done)
        return REDLOCK_EINVAL;
    int result = rl_client_enter(client, &cancel_state);
    if (result)
        return result;
    result = try_async(client, name, name_len, options, done, context, ret_id);
    rl_client_leave(client, cancel_state);
    return result;
}

int redlock_cancel_try(redlock *client, uint64_t id)
{
    int cancel_state;
    if (!client)
        return REDLOCK_EINVAL;
    int result = rl_client_enter(client, &cancel_state);
    if (result)
        return result;
    struct rl_op *op = client->ops;
    while (op && !(op->async && op->id == id && op->cancel))
        op = op->next;
    result = op && !op->done ? REDLOCK_OK : REDLOCK_ENOTHELD;
    if (result == REDLOCK_OK)
        op->cancel(op, rl_clock_now_ns());
    rl_client_leave(client, cancel_state);
    return result;
}
