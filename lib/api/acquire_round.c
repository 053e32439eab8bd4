/* acquire_round.c - one round of a try: its lease, the masters' votes, and its result. */
#include "config_auto.h"

#include "api/acquire.h"

#include "api/try.h"
#include "base/text.h"
#include "core/refusal.h"

#include <assert.h>

/* The time left for a round: the rest of the wait or of the TTL, whichever is less. */
static int64_t remaining_ns(const struct rl_acquire *acquire, int64_t now_ns)
{
    int64_t left = acquire->give_up_ns - now_ns;
    return left < acquire->ttl_ns ? left : acquire->ttl_ns;
}

/* How long a master may be silent that has not failed: its share of a whole round, or what a
 * reply takes at most, if that is less. */
static int64_t whole_patience_ns(const struct rl_acquire *acquire, uint64_t voting)
{
    struct rl_voters *voters = acquire->call.voters;
    int64_t share_ns = rl_voters_budget_ns(voters, voting, acquire->ttl_ns);
    int64_t patience_ns = rl_voters_patience_ns(voters);
    return share_ns >= 0 && share_ns < patience_ns ? share_ns : patience_ns;
}

/* R5, R9: Scripts only for a waiter that is in a queue, and under a strict guard. */
int rl_acquire_round_begin(struct rl_acquire *acquire, uint64_t voting, int64_t now_ns)
{
    assert(acquire->phase == RL_ACQ_CONNECTING && !acquire->call.lease);
    redlock *client = acquire->call.client;
    struct rl_voters *voters = acquire->call.voters;
    struct rl_lease *lease;
    int64_t budget = rl_voters_budget_ns(voters, voting, remaining_ns(acquire, now_ns));
    if (budget < 0 && acquire->round_begun)
        return rl_acquire_outcome(acquire, now_ns);
    /* The first round is always made, however slow the masters were last. */
    if (budget < 0)
        budget = RL_ROUND_MIN_NS > remaining_ns(acquire, now_ns)
                     ? RL_ROUND_MIN_NS
                     : remaining_ns(acquire, now_ns);
    int result = rl_lease_new(client, &acquire->target, NULL, &lease);
    if (result)
        return result;
    struct rl_wait_queue *queue = acquire->waiter.queue;
    if (queue) {
        lease->waiter = queue->number;
        lease->waits_since_ns = acquire->began_ns;
        struct rl_waking *waking = &queue->waking;
        client->stats.probes += acquire->pause.unprompted && !waking->wakes;
        /* A node that woke us reserves the lock for us and wakes no other waiter. */
        if (waking->wakes && waking->named)
            acquire->ordered_next = false;
        rl_waking_round(waking, voters->n, acquire->pause.hinted, &client->prng, now_ns);
        lease->waiter_round = waking->rounds;
    }
    acquire->pause.unprompted = acquire->pause.hinted = acquire->pause.can_hear = false;
    rl_hold_init(&lease->hold, voters->n, acquire->ttl_ns, client->config.drift_factor);
    rl_hold_set_lock_delay(&lease->hold, client->config.lock_delay_ms * RL_NS_PER_MS);
    rl_hold_set_at_least(&lease->hold, acquire->options.at_least_ms);
    lease->hold.several = acquire->target.kind->several;
    lease->budget_ns = budget;
    lease->contended = acquire->round_begun;
    lease->waits = !acquire->try_once;
    /* For a try in a queue the lock may be reserved, which only scripts know. Only they tell a
     * report how long the holder has it, or grant a fencing token. */
    lease->native = acquire->target.kind->native && !queue && !acquire->call.report.to &&
                    !acquire->options.fenced && client->config.guard != RL_GUARD_STRICT;
    lease->quiet = !acquire->call.report.to;
    lease->hold.fence.wanted = acquire->options.fenced;
    lease->hold.fence.number = acquire->number;
    lease->call = &acquire->call;
    lease->lock = acquire->lock;
    acquire->call.lease = lease;
    acquire->round_begun = true;
    acquire->among = voting;
    acquire->broke = acquire->told = 0;
    acquire->able = rl_voters_able(voters);
    acquire->patience_ns = whole_patience_ns(acquire, voting);
    acquire->upgrades = acquire->wrong_type = 0;
    acquire->foreign_holder = acquire->split_holders = false;
    acquire->refusing = 0;
    acquire->holder = 0;
    rl_refusals_begin(&acquire->refusals, now_ns);
    rl_report_begin(&acquire->call, voting, now_ns);
    return 0;
}

void rl_acquire_round_ask(struct rl_acquire *acquire)
{
    redlock *client = acquire->call.client;
    struct rl_lease *lease = acquire->call.lease;
    uint64_t voting = acquire->among;
    assert(acquire->phase == RL_ACQ_ROUND && lease->hold.phase == RL_HOLD_NEW);
    assert(lease->call == &acquire->call && lease->budget_ns > 0);
    int first = acquire->ordered_next
                    ? rl_voters_first(lease->voters, voting, acquire->target.name,
                                      acquire->target.name_len)
                    : -1;
    acquire->ordered_next = false;
    acquire->ordered = first >= 0;
    /* t0: nothing of this round has been handed to the kernel yet. */
    int64_t t0_ns = rl_client_now_ns(client);
    rl_call_due(&acquire->call, t0_ns + lease->budget_ns);
    rl_lease_acquire(lease, voting, first, t0_ns, t0_ns + lease->budget_ns);
}

/* Nodes that can vote since the round began, and that were not asked in it. */
static uint64_t come_since(const struct rl_acquire *acquire, int64_t now_ns)
{
    struct rl_voters *voters = acquire->call.voters;
    const struct rl_round *round = &acquire->call.lease->hold.ask;
    uint64_t come = 0;
    for (uint64_t rest = rl_voters_to_ask(voters, now_ns) & ~(round->yes | round->no); rest;
         rest &= rest - 1) {
        unsigned i = rl_first(rest);
        if (!(acquire->among & rl_bit(i)) || voters->node[i]->since_ns > round->t0_ns)
            come |= rl_bit(i);
    }
    return come;
}

/* When to abandon this round: other nodes have come up since it began, and form a majority
 * without the silent ones. INT64_MAX: they do not. */
static int64_t cut_ns(const struct rl_acquire *acquire, int64_t now_ns)
{
    assert(acquire->phase == RL_ACQ_ROUND);
    struct rl_voters *voters = acquire->call.voters;
    const struct rl_hold *hold = &acquire->call.lease->hold;
    if (acquire->try_once || hold->phase != RL_HOLD_ASKING)
        return INT64_MAX;
    uint64_t come = come_since(acquire, now_ns);
    if (!come ||
        rl_count(come | hold->ask.yes | hold->ask.no) < rl_quorum_needed(voters->n))
        return INT64_MAX;
    return hold->ask.t0_ns + rl_voters_patience_ns(voters);
}

void rl_acquire_await_votes(struct rl_acquire *acquire, int64_t now_ns)
{
    int64_t due_ns = rl_hold_next_ns(&acquire->call.lease->hold);
    int64_t soon_ns = cut_ns(acquire, now_ns);
    rl_call_due(&acquire->call, soon_ns < due_ns ? soon_ns : due_ns);
}

void rl_acquire_step_round(struct rl_acquire *acquire, int64_t now_ns)
{
    struct rl_lease *lease = acquire->call.lease;
    if (now_ns >= cut_ns(acquire, now_ns)) {
        rl_backoff_reset(&acquire->pause.backoff);
        rl_lease_cut(lease, now_ns);
    } else {
        rl_acquire_await_votes(acquire, now_ns);
        rl_lease_tick(lease, now_ns);
    }
}

/* Is asking again useless? A single master may show an old state, but an owner that reads here
 * can't become the writer by waiting. */
static int refused_for_good(const struct rl_acquire *acquire, const struct rl_round *round,
                            int64_t now_ns)
{
    unsigned spare = round->n - rl_quorum_needed(round->n);
    unsigned failed = rl_count(round->failed);
    if (acquire->wrong_type > 0 && acquire->wrong_type + failed > spare)
        return REDLOCK_EWRONGTYPE;
    if (acquire->upgrades > 0 &&
        (acquire->upgrades + failed > spare ||
         rl_leases_owner_reads(&acquire->call.client->leases, &acquire->target, now_ns)))
        return REDLOCK_EUPGRADE;
    return 0;
}

/* Have so many masters refused for so long what a person must mend that waiting is in vain? A
 * little patience is for secrets and rights that are being changed. */
static bool is_hopeless(struct rl_acquire *acquire, const struct rl_round *round, int64_t now_ns)
{
    uint64_t refusing = acquire->refusing | rl_voters_refusing(acquire->call.voters);
    if (acquire->loss != REDLOCK_ENOQUORUM ||
        round->n - rl_count(refusing & ~(round->yes | round->no)) >= rl_quorum_needed(round->n))
        acquire->hopeless_ns = 0;
    else if (acquire->hopeless_ns == 0)
        acquire->hopeless_ns = now_ns;
    return acquire->hopeless_ns > 0 &&
           now_ns - acquire->hopeless_ns >= RL_HOPELESS_MS * RL_NS_PER_MS;
}

/* Could the round have been won without the broken connections? They may have been closed long
 * ago, which says nothing about their masters. */
static bool broken_off(const struct rl_acquire *acquire, const struct rl_round *round,
                       int64_t now_ns)
{
    uint64_t told = round->no | (round->failed & ~acquire->broke);
    return acquire->broke && now_ns < acquire->call.connect_until_ns &&
           round->n - rl_count(told) >= rl_quorum_needed(round->n);
}

/* Of the nodes that failed in the last round, those that have only been silent, for less than a
 * whole round would grant them. A node that was not asked may owe the answer to an earlier
 * request. */
static uint64_t unknown_in_last(const struct rl_acquire *acquire, int64_t now_ns)
{
    struct rl_voters *voters = acquire->call.voters;
    uint64_t silent = acquire->last.failed & acquire->able & rl_voters_able(voters);
    uint64_t unknown = 0;
    for (uint64_t rest = silent & ~acquire->told; rest; rest &= rest - 1) {
        unsigned i = rl_first(rest);
        if (rl_node_silent_ns(voters->node[i], now_ns) < acquire->patience_ns)
            unknown |= rl_bit(i);
    }
    return unknown;
}

/* Keep what the round told, for this call and for those that wait with it. */
static void note_what_it_told(struct rl_acquire *acquire, int64_t now_ns)
{
    struct rl_wait_queue *queue = acquire->waiter.queue;
    /* A master that was asked, and was silent for as long as a whole round may last, has failed,
     * whatever becomes of its connection now. */
    if (now_ns - acquire->last.t0_ns >= acquire->patience_ns)
        acquire->told |= acquire->last.failed & acquire->among;
    uint64_t unknown = unknown_in_last(acquire, now_ns);
    struct rl_finding found = {rl_round_tells(&acquire->last, unknown), now_ns, true};
    /* A majority that granted too late is the affair of its call only. */
    bool tells = found.code && rl_round_verdict(&acquire->last) != RL_WON;
    if (tells)
        acquire->found = found;
    if (queue && tells)
        queue->found = found;
    else if (queue)
        queue->found.stands = false;
}

/* Silence that lasts beyond the round counts, too. */
int rl_acquire_outcome(const struct rl_acquire *acquire, int64_t now_ns)
{
    static const struct rl_finding none = {.code = 0};
    const struct rl_wait_queue *queue = acquire->waiter.queue;
    int tells = acquire->refused;
    if (!tells && acquire->last.n > 0)
        tells = rl_round_tells(&acquire->last, unknown_in_last(acquire, now_ns));
    bool held_here =
        !tells && rl_leases_exclude(&acquire->call.client->leases, &acquire->target, now_ns);
    return rl_outcome(tells, held_here, &acquire->found, queue ? &queue->found : &none,
                      acquire->began_ns);
}

enum rl_next rl_acquire_round_lost(struct rl_acquire *acquire, struct rl_defeat *ret_defeat,
                                   int64_t now_ns)
{
    struct rl_lease *lease = acquire->call.lease;
    const struct rl_round *round = &lease->hold.ask;
    assert(acquire->phase == RL_ACQ_ROUND && lease->hold.phase == RL_HOLD_ENDING);
    assert(lease->call == &acquire->call && round->n == lease->voters->n);
    bool won_late = rl_round_verdict(round) == RL_WON;
    acquire->loss = won_late || rl_round_no_quorum(round) ? REDLOCK_ENOQUORUM : REDLOCK_EHELD;
    acquire->last = *round;
    note_what_it_told(acquire, now_ns);
    acquire->lacked_quorum =
        acquire->loss == REDLOCK_ENOQUORUM &&
        rl_count(rl_voters_to_ask(lease->voters, now_ns)) < rl_quorum_needed(lease->voters->n);
    /* Also if many clients asked at once, and none got a majority. */
    ret_defeat->split = rl_round_split(round) || acquire->split_holders;
    ret_defeat->in_vain = won_late;
    ret_defeat->ordered = acquire->ordered;
    ret_defeat->will_tell = acquire->loss == REDLOCK_EHELD && !acquire->foreign_holder;
    ret_defeat->silent = rl_round_silent(round) & lease->queues;
    acquire->ordered_next = ret_defeat->split;
    rl_report_end(&acquire->call, round, now_ns);
    lease->call = NULL;
    lease->lock = NULL;
    acquire->call.lease = NULL;
    acquire->refused = refused_for_good(acquire, round, now_ns);
    if (!acquire->refused && acquire->loss == REDLOCK_ENOQUORUM &&
        broken_off(acquire, round, now_ns))
        return RL_NEXT_RECONNECT;
    return acquire->try_once || acquire->refused || is_hopeless(acquire, round, now_ns)
               ? RL_NEXT_GIVE_UP
               : RL_NEXT_WAIT;
}

/* Note the holder that a refusal shows, and its TTL. */
static void note_refusal(struct rl_acquire *acquire, const struct rl_vote_reply *vote_reply)
{
    assert(vote_reply->vote == RL_VOTE_NO && acquire->call.lease);
    if (vote_reply->answer.code == RL_REPLY_UPGRADE)
        acquire->upgrades++;
    else if (vote_reply->answer.code == RL_REPLY_WRONGTYPE)
        acquire->wrong_type++;
    if (!vote_reply->answer.with_holder) /* the key expired before its holder could be shown */
        return;
    uint64_t holder = rl_hash(vote_reply->holder, vote_reply->holder_len);
    bool queues = rl_kind_queues(acquire->target.kind); /* the holder's text is of our format */
    bool reserved =
        queues && rl_kind_holder_is_reserved(vote_reply->holder, vote_reply->holder_len);
    /* There may be many readers, and each master may name another one. */
    if (acquire->target.kind->wakeup != RL_WAKEUP_RW)
        acquire->split_holders |= acquire->holder && acquire->holder != holder;
    acquire->holder = holder;
    acquire->foreign_holder |=
        queues && !rl_kind_holder_wakes(vote_reply->holder, vote_reply->holder_len);
    int64_t place = rl_kind_broadcasts(acquire->target.kind) ? 0 : vote_reply->answer.place;
    if (place > INT32_MAX) /* a master may send any number, and times are computed from it */
        place = INT32_MAX;
    if (vote_reply->answer.with_place && place >= 0 && place < acquire->refusals.place)
        acquire->refusals.place = place;
    if (queues && !acquire->target.kind->several && !reserved &&
        vote_reply->answer.with_place && place == 0 &&
        rl_kind_holder_wakes(vote_reply->holder, vote_reply->holder_len))
        rl_refusals_next(&acquire->refusals, holder);
    /* A holder will wake the next waiter. One that is only about to take it may fail. */
    acquire->call.lease->wakes_nobody = !acquire->split_holders && !reserved;
    int64_t ttl_ms = vote_reply->answer.ttl_ms;
    if (ttl_ms < 0)
        return;
    if (ttl_ms > RL_DURATION_MAX_MS)
        ttl_ms = RL_DURATION_MAX_MS;
    rl_refusals_held(&acquire->refusals,
                     rl_client_now_ns(acquire->call.client) + ttl_ms * RL_NS_PER_MS);
}

void rl_acquire_on_vote(struct rl_call *call, struct rl_node *node, enum rl_verb verb,
                        const struct rl_vote_reply *vote_reply)
{
    static const int votes[] = {
        [RL_VOTE_YES] = REDLOCK_VOTE_GRANTED,
        [RL_VOTE_NO] = REDLOCK_VOTE_HELD,
        [RL_VOTE_FAILED] = REDLOCK_VOTE_FAILED,
    };
    assert(!call->done);
    if (vote_reply->stale && (verb == RL_ACQUIRE || verb == RL_EXTEND))
        rl_acquire_of(call)->broke |= rl_bit(node->index);
    /* It granted the lock, and then did not take the fencing token of another grant. */
    if (verb == RL_EXTEND && vote_reply->vote == RL_VOTE_FAILED)
        rl_report_vote(call, node->index, REDLOCK_VOTE_FAILED, vote_reply);
    if (verb != RL_ACQUIRE)
        return;
    rl_report_vote(call, node->index, votes[vote_reply->vote], vote_reply);
    if (vote_reply->vote == RL_VOTE_FAILED)
        rl_acquire_of(call)->told |= rl_bit(node->index);
    if (vote_reply->vote == RL_VOTE_FAILED && rl_node_was_cut(node))
        rl_acquire_of(call)->broke |= rl_bit(node->index);
    if (vote_reply->vote == RL_VOTE_FAILED && vote_reply->why &&
        rl_refusal_lasts(vote_reply->why))
        rl_acquire_of(call)->refusing |= rl_bit(node->index);
    if (vote_reply->vote == RL_VOTE_NO)
        note_refusal(rl_acquire_of(call), vote_reply);
}
