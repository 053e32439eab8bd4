/* hold.c - see hold.h: how rounds of acquiring, extending and giving up begin, and how they are
 * decided. What a single reply changes, also a late one, is in hold_replies.c. Core. */
#include "config_auto.h"

#include "core/hold_parts.h"

#include "base/limits.h"

#include <assert.h>

void rl_hold_init(struct rl_hold *hold, unsigned n, int64_t ttl_ns, double drift_factor)
{
    assert(n >= 1 && n <= REDLOCK_NODES_MAX);
    assert(ttl_ns > 0);
    assert(drift_factor >= 0.0 && drift_factor < 1.0);
    *hold = (struct rl_hold){
        .phase = RL_HOLD_NEW,
        .n = n,
        .drift_factor = drift_factor,
        .ttl_ns = ttl_ns,
        .ask_ttl_ns = ttl_ns,
        .key_life_ns = ttl_ns,
    };
}

void rl_hold_init_attached(struct rl_hold *hold, unsigned n, int64_t ttl_ns,
                           double drift_factor, int64_t deadline_ns)
{
    assert(deadline_ns > 0);
    rl_hold_init(hold, n, ttl_ns, drift_factor);
    hold->phase = RL_HOLD_HELD;
    hold->hearsay = true;
    hold->deadline_ns = deadline_ns;
    hold->maybe_set = rl_all(n);
    hold->granted = rl_all(n);
}

void rl_hold_assert(const struct rl_hold *hold)
{
    uint64_t some = hold->not_asked_yet | hold->retake | hold->back | hold->release_asked |
                    hold->release_lost | hold->maybe_set | hold->uncertain | hold->release_due |
                    hold->granted;
    for (unsigned slot = 0; slot < RL_SLOTS; slot++)
        some |= hold->acquire_inflight[slot] | hold->this_round[slot] |
                hold->release_inflight[slot];
    assert(hold->n >= 1 && hold->n <= REDLOCK_NODES_MAX);
    assert((some & ~rl_all(hold->n)) == 0);
    assert(hold->ttl_ns > 0 && hold->key_life_ns >= hold->ttl_ns + hold->lock_delay_ns);
    if (hold->phase != RL_HOLD_ASKING)
        assert(hold->not_asked_yet == 0);
    if (hold->phase != RL_HOLD_HELD)
        assert(hold->deadline_ns == 0 && hold->retake == 0 && hold->granted == 0);
    if (hold->phase != RL_HOLD_HELD && hold->phase != RL_HOLD_FENCING)
        assert(!hold->extending);
    if (hold->phase == RL_HOLD_HELD)
        assert(hold->deadline_ns != 0);
    if (hold->phase == RL_HOLD_FENCING)
        assert(hold->fence.wanted && hold->fence.token > 0 && hold->fence.number);
    if (hold->phase != RL_HOLD_ENDING)
        assert(!hold->releasing && (hold->release_due | hold->kept) == 0);
    if (hold->phase == RL_HOLD_NEW)
        assert(hold->maybe_set == 0);
}

static void outlast_until(struct rl_hold *hold, int64_t gone_ns)
{
    assert(hold->phase != RL_HOLD_NEW);
    assert(gone_ns > 0);
    if (gone_ns > hold->release_due_until_ns)
        hold->release_due_until_ns = gone_ns;
}

/* R4: Releases are repeated for as long as a key may live. */
void rl_hold_outlast(struct rl_hold *hold, int64_t now_ns)
{
    assert(now_ns >= 0 && hold->key_life_ns >= 0);
    outlast_until(hold, rl_key_gone_ns(now_ns, hold->key_life_ns, hold->drift_factor));
}

/* R4: The only way into ENDING. From here on each node that may have the key must get a
 * release. */
void rl_hold_end(struct rl_hold *hold, int64_t now_ns)
{
    assert(hold->phase != RL_HOLD_NEW && hold->phase != RL_HOLD_ENDING);
    assert(now_ns >= 0 && !hold->releasing);
    /* The deadline of an attached lock may imply a longer TTL than its handle's. */
    outlast_until(hold, rl_key_gone_after_ns(hold->deadline_ns, hold->lock_delay_ns,
                                             hold->key_life_ns, hold->drift_factor));
    rl_hold_outlast(hold, now_ns);
    hold->kept = rl_hold_to_keep(hold, now_ns);
    hold->phase = RL_HOLD_ENDING;
    hold->deadline_ns = 0;
    hold->extending = false;
    hold->fence.number = NULL;
    hold->not_asked_yet = 0;
    hold->retake = hold->back = 0;
    hold->granted = 0;
    hold->release_due = hold->maybe_set & ~hold->kept;
}

/* R1: After a step back nobody knows how long ago t0 was. */
void rl_hold_distrust(struct rl_hold *hold)
{
    rl_hold_assert(hold);
    hold->distrusted = true;
}

/* ---- acquire -------------------------------------------------------------------------- */

/* R1: Won, and a majority has the fencing token if there is one. The deadline counts from t0, and
 * a round that is won with nothing left is lost. */
unsigned rl_hold_become_held(struct rl_hold *hold, int64_t now_ns)
{
    int64_t until = rl_validity_end_ns(hold->ask.t0_ns, hold->ask_ttl_ns, hold->drift_factor);
    assert(hold->phase == RL_HOLD_ASKING || hold->phase == RL_HOLD_FENCING);
    if (hold->distrusted || rl_validity_over(until, now_ns)) {
        rl_hold_end(hold, now_ns);
        return RL_EV_REFUSED;
    }
    hold->phase = RL_HOLD_HELD;
    hold->extending = false;
    hold->fence.number = NULL;
    hold->deadline_ns = until;
    hold->granted = hold->ask.yes & ~hold->extend.no;
    assert(rl_count(hold->granted) >= rl_quorum_needed(hold->n));
    rl_hold_begin_keeping(hold);
    return RL_EV_ACQUIRED | rl_hold_retake_back(hold);
}

static void fail_not_asked(struct rl_hold *hold)
{
    assert(hold->phase == RL_HOLD_FENCING);
    assert((hold->not_asked_yet & ~rl_round_silent(&hold->ask)) == 0);
    for (uint64_t rest = hold->not_asked_yet; rest; rest &= rest - 1)
        rl_round_vote(&hold->ask, rl_first(rest), RL_VOTE_FAILED);
    hold->not_asked_yet = 0;
}

/* The round has a verdict: held, or the token must be told first, or lost. */
unsigned rl_hold_judge_ask(struct rl_hold *hold, int64_t now_ns)
{
    assert(hold->phase == RL_HOLD_ASKING);
    assert(hold->ask.n == hold->n && !hold->releasing);
    switch (rl_round_verdict(&hold->ask)) {
    case RL_OPEN:
        /* Ordered acquisition: the rest is asked only after a grant of the first node. */
        if (hold->not_asked_yet && rl_round_silent(&hold->ask) == hold->not_asked_yet) {
            if (hold->ask.yes)
                return RL_DO_ASK_REST;
            rl_hold_end(hold, now_ns);
            return RL_EV_REFUSED;
        }
        return 0;
    case RL_WON:
        if (!hold->fence.wanted || rl_hold_has_token(hold))
            return rl_hold_become_held(hold, now_ns);
        hold->phase = RL_HOLD_FENCING;
        fail_not_asked(hold);
        return RL_DO_FENCE;
    case RL_LOST:
        rl_hold_end(hold, now_ns);
        return RL_EV_REFUSED;
    }
    return 0;
}

unsigned rl_hold_ask(struct rl_hold *hold, int64_t t0_ns, int64_t node_deadline_ns,
                     uint64_t voting, int first)
{
    rl_hold_assert(hold);
    assert(hold->phase == RL_HOLD_NEW);
    assert((voting & ~rl_all(hold->n)) == 0);
    assert(first < (int)hold->n && (first < 0 || (voting & rl_bit((unsigned)first))));
    hold->phase = RL_HOLD_ASKING;
    hold->back &= ~voting;
    rl_round_start(&hold->ask, hold->n, t0_ns, node_deadline_ns);
    for (uint64_t rest = rl_all(hold->n) & ~voting; rest; rest &= rest - 1)
        rl_round_vote(&hold->ask, rl_first(rest), RL_VOTE_FAILED);
    if (first >= 0)
        hold->not_asked_yet = voting & ~rl_bit((unsigned)first);
    return rl_hold_judge_ask(hold, t0_ns);
}

uint64_t rl_hold_to_ask(const struct rl_hold *hold)
{
    rl_hold_assert(hold);
    if (hold->phase != RL_HOLD_ASKING && hold->phase != RL_HOLD_FENCING)
        return 0;
    return rl_round_silent(&hold->ask) & ~hold->not_asked_yet;
}

uint64_t rl_hold_ask_rest(struct rl_hold *hold, uint64_t voting, int64_t node_deadline_ns)
{
    rl_hold_assert(hold);
    assert(hold->phase == RL_HOLD_ASKING && hold->ask.yes);
    assert(hold->not_asked_yet != 0 && (voting & ~rl_all(hold->n)) == 0);
    assert(node_deadline_ns >= hold->ask.t0_ns);
    uint64_t rest = hold->not_asked_yet;
    hold->not_asked_yet = 0;
    hold->ask.node_deadline_ns = node_deadline_ns;
    for (uint64_t out = rest & ~voting; out; out &= out - 1)
        rl_round_vote(&hold->ask, rl_first(out), RL_VOTE_FAILED);
    return rest & voting;
}

/* ---- extend --------------------------------------------------------------------------- */

/* R6: The round of extends on these nodes begins. A late reply to an earlier one must not
 * count in it: its TTL began before. */
void rl_hold_begin_extends(struct rl_hold *hold, int64_t t0_ns, int64_t ttl_ns,
                           int64_t node_deadline_ns, uint64_t nodes)
{
    assert(!hold->extending && ttl_ns > 0);
    assert((nodes & ~rl_all(hold->n)) == 0);
    hold->extending = true;
    hold->extend_ttl_ns = ttl_ns;
    for (unsigned slot = 0; slot < RL_SLOTS; slot++)
        hold->this_round[slot] &=
            hold->phase == RL_HOLD_FENCING ? rl_round_silent(&hold->ask) : 0;
    int64_t life_ns = rl_key_life_ns(ttl_ns, hold->lock_delay_ns);
    if (life_ns > hold->key_life_ns)
        hold->key_life_ns = life_ns;
    rl_round_start(&hold->extend, hold->n, t0_ns, node_deadline_ns);
    for (uint64_t rest = rl_all(hold->n) & ~nodes; rest; rest &= rest - 1)
        rl_round_vote(&hold->extend, rl_first(rest), RL_VOTE_FAILED);
}

/* R6, R8: From its own t0, and before the old deadline. Then those that lack the key get it. */
unsigned rl_hold_judge_extend(struct rl_hold *hold, int64_t now_ns)
{
    assert(hold->phase == RL_HOLD_HELD && hold->extending);
    assert(hold->extend.n == hold->n && hold->extend_ttl_ns > 0);
    /* Too late, whatever the votes: another client may have held it in between. */
    if (rl_hold_over(hold, now_ns)) {
        rl_hold_end(hold, now_ns);
        return RL_EV_LOST;
    }
    switch (rl_round_verdict(&hold->extend)) {
    case RL_OPEN:
        return 0;
    case RL_WON: {
        int64_t until =
            rl_validity_end_ns(hold->extend.t0_ns, hold->extend_ttl_ns, hold->drift_factor);
        hold->extending = false;
        until = rl_validity_extended_ns(hold->deadline_ns, until);
        if (until != hold->deadline_ns)
            hold->granted = hold->extend.yes;
        hold->deadline_ns = until;
        hold->hearsay = false;
        hold->retake = hold->extend.no;
        return RL_EV_EXTENDED | rl_hold_retake_back(hold) | (hold->retake ? RL_DO_RETAKE : 0u);
    }
    case RL_LOST:
        hold->extending = false;
        /* A majority can't be ours any more. That is certain, not only unconfirmed. */
        if (hold->n - rl_count(hold->extend.no) < rl_quorum_needed(hold->n)) {
            rl_hold_end(hold, now_ns);
            return RL_EV_LOST;
        }
        return RL_EV_NOT_EXTENDED | rl_hold_retake_back(hold);
    }
    return 0;
}

unsigned rl_hold_extend(struct rl_hold *hold, int64_t t0_ns, int64_t ttl_ns,
                        int64_t node_deadline_ns, uint64_t voting)
{
    rl_hold_assert(hold);
    assert(hold->phase == RL_HOLD_HELD && !hold->extending);
    rl_hold_begin_extends(hold, t0_ns, ttl_ns, node_deadline_ns, voting);
    /* A node that can't have our key has nothing to extend: it has refused. */
    for (uint64_t rest = voting & ~hold->maybe_set; rest; rest &= rest - 1)
        rl_round_vote(&hold->extend, rl_first(rest), RL_VOTE_NO);
    return rl_hold_judge_extend(hold, t0_ns);
}

uint64_t rl_hold_to_extend(const struct rl_hold *hold)
{
    rl_hold_assert(hold);
    return hold->extending ? rl_round_silent(&hold->extend) : 0;
}

/* ---- release -------------------------------------------------------------------------- */

/* 0, EEXPIRED, EUNCONFIRMED, or 1 while it is open. */
static int judge_release(const struct rl_hold *hold)
{
    const struct rl_round *round = &hold->release;
    unsigned needed = rl_quorum_needed(hold->n);
    uint64_t asked = hold->release_asked;
    uint64_t silent = rl_round_silent(round) & asked;
    unsigned clear = hold->n - rl_count(silent | round->failed);
    assert(hold->phase == RL_HOLD_ENDING && round->n == hold->n);

    /* Even with all silent nodes, too few nodes can have had the key. */
    if (rl_count(asked & ~round->no) < needed)
        return REDLOCK_EEXPIRED;
    if (rl_count(round->yes) >= needed)
        return REDLOCK_OK;
    /* Enough nodes have deleted the key for another client to get a majority. As long as no
     * node says that the key was gone before, it was ours until now. */
    if (clear >= needed && (!round->no || !silent))
        return REDLOCK_OK;
    if (hold->n - rl_count(round->failed) < needed)
        return REDLOCK_EUNCONFIRMED;
    return 1;
}

unsigned rl_hold_check_release(struct rl_hold *hold)
{
    assert(hold->releasing && hold->phase == RL_HOLD_ENDING);
    if (judge_release(hold) == 1)
        return 0;
    hold->releasing = false;
    return RL_EV_RELEASED;
}

int rl_hold_release_result(const struct rl_hold *hold)
{
    int result = hold->kept ? REDLOCK_OK : judge_release(hold);
    assert(!hold->releasing && result <= 0);
    return result;
}

unsigned rl_hold_release(struct rl_hold *hold, int64_t now_ns, int64_t node_deadline_ns)
{
    rl_hold_assert(hold);
    uint64_t asked = hold->maybe_set;
    rl_hold_end(hold, now_ns);
    if (node_deadline_ns <= 0)
        return 0;
    if (hold->kept)
        return RL_EV_RELEASED;
    hold->releasing = true;
    hold->release_asked = asked;
    rl_round_start(&hold->release, hold->n, now_ns, node_deadline_ns);
    return rl_hold_check_release(hold);
}

/* R4, R21: On the link in use, and behind each acquire that is unanswered, but where the key is
 * left. */
bool rl_hold_wants_release(const struct rl_hold *hold, unsigned node, unsigned slot,
                           bool current)
{
    assert(node < hold->n && slot < RL_SLOTS);
    uint64_t bit = rl_bit(node) & rl_hold_to_release(hold) & ~hold->release_inflight[slot];
    bit &= ~hold->kept;
    return (hold->acquire_inflight[slot] & bit) || (current && (hold->release_due & bit));
}
