/* try.c - acquiring: wait for nodes, ask them, and on a loss pause and ask again with a
 * token of its own, until it is won or the time that the caller gave is over.
 *
 *   NODES --enough able, or none to hope for--> ROUND --won--> done
 *     ^                                           |
 *     +---------- PAUSE <------- lost ------------+--no time left--> done
 */
#include "config_auto.h"

#include "claim.h"
#include "clock.h"
#include "op.h"

#include <stdio.h>
#include <string.h>

#define CUT_SHORT_NS (20 * RL_NS_PER_MS)

enum phase { NODES, ROUND, PAUSE };

struct try {
    struct rl_op op; /* first: the callbacks get this one */
    enum phase phase;
    const struct rl_kind *kind;
    const void *name;
    size_t name_len;
    int64_t ttl_ns;
    bool forever, once;
    bool asked;             /* a first round has been begun */
    int64_t began_ns;
    int64_t give_up_ns;     /* where there is a wait budget */
    int64_t nodes_until_ns; /* NODES: no longer than this */
    int64_t pause_until_ns; /* PAUSE */
    struct rl_backoff backoff;
    bool ordered_next;      /* the last round was split: ask one first */
    int loss;               /* what the last round came to */
    bool cut_short;         /* the wait's end left it less time than an answer may take */
    bool starved;           /* and it was for want of masters that could be asked */
    unsigned held_count;
    int64_t held_ns[REDLOCK_NODES_MAX]; /* when each blocking key runs out, ascending */
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

/* FNV-1a: where the rotation of an ordered acquisition begins, the same for all clients. */
static unsigned start_of(const struct try *try, unsigned n)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    const unsigned char *at = try->name;
    for (size_t i = 0; i < try->name_len; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return (unsigned)((hash >> 32) % n);
}

static int first_in_rotation(const struct try *try, uint64_t able, unsigned n)
{
    unsigned start = start_of(try, n);
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
    rl_hold_init(&claim->hold, client->n, try->ttl_ns, client->config.drift_factor);
    claim->budget_ns = budget;
    claim->op = &try->op;
    claim->lock = try->lock;
    try->op.claim = claim;
    try->cut_short = try->asked && budget < CUT_SHORT_NS && budget < try->ttl_ns / client->n;
    try->phase = ROUND;
    try->asked = true;
    try->held_count = 0;
    int first = try->ordered_next ? first_in_rotation(try, able, client->n) : -1;
    try->ordered_next = false;
    rl_report_begin(&try->op, able, now_ns);
    /* t0: nothing of this round has been handed to the kernel yet. */
    int64_t t0_ns = rl_clock_now_ns();
    try->op.due_ns = t0_ns + budget;
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
    try->ordered_next = rl_round_split(round);
    rl_report_end(&try->op, round, now_ns);
    claim->op = NULL;
    claim->lock = NULL;
    try->op.claim = NULL;
    if (try->once) {
        give_up(try, try->loss);
        return;
    }
    int64_t until = now_ns + rl_backoff_next_ns(&try->backoff, &client->prng);
    int64_t free_at = free_at_ns(try, client->n);
    if (free_at > now_ns && free_at < until)
        until = free_at + (int64_t)rl_prng_below(&client->prng, RL_RETRY_MIN_MS * RL_NS_PER_MS);
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
    try->pause_until_ns = try->op.due_ns = until;
}

static void on_did(struct rl_op *op, unsigned did, int64_t now_ns)
{
    struct try *try = try_of(op);
    if (did & RL_DID_WIN) {
        rl_report_end(op, &op->claim->hold.ask, now_ns);
        op->claim->op = NULL;
        rl_op_finish(op, REDLOCK_OK);
    } else if (did & RL_DID_LOSE) {
        lost(try, now_ns);
    } else {
        op->due_ns = rl_hold_next_ns(&op->claim->hold);
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
    if (judged->vote != RL_VOTE_NO || judged->answer.ttl_ms < 0)
        return;
    int64_t until = rl_clock_now_ns() + judged->answer.ttl_ms * RL_NS_PER_MS;
    unsigned at = try->held_count++;
    for (; at > 0 && try->held_ns[at - 1] > until; at--)
        try->held_ns[at] = try->held_ns[at - 1];
    try->held_ns[at] = until;
}

static void wait_for_nodes(struct try *try, int64_t now_ns)
{
    redlock *client = try->op.client;
    int64_t until;
    uint64_t able = rl_client_able(client, now_ns);
    if (!rl_client_ready(client, able, now_ns, &until) && now_ns < try->nodes_until_ns) {
        try->op.due_ns = until < try->nodes_until_ns ? until : try->nodes_until_ns;
        return;
    }
    /* Connecting has a budget of its own: the first round gets all of the caller's. */
    if (!try->asked && !try->forever && !try->once)
        try->give_up_ns += now_ns - try->began_ns;
    start_round(try, able, now_ns);
}

static void step(struct rl_op *op, int64_t now_ns)
{
    struct try *try = try_of(op);
    switch (try->phase) {
    case NODES:
        wait_for_nodes(try, now_ns);
        break;
    case ROUND:
        op->due_ns = rl_hold_next_ns(&op->claim->hold);
        rl_claim_tick(op->claim, now_ns);
        break;
    case PAUSE: {
        /* Masters that have come back end a pause for want of a quorum. */
        bool back = try->starved && rl_count(rl_client_able(op->client, now_ns)) >=
                                        rl_quorum_needed(op->client->n);
        if (now_ns < try->pause_until_ns && !back) {
            op->due_ns = try->pause_until_ns;
            break;
        }
        try->phase = NODES;
        try->nodes_until_ns = now_ns;
        wait_for_nodes(try, now_ns);
        break;
    }
    }
}

static void on_cancel(struct rl_op *op, int64_t now_ns)
{
    struct try *try = try_of(op);
    struct rl_claim *claim = op->claim;
    give_up(try, REDLOCK_ECANCELED);
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

static void begin(struct try *try, redlock *client, const void *name, size_t name_len,
                  const redlock_options *options, int64_t ttl_ms, int64_t now_ns)
{
    *try = (struct try){
        .phase = NODES,
        .kind = rl_kind(options->kind),
        .name = name,
        .name_len = name_len,
        .ttl_ns = ttl_ms * RL_NS_PER_MS,
        .forever = options->wait_ms < 0,
        .once = options->wait_ms == 0,
        .began_ns = now_ns,
        .give_up_ns = now_ns,
        .nodes_until_ns = now_ns + client->settings.connect_timeout_ns,
        .loss = REDLOCK_ENOQUORUM,
    };
    if (options->wait_ms > 0)
        try->give_up_ns = options->wait_ms > RL_DURATION_MAX_MS
                              ? INT64_MAX / 2
                              : now_ns + options->wait_ms * RL_NS_PER_MS;
    rl_backoff_init(&try->backoff, RL_RETRY_MIN_MS * RL_NS_PER_MS,
                    RL_RETRY_MAX_MS * RL_NS_PER_MS);
    rl_op_begin(&try->op, client);
    try->op.report = options->report;
    try->op.step = step;
    try->op.did = on_did;
    try->op.heard = on_heard;
    try->op.cancel = on_cancel;
    rl_report_clear(client, options->report);
}

/* A lock that was won may have run out while the winner's thread did not run. */
static int confirm(struct try *try)
{
    struct rl_claim *claim = try->op.claim;
    int64_t now_ns = rl_clock_now_ns();
    if (!rl_hold_over(&claim->hold, now_ns))
        return REDLOCK_OK;
    rl_claim_release(claim, now_ns, 0);
    return REDLOCK_ENOQUORUM;
}

int redlock_try_n(redlock *client, const void *name, size_t name_len,
                  const redlock_options *options, redlock_lock **ret_lock)
{
    static const redlock_options defaults = REDLOCK_OPTIONS_INIT;
    struct try try;
    int64_t ttl_ms;
    int cancel_state;
    if (!client || !ret_lock)
        return REDLOCK_EINVAL;
    int result = rl_client_enter(client, &cancel_state);
    if (result)
        return result;
    result = check(client, name, name_len, options ? options : &defaults, &ttl_ms);
    struct redlock_lock *lock = result ? NULL : rl_lock_new(client);
    if (!lock) {
        rl_client_leave(client, cancel_state);
        return result ? result : REDLOCK_ENOMEM;
    }
    int64_t now_ns = rl_loop_catch_up(client);
    begin(&try, client, name, name_len, options ? options : &defaults, ttl_ms, now_ns);
    try.lock = lock;
    if (atomic_load(&client->canceled))
        give_up(&try, REDLOCK_ECANCELED);
    else
        step(&try.op, now_ns);
    rl_loop_flush(client, now_ns);
    rl_loop_wait(client, &try.op);
    result = try.op.result;
    if (result == REDLOCK_OK) {
        lock->claim = try.op.claim;
        result = confirm(&try);
    }
    if (result != REDLOCK_OK) {
        struct rl_claim *claim = lock->claim;
        if (claim)
            claim->lock = NULL;
        rl_lock_recycle(lock);
        if (claim)
            rl_claim_let_go(claim, now_ns);
    } else {
        *ret_lock = lock;
    }
    rl_op_end(&try.op);
    rl_client_leave(client, cancel_state);
    return result;
}

int redlock_try(redlock *client, const char *name, const redlock_options *options,
                redlock_lock **ret_lock)
{
    return redlock_try_n(client, name, name ? strlen(name) : 0, options, ret_lock);
}
