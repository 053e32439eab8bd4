/* lease_replies.c - what nodes tell of a claim's requests: answered, not executed, lost. */
#include "config_auto.h"

#include "engine/lease_parts.h"

#define RELEASE_RETRY_NS (100 * RL_NS_PER_MS)

/* Where masters know waiters by their owner or their client: is one there again meanwhile? */
static bool stands_again(const struct rl_claim *claim)
{
    return !rl_kind_queues(claim->target.kind) && rl_line_find(claim->client, &claim->target);
}

/* A round of a waiter's: keep in mind where it is queued, and leave the queue where it has
 * been entered for nobody any more. */
static void note_queue(struct rl_claim *claim, unsigned node, enum rl_queued queued,
                       int64_t now_ns)
{
    redlock *client = claim->client;
    if (queued == RL_QUEUED && rl_kind_queues(claim->target.kind) &&
        claim->waiter_round != rl_line_rounds(client, claim->waiter))
        queued = RL_WAS_QUEUED;
    if (rl_line_stands(client, claim->waiter))
        rl_line_answered(client, claim->waiter, node, queued, now_ns);
    else if ((queued == RL_QUEUED || queued == RL_WAS_QUEUED) && !stands_again(claim))
        rl_line_depart(client, &claim->target, claim->waiter, rl_bit(node), now_ns);
}

/* Where all are told of a release, who was refused hears of it, in a queue or not. */
static enum rl_queued queued_by(const struct rl_claim *claim, const struct rl_judged *judged)
{
    if (judged->vote == RL_VOTE_FAILED)
        return RL_MAYBE_QUEUED;
    bool told = judged->answer.place >= 0 || rl_kind_broadcasts(claim->target.kind);
    return judged->vote == RL_VOTE_NO && told ? RL_QUEUED : RL_NOT_QUEUED;
}

void rl_claim_answered(void *owner, struct rl_node *node, unsigned slot,
                       const struct rl_waiting *waiting, const struct rl_judged *judged,
                       int64_t now_ns)
{
    struct rl_claim *claim = waiting->claim;
    (void)owner;
    rl_claim_enter(claim);
    claim->owed--;
    if (waiting->script == RL_WAIT && !claim->query)
        note_queue(claim, node->index, queued_by(claim, judged), now_ns);
    rl_claim_hear(claim, node, waiting->verb, judged);
    if (!claim->query) {
        if (waiting->verb == RL_RELEASE && judged->vote == RL_VOTE_FAILED) {
            claim->retry_ns = now_ns + RELEASE_RETRY_NS;
            if (claim->retry_ns < claim->client->leases.sweep_ns)
                claim->client->leases.sweep_ns = claim->retry_ns;
        }
        rl_claim_react(claim,
                       rl_hold_answer(&claim->hold, node->index, slot, waiting->verb,
                                      judged->vote, now_ns),
                       now_ns);
    }
    rl_claim_leave(claim, now_ns);
}

/* Is the question still open, so that asking it again (it was not executed) makes sense? */
static bool still_wanted(const struct rl_claim *claim, unsigned node, enum rl_verb verb,
                         int64_t now_ns)
{
    if (claim->detached)
        return false; /* its keys are another process's business */
    uint64_t bit = rl_bit(node);
    switch (verb) {
    case RL_ACQUIRE: /* or held by now: then it is one more late grant */
        if (rl_hold_to_ask(&claim->hold) & bit)
            return true;
        break;
    case RL_EXTEND:
        return rl_hold_to_extend(&claim->hold) & bit;
    case RL_RETAKE:
        break;
    default:
        return false;
    }
    return claim->hold.phase == RL_HOLD_HELD && !rl_hold_over(&claim->hold, now_ns);
}

void rl_claim_unexecuted(void *owner, struct rl_node *node, unsigned slot,
                         const struct rl_waiting *waiting, int64_t now_ns)
{
    struct rl_claim *claim = waiting->claim;
    (void)owner;
    rl_claim_enter(claim);
    claim->owed--;
    if (claim->query) {
        if (claim->op)
            rl_claim_query(claim, waiting->script, rl_bit(node->index), now_ns,
                           now_ns + claim->budget_ns);
    } else {
        rl_hold_unexecuted(&claim->hold, node->index, slot, waiting->verb);
        unsigned did = rl_hold_tick(&claim->hold, now_ns);
        if (slot == node->active && still_wanted(claim, node->index, waiting->verb, now_ns))
            did |= rl_claim_send_taking(claim, waiting->verb, rl_bit(node->index), now_ns);
        rl_claim_react(claim, did, now_ns);
    }
    rl_claim_leave(claim, now_ns);
}

void rl_claim_drains(void *owner, struct rl_node *node, unsigned slot,
                     const struct rl_waiting *waiting, int64_t now_ns)
{
    (void)owner, (void)now_ns;
    if (!waiting->claim->query)
        rl_hold_link_drains(&waiting->claim->hold, node->index, slot);
}

void rl_claim_lost(void *owner, struct rl_node *node, unsigned slot,
                   const struct rl_waiting *waiting, int64_t now_ns)
{
    struct rl_claim *claim = waiting->claim;
    const char *why = node->slot[slot].wire.why;
    struct rl_judged judged = {.vote = RL_VOTE_FAILED, .why = *why ? why : node->why};
    (void)owner;
    rl_claim_enter(claim);
    claim->owed--;
    if (waiting->script == RL_WAIT && !claim->query)
        note_queue(claim, node->index, RL_MAYBE_QUEUED, now_ns);
    rl_claim_hear(claim, node, waiting->verb, &judged);
    if (!claim->query)
        rl_claim_react(claim, rl_hold_link_lost(&claim->hold, node->index, slot, now_ns),
                       now_ns);
    rl_claim_leave(claim, now_ns);
}
