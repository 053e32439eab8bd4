/* hold.c - see hold.h. Core: every rule of acquiring, extending and giving up is here. */
#include "config_auto.h"

#include "hold.h"

#include "limits.h"

#include <assert.h>

static bool owes(const struct rl_hold *hold, uint64_t bit)
{
    for (unsigned slot = 0; slot < RL_SLOTS; slot++) {
        if ((hold->carry[slot] | hold->undo[slot]) & bit)
            return true;
    }
    return false;
}

void rl_hold_init(struct rl_hold *hold, unsigned n, int64_t ttl_ns, double drift_factor)
{
    assert(n >= 1 && n <= REDLOCK_NODES_MAX);
    assert(ttl_ns > 0);
    *hold = (struct rl_hold){
        .phase = RL_HOLD_NEW,
        .n = n,
        .drift_factor = drift_factor,
        .ttl_ns = ttl_ns,
        .key_ttl_ns = ttl_ns,
    };
}

void rl_hold_init_attached(struct rl_hold *hold, unsigned n, int64_t ttl_ns,
                           double drift_factor, int64_t deadline_ns)
{
    rl_hold_init(hold, n, ttl_ns, drift_factor);
    hold->phase = RL_HOLD_HELD;
    hold->deadline_ns = deadline_ns;
    hold->reached = rl_all(n);
}

/* A key of ours may be made, or made to last, as late as now: it is gone by itself when its
 * TTL has passed, on a server whose clock may run slower than ours. */
static void outlast(struct rl_hold *hold, int64_t now_ns)
{
    int64_t until =
        now_ns + hold->key_ttl_ns + rl_drift_ns(hold->key_ttl_ns, hold->drift_factor);
    if (until > hold->due_until_ns)
        hold->due_until_ns = until;
}

/* The one way into ENDING. Whatever may be on a node is owed a release from here on. */
static void end(struct rl_hold *hold, int64_t now_ns)
{
    assert(hold->phase == RL_HOLD_ASKING || hold->phase == RL_HOLD_HELD);
    /* Of an attached lock the deadline may tell of a longer TTL than the handle did. */
    outlast(hold, hold->deadline_ns - hold->key_ttl_ns);
    outlast(hold, now_ns);
    hold->phase = RL_HOLD_ENDING;
    hold->deadline_ns = 0;
    hold->extending = false;
    hold->held_back = 0;
    hold->retake = 0;
    hold->due = hold->reached;
}

/* ---- acquire -------------------------------------------------------------------------- */

static unsigned judge_ask(struct rl_hold *hold, int64_t now_ns)
{
    assert(hold->phase == RL_HOLD_ASKING);
    switch (rl_round_verdict(&hold->ask)) {
    case RL_OPEN:
        /* Ordered acquisition: only a grant of the first one opens the way to the rest. */
        if (hold->held_back && rl_round_silent(&hold->ask) == hold->held_back) {
            if (hold->ask.yes)
                return RL_WANTS_REST;
            end(hold, now_ns);
            return RL_DID_LOSE;
        }
        return 0;
    case RL_WON: {
        int64_t until = rl_validity_end_ns(hold->ask.t0_ns, hold->ttl_ns, hold->drift_factor);
        if (until - now_ns < RL_VALIDITY_GRAIN_NS) {
            end(hold, now_ns);
            return RL_DID_LOSE;
        }
        hold->phase = RL_HOLD_HELD;
        hold->deadline_ns = until;
        return RL_DID_WIN;
    }
    case RL_LOST:
        end(hold, now_ns);
        return RL_DID_LOSE;
    }
    return 0;
}

unsigned rl_hold_ask(struct rl_hold *hold, int64_t t0_ns, int64_t node_deadline_ns,
                     uint64_t able, int first)
{
    assert(hold->phase == RL_HOLD_NEW);
    assert(first < 0 || (able & rl_bit((unsigned)first)));
    hold->phase = RL_HOLD_ASKING;
    rl_round_start(&hold->ask, hold->n, t0_ns, node_deadline_ns);
    for (uint64_t rest = rl_all(hold->n) & ~able; rest; rest &= rest - 1)
        rl_round_vote(&hold->ask, rl_first(rest), RL_VOTE_FAILED);
    if (first >= 0)
        hold->held_back = able & ~rl_bit((unsigned)first);
    return judge_ask(hold, t0_ns);
}

uint64_t rl_hold_to_ask(const struct rl_hold *hold)
{
    if (hold->phase != RL_HOLD_ASKING)
        return 0;
    return rl_round_silent(&hold->ask) & ~hold->held_back;
}

uint64_t rl_hold_ask_rest(struct rl_hold *hold, uint64_t able, int64_t node_deadline_ns)
{
    assert(hold->phase == RL_HOLD_ASKING && hold->ask.yes);
    uint64_t rest = hold->held_back;
    hold->held_back = 0;
    hold->ask.node_deadline_ns = node_deadline_ns;
    for (uint64_t out = rest & ~able; out; out &= out - 1)
        rl_round_vote(&hold->ask, rl_first(out), RL_VOTE_FAILED);
    return rest & able;
}

/* ---- extend --------------------------------------------------------------------------- */

static unsigned judge_extend(struct rl_hold *hold, int64_t now_ns)
{
    assert(hold->phase == RL_HOLD_HELD && hold->extending);
    /* Too late, whatever the votes: somebody else may have held it in between. */
    if (rl_hold_over(hold, now_ns)) {
        end(hold, now_ns);
        return RL_DID_DIE;
    }
    switch (rl_round_verdict(&hold->extend)) {
    case RL_OPEN:
        return 0;
    case RL_WON: {
        int64_t until =
            rl_validity_end_ns(hold->extend.t0_ns, hold->extend_ttl_ns, hold->drift_factor);
        hold->extending = false;
        if (until > hold->deadline_ns)
            hold->deadline_ns = until;
        hold->retake = hold->extend.no;
        return RL_DID_EXTEND | (hold->retake ? RL_WANTS_RETAKE : 0u);
    }
    case RL_LOST:
        hold->extending = false;
        /* A majority can't be ours any more: that is certain, not merely unconfirmed. */
        if (hold->n - rl_count(hold->extend.no) < rl_quorum_needed(hold->n)) {
            end(hold, now_ns);
            return RL_DID_DIE;
        }
        return RL_DID_NOT_EXTEND;
    }
    return 0;
}

unsigned rl_hold_extend(struct rl_hold *hold, int64_t t0_ns, int64_t ttl_ns,
                        int64_t node_deadline_ns, uint64_t able)
{
    assert(hold->phase == RL_HOLD_HELD && !hold->extending);
    hold->extending = true;
    hold->extend_ttl_ns = ttl_ns;
    /* An answer that an earlier round waited for in vain says nothing of this one: the TTL
     * it stands for began before this round did. */
    hold->fresh[0] = hold->fresh[1] = 0;
    if (ttl_ns > hold->key_ttl_ns)
        hold->key_ttl_ns = ttl_ns;
    rl_round_start(&hold->extend, hold->n, t0_ns, node_deadline_ns);
    for (uint64_t rest = rl_all(hold->n) & ~able; rest; rest &= rest - 1)
        rl_round_vote(&hold->extend, rl_first(rest), RL_VOTE_FAILED);
    /* Where no key of ours can be, there is nothing to extend: the answer is known. */
    for (uint64_t rest = able & ~hold->reached; rest; rest &= rest - 1)
        rl_round_vote(&hold->extend, rl_first(rest), RL_VOTE_NO);
    return judge_extend(hold, t0_ns);
}

uint64_t rl_hold_to_extend(const struct rl_hold *hold)
{
    if (hold->phase != RL_HOLD_HELD || !hold->extending)
        return 0;
    return rl_round_silent(&hold->extend);
}

/* ---- release -------------------------------------------------------------------------- */

/* 0, EEXPIRED, EUNKNOWN, or 1 while it is open. */
static int judge_release(const struct rl_hold *hold)
{
    const struct rl_round *round = &hold->release;
    unsigned needed = rl_quorum_needed(hold->n);
    uint64_t asked = hold->release_asked;
    uint64_t silent = rl_round_silent(round) & asked;
    unsigned clear = hold->n - rl_count(silent | round->failed);

    /* Too few can still have had it, even if all that did not answer had. */
    if (rl_count(asked & ~round->no) < needed)
        return REDLOCK_EEXPIRED;
    if (rl_count(round->yes) >= needed)
        return REDLOCK_OK;
    /* Enough nodes are rid of it for anybody to get a majority; while nobody has said that
     * it was gone already there is no reason to doubt that it was ours. */
    if (clear >= needed && (!round->no || !silent))
        return REDLOCK_OK;
    if (hold->n - rl_count(round->failed) < needed)
        return REDLOCK_EUNKNOWN;
    return 1;
}

static unsigned check_release(struct rl_hold *hold)
{
    if (judge_release(hold) == 1)
        return 0;
    hold->releasing = false;
    return RL_DID_FINISH;
}

int rl_hold_release_result(const struct rl_hold *hold)
{
    int result = judge_release(hold);
    assert(result <= 0);
    return result;
}

unsigned rl_hold_release(struct rl_hold *hold, int64_t now_ns, int64_t node_deadline_ns)
{
    uint64_t asked = hold->reached;
    end(hold, now_ns);
    if (node_deadline_ns <= 0)
        return 0;
    hold->releasing = true;
    hold->release_asked = asked;
    rl_round_start(&hold->release, hold->n, now_ns, node_deadline_ns);
    return check_release(hold);
}

bool rl_hold_wants_release(const struct rl_hold *hold, unsigned node, unsigned slot,
                           bool active)
{
    uint64_t bit = rl_bit(node);
    if (hold->phase != RL_HOLD_ENDING || (hold->undo[slot] & bit))
        return false;
    return (hold->carry[slot] & bit) || (active && (hold->due & bit));
}

/* ---- what happens to requests --------------------------------------------------------- */

void rl_hold_sent(struct rl_hold *hold, unsigned node, unsigned slot, enum rl_verb verb,
                  bool active)
{
    uint64_t bit = rl_bit(node);
    assert(node < hold->n && slot < RL_SLOTS);
    if (verb == RL_RELEASE) {
        assert(hold->phase == RL_HOLD_ENDING && !(hold->undo[slot] & bit));
        hold->undo[slot] |= bit;
        if (active)
            hold->due &= ~bit;
        return;
    }
    assert(rl_verb_takes(verb));
    /* Nothing that could take the key may follow a release of it. */
    assert(hold->phase != RL_HOLD_ENDING);
    assert(!(hold->carry[slot] & bit) && !((hold->undo[0] | hold->undo[1]) & bit));
    hold->carry[slot] |= bit;
    hold->fresh[slot] |= bit;
    hold->reached |= bit;
    if (verb == RL_RETAKE)
        hold->retake &= ~bit;
}

/* Count a vote in the round that the verb belongs to, if that is still open. */
static unsigned count_vote(struct rl_hold *hold, unsigned node, enum rl_verb verb,
                           enum rl_vote vote, int64_t now_ns)
{
    if (verb == RL_ACQUIRE && hold->phase == RL_HOLD_ASKING)
        return rl_round_vote(&hold->ask, node, vote) ? judge_ask(hold, now_ns) : 0;
    if (verb == RL_EXTEND && hold->phase == RL_HOLD_HELD && hold->extending)
        return rl_round_vote(&hold->extend, node, vote) ? judge_extend(hold, now_ns) : 0;
    if (verb == RL_RELEASE && hold->releasing)
        return rl_round_vote(&hold->release, node, vote) ? check_release(hold) : 0;
    return 0;
}

unsigned rl_hold_unsent(struct rl_hold *hold, unsigned node, enum rl_verb verb, int64_t now_ns)
{
    if (verb == RL_RETAKE)
        hold->retake &= ~rl_bit(node);
    return count_vote(hold, node, verb, RL_VOTE_FAILED, now_ns);
}

/* The answer to a taking verb tells where the key is, in every phase. */
static void learn(struct rl_hold *hold, uint64_t bit, unsigned slot, enum rl_verb verb,
                  enum rl_vote vote, int64_t now_ns)
{
    if (vote == RL_VOTE_NO) {
        /* A refusal proves the key absent, unless another link's request may have come or
         * may yet come behind this one. Of several keys it proves that they are not all ours.
         */
        bool all_absent = !hold->several || verb == RL_ACQUIRE;
        if (all_absent && !((hold->carry[1 - slot] | hold->unsure) & bit))
            hold->reached &= ~bit;
        return;
    }
    if (hold->carry[1 - slot] & bit)
        hold->unsure |= bit;
    if (hold->phase != RL_HOLD_ENDING)
        return;
    /* Too late, and its life begins only now. A release that follows it on this link finds
     * it; any other may have gone before it. */
    outlast(hold, now_ns);
    if (!(hold->undo[slot] & bit))
        hold->due |= bit;
}

unsigned rl_hold_answer(struct rl_hold *hold, unsigned node, unsigned slot, enum rl_verb verb,
                        enum rl_vote vote, int64_t now_ns)
{
    uint64_t bit = rl_bit(node);
    assert(node < hold->n && slot < RL_SLOTS);
    /* Deadlines first: an answer from after its round's end is a late one. */
    unsigned did = rl_hold_tick(hold, now_ns);
    if (verb == RL_RELEASE) {
        assert(hold->undo[slot] & bit);
        hold->undo[slot] &= ~bit;
        /* Refused, not executed (BUSY, MISCONF, ...): it must be said again. */
        if (vote == RL_VOTE_FAILED)
            hold->due |= bit;
        return did | count_vote(hold, node, verb, vote, now_ns);
    }
    assert(hold->carry[slot] & bit);
    hold->carry[slot] &= ~bit;
    learn(hold, bit, slot, verb, vote, now_ns);
    bool fresh = hold->fresh[slot] & bit;
    if (fresh)
        did |= count_vote(hold, node, verb, vote, now_ns);
    /* A node that turns out, after the majority's yes, to have lost the key. */
    if (fresh && verb == RL_EXTEND && vote == RL_VOTE_NO && hold->phase == RL_HOLD_HELD &&
        !hold->extending && rl_round_verdict(&hold->extend) == RL_WON &&
        !rl_hold_over(hold, now_ns)) {
        hold->retake |= bit;
        did |= RL_WANTS_RETAKE;
    }
    return did;
}

void rl_hold_unexecuted(struct rl_hold *hold, unsigned node, unsigned slot, enum rl_verb verb)
{
    uint64_t bit = rl_bit(node);
    if (verb == RL_RELEASE) {
        assert(hold->undo[slot] & bit);
        hold->undo[slot] &= ~bit;
        hold->due |= bit;
    } else {
        assert(hold->carry[slot] & bit);
        hold->carry[slot] &= ~bit;
    }
}

void rl_hold_link_drains(struct rl_hold *hold, unsigned node, unsigned slot)
{
    uint64_t bit = rl_bit(node);
    if (hold->phase == RL_HOLD_ENDING && ((hold->carry[slot] | hold->undo[slot]) & bit))
        hold->due |= bit;
}

unsigned rl_hold_link_lost(struct rl_hold *hold, unsigned node, unsigned slot, int64_t now_ns)
{
    uint64_t bit = rl_bit(node);
    bool carrying = hold->carry[slot] & bit;
    bool undoing = hold->undo[slot] & bit;
    hold->carry[slot] &= ~bit;
    hold->undo[slot] &= ~bit;
    if (!carrying && !undoing)
        return 0;
    if (carrying)
        hold->unsure |= bit;
    /* A stopped server executes what it has received when it goes on, so the key may come
     * to life for a TTL from now at the latest moment that we can answer for. */
    if (hold->phase == RL_HOLD_ENDING) {
        hold->due |= bit;
        outlast(hold, now_ns);
    }
    unsigned did = rl_hold_tick(hold, now_ns);
    if (carrying && (hold->fresh[slot] & bit)) {
        did |= count_vote(hold, node, RL_ACQUIRE, RL_VOTE_FAILED, now_ns);
        did |= count_vote(hold, node, RL_EXTEND, RL_VOTE_FAILED, now_ns);
    }
    if (undoing && !owes(hold, bit))
        did |= count_vote(hold, node, RL_RELEASE, RL_VOTE_FAILED, now_ns);
    return did;
}

/* ---- time ----------------------------------------------------------------------------- */

static void fail_silent(struct rl_round *round, uint64_t spared)
{
    for (uint64_t rest = rl_round_silent(round) & ~spared; rest; rest &= rest - 1)
        rl_round_vote(round, rl_first(rest), RL_VOTE_FAILED);
}

unsigned rl_hold_tick(struct rl_hold *hold, int64_t now_ns)
{
    if (hold->phase == RL_HOLD_ASKING) {
        if (now_ns >= hold->ask.node_deadline_ns)
            fail_silent(&hold->ask, hold->held_back);
        else if (rl_round_verdict(&hold->ask) == RL_OPEN)
            return 0;
        return judge_ask(hold, now_ns);
    }
    if (hold->phase == RL_HOLD_HELD && hold->extending) {
        if (now_ns >= hold->extend.node_deadline_ns)
            fail_silent(&hold->extend, 0);
        else if (!rl_hold_over(hold, now_ns))
            return 0;
        return judge_extend(hold, now_ns);
    }
    if (hold->releasing && now_ns >= hold->release.node_deadline_ns) {
        for (uint64_t rest = rl_round_silent(&hold->release) & hold->release_asked; rest;
             rest &= rest - 1)
            rl_round_vote(&hold->release, rl_first(rest), RL_VOTE_FAILED);
        return check_release(hold);
    }
    return 0;
}

int64_t rl_hold_next_ns(const struct rl_hold *hold)
{
    if (hold->phase == RL_HOLD_ASKING)
        return hold->ask.node_deadline_ns;
    if (hold->phase == RL_HOLD_HELD && hold->extending) {
        int64_t over_ns = hold->deadline_ns - RL_VALIDITY_GRAIN_NS + 1;
        return hold->extend.node_deadline_ns < over_ns ? hold->extend.node_deadline_ns
                                                       : over_ns;
    }
    if (hold->releasing)
        return hold->release.node_deadline_ns;
    return INT64_MAX;
}

static bool owes_any(const struct rl_hold *hold)
{
    return (hold->carry[0] | hold->carry[1] | hold->undo[0] | hold->undo[1]) != 0;
}

bool rl_hold_settled(const struct rl_hold *hold, int64_t now_ns)
{
    if (hold->phase != RL_HOLD_ENDING || hold->releasing || owes_any(hold))
        return false;
    return !hold->due || now_ns >= hold->due_until_ns;
}

bool rl_hold_expired_unreleased(const struct rl_hold *hold, int64_t now_ns)
{
    return rl_hold_settled(hold, now_ns) && hold->due != 0;
}
