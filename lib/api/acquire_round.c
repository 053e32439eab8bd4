/* acquire_round.c - one round of a try: its claim, what masters said of it, what it came to. */
#include "config_auto.h"

#include "api/acquire.h"

#include "base/text.h"

#include <assert.h>

#define CUT_SHORT_NS (20 * RL_NS_PER_MS)

/* What is left for a round: of the wait budget, or of the TTL, whichever is less. */
static int64_t remaining_ns(const struct rl_attempt *attempt, int64_t now_ns)
{
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

int rl_attempt_round_begin(struct rl_attempt *attempt, uint64_t able, int64_t now_ns)
{
    redlock *client = attempt->op.client;
    struct rl_claim *claim;
    int64_t budget = rl_nodes_budget_ns(&client->nodes, able, remaining_ns(attempt, now_ns));
    if (budget < 0 && attempt->asked)
        return attempt->loss;
    /* The first round is always made, however slow the masters were when last heard of. */
    if (budget < 0)
        budget = RL_ROUND_MIN_NS > remaining_ns(attempt, now_ns)
                     ? RL_ROUND_MIN_NS
                     : remaining_ns(attempt, now_ns);
    int result = rl_claim_new(client, &attempt->target, NULL, &claim);
    if (result)
        return result;
    struct rl_line *line = attempt->waiter.line;
    if (line) {
        claim->waiter = line->number;
        claim->waits_since_ns = attempt->began_ns;
        client->stats.probes += attempt->probes && !line->wakes;
        /* Where we were woken by name it is kept for us, and nobody else is told. */
        if (line->wakes && !line->ear)
            attempt->ordered_next = false;
        rl_line_asks(client, line, attempt->hinted, now_ns);
        claim->waiter_round = line->rounds;
    }
    attempt->probes = attempt->hinted = false;
    rl_hold_init(&claim->hold, client->nodes.n, attempt->ttl_ns, client->config.drift_factor);
    claim->hold.several = attempt->target.kind->several;
    claim->budget_ns = budget;
    claim->contended = attempt->asked;
    claim->waits = !attempt->once;
    claim->op = &attempt->op;
    claim->lock = attempt->lock;
    attempt->op.claim = claim;
    attempt->cut_short =
        attempt->asked && budget < CUT_SHORT_NS && budget < attempt->ttl_ns / client->nodes.n;
    attempt->asked = true;
    attempt->among = able;
    attempt->broke = 0;
    attempt->held_count = 0;
    attempt->upgrades = attempt->miskinded = 0;
    attempt->foreign = attempt->disputed = attempt->can_hear = false;
    attempt->holder = 0;
    attempt->place = INT64_MAX;
    if (attempt->next_to != attempt->behind)
        attempt->behind_since_ns = now_ns;
    attempt->behind = attempt->next_to;
    attempt->next_to = attempt->next_votes = attempt->behind_count = 0;
    rl_report_begin(&attempt->op, able, now_ns);
    return 0;
}

void rl_attempt_round_ask(struct rl_attempt *attempt)
{
    redlock *client = attempt->op.client;
    struct rl_claim *claim = attempt->op.claim;
    uint64_t able = attempt->among;
    assert(attempt->phase == RL_ROUND && claim->hold.phase == RL_HOLD_NEW);
    int first = attempt->ordered_next ? first_in_rotation(attempt, able, client->nodes.n) : -1;
    attempt->ordered_next = false;
    attempt->ordered = first >= 0;
    /* t0: nothing of this round has been handed to the kernel yet. */
    int64_t t0_ns = rl_client_now_ns(client);
    rl_op_due(&attempt->op, t0_ns + claim->budget_ns);
    rl_claim_ask(claim, able, first, t0_ns, t0_ns + claim->budget_ns);
}

/* Nodes that can vote since after the round had begun, and that will say nothing in it. */
static uint64_t come_since(const struct rl_attempt *attempt, int64_t now_ns)
{
    redlock *client = attempt->op.client;
    const struct rl_round *round = &attempt->op.claim->hold.ask;
    uint64_t come = 0;
    for (uint64_t rest = rl_nodes_able(&client->nodes, now_ns) & ~(round->yes | round->no);
         rest; rest &= rest - 1) {
        unsigned i = rl_first(rest);
        if (!(attempt->among & rl_bit(i)) || client->nodes.all[i].since_ns > round->t0_ns)
            come |= rl_bit(i);
    }
    return come;
}

/* When to stop waiting for those that are silent, as there is a majority without them by now,
 * which another round would ask; INT64_MAX: there is none. */
static int64_t cut_ns(const struct rl_attempt *attempt, int64_t now_ns)
{
    redlock *client = attempt->op.client;
    const struct rl_hold *hold = &attempt->op.claim->hold;
    if (attempt->once || hold->phase != RL_HOLD_ASKING)
        return INT64_MAX;
    uint64_t come = come_since(attempt, now_ns);
    if (!come ||
        rl_count(come | hold->ask.yes | hold->ask.no) < rl_quorum_needed(client->nodes.n))
        return INT64_MAX;
    return hold->ask.t0_ns + rl_nodes_patience_ns(&client->nodes);
}

void rl_attempt_await_votes(struct rl_attempt *attempt, int64_t now_ns)
{
    int64_t due_ns = rl_hold_next_ns(&attempt->op.claim->hold);
    int64_t soon_ns = cut_ns(attempt, now_ns);
    rl_op_due(&attempt->op, soon_ns < due_ns ? soon_ns : due_ns);
}

void rl_attempt_step_round(struct rl_attempt *attempt, int64_t now_ns)
{
    struct rl_claim *claim = attempt->op.claim;
    if (now_ns >= cut_ns(attempt, now_ns)) {
        rl_backoff_reset(&attempt->backoff);
        rl_claim_cut(claim, now_ns);
    } else {
        rl_attempt_await_votes(attempt, now_ns);
        rl_claim_tick(claim, now_ns);
    }
}

/* Would it be in vain to ask again? One master alone may have what was undone elsewhere long
 * ago; but who has the lock to read, here, will not become its writer by waiting. */
static int refused_for_good(const struct rl_attempt *attempt, const struct rl_round *round,
                            int64_t now_ns)
{
    unsigned spare = round->n - rl_quorum_needed(round->n);
    unsigned failed = rl_count(round->failed);
    if (attempt->miskinded > 0 && attempt->miskinded + failed > spare)
        return REDLOCK_EWRONGTYPE;
    if (attempt->upgrades > 0 && (attempt->upgrades + failed > spare ||
                                  rl_claims_read(attempt->op.client, &attempt->target, now_ns)))
        return REDLOCK_EUPGRADE;
    return 0;
}

/* Could it be won, if the connections that broke in it had been others? That they were closed
 * may have happened long ago, and says nothing of their masters. */
static bool broken_off(const struct rl_attempt *attempt, const struct rl_round *round,
                       int64_t now_ns)
{
    uint64_t told = round->no | (round->failed & ~attempt->broke);
    return attempt->broke && now_ns < attempt->op.connect_until_ns &&
           round->n - rl_count(told) >= rl_quorum_needed(round->n);
}

enum rl_next rl_attempt_round_lost(struct rl_attempt *attempt, struct rl_defeat *ret_defeat,
                                   int64_t now_ns)
{
    redlock *client = attempt->op.client;
    struct rl_claim *claim = attempt->op.claim;
    const struct rl_round *round = &claim->hold.ask;
    assert(attempt->phase == RL_ROUND && claim->hold.phase == RL_HOLD_ENDING);
    bool won_late = rl_round_verdict(round) == RL_WON;
    int loss = won_late || rl_round_no_quorum(round) ? REDLOCK_ENOQUORUM : REDLOCK_EHELD;
    /* Silence in the last few milliseconds of a wait does not make another's lock vanish. */
    if (!(attempt->cut_short && attempt->loss == REDLOCK_EHELD))
        attempt->loss = loss;
    attempt->starved =
        attempt->loss == REDLOCK_ENOQUORUM &&
        rl_count(rl_nodes_able(&client->nodes, now_ns)) < rl_quorum_needed(client->nodes.n);
    /* Also where all of many who ask at once have lost to each other. */
    ret_defeat->split = rl_round_split(round) || attempt->disputed;
    ret_defeat->silent = rl_round_silent(round) & claim->queues;
    attempt->ordered_next = ret_defeat->split;
    rl_report_end(&attempt->op, round, now_ns);
    claim->op = NULL;
    claim->lock = NULL;
    attempt->op.claim = NULL;
    int refused = refused_for_good(attempt, round, now_ns);
    if (refused)
        attempt->loss = refused;
    if (!refused && attempt->loss == REDLOCK_ENOQUORUM && broken_off(attempt, round, now_ns))
        return RL_NEXT_RECONNECT;
    return attempt->once || refused ? RL_NEXT_GIVE_UP : RL_NEXT_WAIT;
}

/* The first in this queue waits for that one, whose release will wake it. */
static void note_next(struct rl_attempt *attempt, uint64_t holder)
{
    attempt->behind_count += holder == attempt->behind;
    if (attempt->next_votes == 0)
        attempt->next_to = holder;
    if (attempt->next_to == holder)
        attempt->next_votes++;
    else
        attempt->next_votes--;
}

/* What a refusal tells of who has it, and for how long. */
static void learn(struct rl_attempt *attempt, const struct rl_judged *judged)
{
    uint64_t holder = rl_hash(judged->holder, judged->holder_len);
    bool queues = rl_kind_queues(attempt->target.kind); /* marks of ours */
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
    if (queues && !attempt->target.kind->several && !kept && judged->answer.with_place &&
        place == 0 && rl_kind_holder_wakes(judged->holder, judged->holder_len))
        note_next(attempt, holder);
    /* One who has it will wake the next; whoever is merely about to may not get it. */
    attempt->op.claim->silent = !attempt->disputed && !kept;
    int64_t ttl_ms = judged->answer.ttl_ms;
    if (ttl_ms < 0)
        return;
    if (ttl_ms > RL_DURATION_MAX_MS)
        ttl_ms = RL_DURATION_MAX_MS;
    int64_t until = rl_client_now_ns(attempt->op.client) + ttl_ms * RL_NS_PER_MS;
    unsigned at = attempt->held_count++;
    for (; at > 0 && attempt->held_ns[at - 1] > until; at--)
        attempt->held_ns[at] = attempt->held_ns[at - 1];
    attempt->held_ns[at] = until;
}

void rl_attempt_heard(struct rl_op *op, struct rl_node *node, enum rl_verb verb,
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
    if (judged->vote == RL_VOTE_FAILED && rl_node_was_cut(node))
        rl_attempt_of(op)->broke |= rl_bit(node->index);
    if (judged->vote == RL_VOTE_NO)
        learn(rl_attempt_of(op), judged);
}
