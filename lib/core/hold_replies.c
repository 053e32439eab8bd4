/* hold_replies.c - see hold.h: the events of a hold's requests and of time. They decide which
 * nodes may have the key, which votes count, and which releases must be sent. Core. */
#include "config_auto.h"

#include "core/hold_parts.h"

#include <assert.h>

static unsigned tick(struct rl_hold *hold, int64_t now_ns);

/* ---- what happens to requests --------------------------------------------------------- */

/* R8: A retake stands for the deadline under which it was sent. */
void rl_hold_sent(struct rl_hold *hold, unsigned node, unsigned slot, enum rl_verb verb,
                  bool current)
{
    rl_hold_assert(hold);
    uint64_t bit = rl_bit(node);
    assert(node < hold->n && slot < RL_SLOTS);
    if (verb == RL_RELEASE) {
        assert(hold->phase == RL_HOLD_ENDING && !(hold->release_inflight[slot] & bit));
        hold->release_inflight[slot] |= bit;
        assert((hold->release_due | hold->acquire_inflight[slot]) &
               bit); /* there is something to release */
        if (current)
            hold->release_due &= ~bit;
        return;
    }
    assert(rl_verb_takes(verb));
    assert(current); /* only a release may go down a draining link */
    /* No request that could set the key may follow a release of it. */
    assert(hold->phase != RL_HOLD_ENDING);
    assert(!(hold->acquire_inflight[slot] & bit) &&
           !((hold->release_inflight[0] | hold->release_inflight[1]) & bit));
    hold->acquire_inflight[slot] |= bit;
    /* What is retaken beside an extension has the old deadline. */
    if (verb != RL_RETAKE || !hold->extending)
        hold->this_round[slot] |= bit;
    hold->maybe_set |= bit;
    if (verb == RL_RETAKE)
        hold->retake &= ~bit;
}

/* A vote in the open round of acquires; a grant of a fenced lock has a number. */
static unsigned count_acquire(struct rl_hold *hold, unsigned node, enum rl_vote vote,
                              uint64_t number, int64_t now_ns)
{
    assert(hold->phase == RL_HOLD_ASKING || hold->phase == RL_HOLD_FENCING);
    if (!rl_round_vote(&hold->ask, node, vote))
        return 0;
    if (vote == RL_VOTE_YES && hold->fence.wanted)
        rl_fence_grant(&hold->fence, node, number);
    return hold->phase == RL_HOLD_ASKING ? rl_hold_judge_ask(hold, now_ns)
                                         : rl_hold_judge_fence(hold, now_ns);
}

static unsigned count_extend(struct rl_hold *hold, unsigned node, enum rl_vote vote,
                             int64_t now_ns)
{
    assert(hold->extending);
    assert(hold->phase == RL_HOLD_FENCING || hold->phase == RL_HOLD_HELD);
    if (!rl_round_vote(&hold->extend, node, vote))
        return 0;
    if (hold->phase != RL_HOLD_FENCING)
        return rl_hold_judge_extend(hold, now_ns);
    if (vote == RL_VOTE_YES)
        rl_fence_took(&hold->fence, node);
    return rl_hold_judge_fence(hold, now_ns);
}

/* R6, R7, R8: Count a vote in the round that the verb belongs to, if that is still open. */
static unsigned count_vote(struct rl_hold *hold, unsigned node, enum rl_verb verb,
                           enum rl_vote vote, uint64_t number, int64_t now_ns)
{
    assert(node < hold->n);
    assert(rl_verb_takes(verb) || verb == RL_RELEASE);
    if (verb == RL_ACQUIRE && (hold->phase == RL_HOLD_ASKING || hold->phase == RL_HOLD_FENCING))
        return count_acquire(hold, node, vote, number, now_ns);
    if (verb == RL_EXTEND && hold->extending)
        return count_extend(hold, node, vote, now_ns);
    if (verb == RL_RELEASE && hold->releasing)
        return rl_round_vote(&hold->release, node, vote) ? rl_hold_check_release(hold) : 0;
    return 0;
}

unsigned rl_hold_unsent(struct rl_hold *hold, unsigned node, enum rl_verb verb, int64_t now_ns)
{
    rl_hold_assert(hold);
    assert(node < hold->n);
    assert(verb != RL_RELEASE || hold->phase == RL_HOLD_ENDING);
    if (verb == RL_RETAKE)
        hold->retake &= ~rl_bit(node);
    return count_vote(hold, node, verb, RL_VOTE_FAILED, 0, now_ns);
}

/* R4: In every phase the reply to a taking verb shows whether the node has the key. */
static void learn(struct rl_hold *hold, uint64_t bit, unsigned slot, enum rl_verb verb,
                  enum rl_vote vote, int64_t now_ns)
{
    assert(rl_verb_takes(verb));
    assert(slot < RL_SLOTS && rl_count(bit) == 1);
    if (vote == RL_VOTE_NO) {
        /* A refusal proves the key absent, unless another link's request may have come or
         * may yet come behind this one. Of several keys it proves that they are not all ours.
         */
        bool all_absent = !hold->several || verb == RL_ACQUIRE;
        if (all_absent && !((hold->acquire_inflight[1 - slot] | hold->uncertain) & bit))
            hold->maybe_set &= ~bit;
        return;
    }
    if (hold->acquire_inflight[1 - slot] & bit)
        hold->uncertain |= bit;
    if (hold->phase != RL_HOLD_ENDING)
        return;
    /* Too late. The key may have been set or extended as late as now, also where the reply is
     * an error (FAILED). A release that follows on this link will delete it; one on another
     * link may have come before it. */
    rl_hold_outlast(hold, now_ns);
    if (!(hold->release_inflight[slot] & bit))
        rl_hold_owe_release(hold, bit);
}

/* A late grant is one more that the hold stands on. */
static void stands(struct rl_hold *hold, uint64_t bit, enum rl_verb verb, enum rl_vote vote)
{
    assert(hold->phase == RL_HOLD_HELD && rl_count(bit) == 1);
    if (vote == RL_VOTE_YES) {
        hold->granted |= bit;
        hold->retake &= ~bit;
    } else if (vote == RL_VOTE_NO && verb == RL_EXTEND) {
        hold->granted &= ~bit;
    }
}

/* R8: A reply to a retake is no vote. hold.h has a table of what replies change. */
unsigned rl_hold_answer(struct rl_hold *hold, unsigned node, unsigned slot, enum rl_verb verb,
                        enum rl_vote vote, uint64_t number, int64_t now_ns)
{
    rl_hold_assert(hold);
    uint64_t bit = rl_bit(node);
    assert(node < hold->n && slot < RL_SLOTS);
    assert((number > 0) == (hold->fence.wanted && verb == RL_ACQUIRE && vote == RL_VOTE_YES));
    /* Deadlines first: a reply after the end of its round is late. But what a master has done is
     * done, and others' replies to releases may lie beside this one. So the reply to a release
     * counts until the tick that ends its round, also after that round's deadline. */
    unsigned events = hold->phase == RL_HOLD_ENDING ? 0 : tick(hold, now_ns);
    if (verb == RL_RELEASE) {
        assert(hold->release_inflight[slot] & bit);
        hold->release_inflight[slot] &= ~bit;
        /* An error (BUSY, MISCONF, ...): not executed, so it must be sent again. */
        if (vote == RL_VOTE_FAILED)
            hold->release_due |= bit;
        /* The key was gone already: probably by our own earlier release. */
        if (vote == RL_VOTE_NO && (hold->release_lost & bit))
            vote = RL_VOTE_YES;
        return events | count_vote(hold, node, verb, vote, 0, now_ns);
    }
    assert(rl_verb_takes(verb));
    assert(hold->acquire_inflight[slot] & bit);
    hold->acquire_inflight[slot] &= ~bit;
    learn(hold, bit, slot, verb, vote, now_ns);
    bool fresh = hold->this_round[slot] & bit;
    if (fresh)
        events |= count_vote(hold, node, verb, vote, number, now_ns);
    if (fresh && hold->phase == RL_HOLD_HELD)
        stands(hold, bit, verb, vote);
    /* After the majority's yes this node says that it has lost the key. */
    if (fresh && verb == RL_EXTEND && vote == RL_VOTE_NO && hold->phase == RL_HOLD_HELD &&
        !hold->extending && rl_round_verdict(&hold->extend) == RL_WON &&
        !rl_hold_over(hold, now_ns)) {
        hold->retake |= bit;
        events |= RL_DO_RETAKE;
    }
    return events;
}

void rl_hold_unexecuted(struct rl_hold *hold, unsigned node, unsigned slot, enum rl_verb verb)
{
    rl_hold_assert(hold);
    assert(node < hold->n && slot < RL_SLOTS);
    uint64_t bit = rl_bit(node);
    if (verb == RL_RELEASE) {
        assert(hold->phase == RL_HOLD_ENDING);
        assert(hold->release_inflight[slot] & bit);
        hold->release_inflight[slot] &= ~bit;
        hold->release_due |= bit;
    } else {
        assert(rl_verb_takes(verb));
        assert(hold->acquire_inflight[slot] & bit);
        hold->acquire_inflight[slot] &= ~bit;
    }
}

void rl_hold_link_drains(struct rl_hold *hold, unsigned node, unsigned slot)
{
    rl_hold_assert(hold);
    assert(node < hold->n && slot < RL_SLOTS);
    uint64_t bit = rl_bit(node);
    if (hold->phase == RL_HOLD_ENDING &&
        ((hold->acquire_inflight[slot] | hold->release_inflight[slot]) & bit))
        rl_hold_owe_release(hold, bit);
}

/* R4, R5: What it did not answer is unknown: no grant, and yet to be released. */
unsigned rl_hold_link_lost(struct rl_hold *hold, unsigned node, unsigned slot, int64_t now_ns)
{
    rl_hold_assert(hold);
    assert(node < hold->n && slot < RL_SLOTS);
    assert(hold->phase != RL_HOLD_NEW || hold->acquire_inflight[slot] == 0);
    uint64_t bit = rl_bit(node);
    bool carrying = hold->acquire_inflight[slot] & bit;
    bool undoing = hold->release_inflight[slot] & bit;
    hold->acquire_inflight[slot] &= ~bit;
    hold->release_inflight[slot] &= ~bit;
    if (!carrying && !undoing)
        return 0;
    if (carrying)
        hold->uncertain |= bit;
    if (undoing)
        hold->release_lost |= bit;
    /* A stopped server executes the received requests when it goes on. So the key may be set as
     * late as now, and live for a TTL. */
    if (hold->phase == RL_HOLD_ENDING) {
        rl_hold_owe_release(hold, bit);
        rl_hold_outlast(hold, now_ns);
    }
    unsigned events = tick(hold, now_ns);
    if (carrying && (hold->this_round[slot] & bit)) {
        events |= count_vote(hold, node, RL_ACQUIRE, RL_VOTE_FAILED, 0, now_ns);
        events |= count_vote(hold, node, RL_EXTEND, RL_VOTE_FAILED, 0, now_ns);
    }
    /* The release is sent again on the next link: its round goes on (rl_hold_unsent). */
    return events;
}

/* ---- time ----------------------------------------------------------------------------- */

static void fail_silent(struct rl_round *round, uint64_t spared)
{
    assert((spared & ~rl_all(round->n)) == 0);
    for (uint64_t rest = rl_round_silent(round) & ~spared; rest; rest &= rest - 1)
        rl_round_vote(round, rl_first(rest), RL_VOTE_FAILED);
}

static unsigned tick(struct rl_hold *hold, int64_t now_ns)
{
    assert(now_ns >= 0);
    if (hold->phase == RL_HOLD_ASKING) {
        if (now_ns >= hold->ask.node_deadline_ns)
            fail_silent(&hold->ask, hold->not_asked_yet);
        else if (rl_round_verdict(&hold->ask) == RL_OPEN)
            return 0;
        return rl_hold_judge_ask(hold, now_ns);
    }
    if (hold->phase == RL_HOLD_FENCING && hold->extending) {
        if (now_ns >= hold->ask.node_deadline_ns)
            fail_silent(&hold->ask, 0);
        if (now_ns >= hold->extend.node_deadline_ns)
            fail_silent(&hold->extend, 0);
        return rl_hold_judge_fence(hold, now_ns);
    }
    if (hold->phase == RL_HOLD_HELD && hold->extending) {
        if (now_ns >= hold->extend.node_deadline_ns)
            fail_silent(&hold->extend, 0);
        else if (!rl_hold_over(hold, now_ns))
            return 0;
        return rl_hold_judge_extend(hold, now_ns);
    }
    if (hold->releasing && now_ns >= hold->release.node_deadline_ns) {
        for (uint64_t rest = rl_round_silent(&hold->release) & hold->release_asked; rest;
             rest &= rest - 1)
            rl_round_vote(&hold->release, rl_first(rest), RL_VOTE_FAILED);
        return rl_hold_check_release(hold);
    }
    return 0;
}

/* R5: A node that has not answered by its deadline has failed. */
unsigned rl_hold_tick(struct rl_hold *hold, int64_t now_ns)
{
    rl_hold_assert(hold);
    return tick(hold, now_ns);
}

unsigned rl_hold_cut(struct rl_hold *hold, int64_t now_ns)
{
    rl_hold_assert(hold);
    assert(hold->phase == RL_HOLD_ASKING);
    if (hold->ask.node_deadline_ns > now_ns)
        hold->ask.node_deadline_ns = now_ns;
    return tick(hold, now_ns);
}

/* When the next of its two rounds is over. */
static int64_t fencing_next_ns(const struct rl_hold *hold)
{
    assert(hold->phase == RL_HOLD_FENCING);
    int64_t next_ns = INT64_MAX;
    if (rl_round_silent(&hold->ask))
        next_ns = hold->ask.node_deadline_ns;
    if (hold->extending && rl_round_silent(&hold->extend) &&
        hold->extend.node_deadline_ns < next_ns)
        next_ns = hold->extend.node_deadline_ns;
    return next_ns;
}

int64_t rl_hold_next_ns(const struct rl_hold *hold)
{
    if (hold->phase == RL_HOLD_ASKING)
        return hold->ask.node_deadline_ns;
    if (hold->phase == RL_HOLD_FENCING)
        return fencing_next_ns(hold);
    if (hold->phase == RL_HOLD_HELD && hold->extending) {
        int64_t over_ns = rl_validity_over_ns(hold->deadline_ns);
        return hold->extend.node_deadline_ns < over_ns ? hold->extend.node_deadline_ns
                                                       : over_ns;
    }
    if (hold->releasing)
        return hold->release.node_deadline_ns;
    return INT64_MAX;
}

static bool owes_any(const struct rl_hold *hold)
{
    return (hold->acquire_inflight[0] | hold->acquire_inflight[1] | hold->release_inflight[0] |
            hold->release_inflight[1]) != 0;
}

bool rl_hold_settled(const struct rl_hold *hold, int64_t now_ns)
{
    assert(now_ns >= 0);
    if (hold->phase != RL_HOLD_ENDING || hold->releasing || owes_any(hold))
        return false;
    return !hold->release_due || now_ns >= hold->release_due_until_ns;
}

bool rl_hold_expired_unreleased(const struct rl_hold *hold, int64_t now_ns)
{
    assert(now_ns >= 0);
    return rl_hold_settled(hold, now_ns) && hold->release_due != 0;
}
