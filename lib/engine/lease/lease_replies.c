/* lease_replies.c - the events of a lease's requests: answered, not executed, lost. */
#include "config_auto.h"

#include "engine/lease/lease_parts.h"

#include <assert.h>
#include <stddef.h>

#define CACHE_LINE 64
#define RELEASE_RETRY_NS (100 * RL_NS_PER_MS)

/* Masters know some waiters by their owner or client. Has the same one queued again
 * meanwhile? */
static bool stands_again(const struct rl_lease *lease)
{
    return !rl_kind_queues(lease->target.kind) &&
           rl_wait_queue_find(&lease->client->wait_queues, &lease->target);
}

/* The reply to a waiter's round: note the nodes that have queued it. If nobody waits any more,
 * leave the queue there. */
static void note_queue(struct rl_lease *lease, unsigned node, enum rl_queued queued,
                       int64_t now_ns)
{
    redlock *client = lease->client;
    assert(lease->waiter != 0 && (lease->queues & rl_bit(node))); /* it was asked to queue it */
    if (queued == RL_QUEUED && rl_kind_queues(lease->target.kind) &&
        lease->waiter_round != rl_wait_queue_rounds(&client->wait_queues, lease->waiter))
        queued = RL_WAS_QUEUED;
    if (rl_wait_queue_exists(&client->wait_queues, lease->waiter))
        rl_wait_queue_on_reply(&client->wait_queues, lease->waiter, node, queued, now_ns);
    else if ((queued == RL_QUEUED || queued == RL_WAS_QUEUED) && !stands_again(lease))
        rl_wait_queue_leave_nodes(&client->wait_queues, &lease->target, lease->waiter,
                                  rl_bit(node), now_ns);
}

/* If a release is published to all, a refused try hears of it without being queued. */
static enum rl_queued queued_by(const struct rl_lease *lease,
                                const struct rl_vote_reply *vote_reply)
{
    if (vote_reply->vote == RL_VOTE_FAILED)
        return RL_MAYBE_QUEUED;
    bool told = vote_reply->answer.place >= 0 || rl_kind_broadcasts(lease->target.kind);
    return vote_reply->vote == RL_VOTE_NO && told ? RL_QUEUED : RL_NOT_QUEUED;
}

/* A request of the lease has ended. */
static void owes_less(struct rl_lease *lease, const struct rl_inflight *inflight)
{
    unsigned *filling = &lease->voters->fill_in.owed;
    assert(lease->owed > 0 && !lease->spare);
    lease->owed--;
    if (inflight->verb != RL_RETAKE)
        return;
    assert(*filling > 0);
    (*filling)--;
}

static void note_fill_in(struct rl_lease *lease, unsigned node, enum rl_vote vote,
                         int64_t now_ns)
{
    assert(!lease->query);
    lease->client->stats.filled_in += vote == RL_VOTE_YES;
    if (vote == RL_VOTE_NO && lease->hold.phase == RL_HOLD_HELD && !lease->detached)
        rl_fill_in_refused(lease->voters, node, now_ns);
}

void rl_lease_name(const struct rl_inflight *inflight, char *ret_text, size_t size)
{
    rl_target_text(&inflight->lease->target, ret_text, size);
}

void rl_lease_is_next(const struct rl_inflight *inflight)
{
    const char *at = (const char *)inflight->lease;
    size_t needed = offsetof(struct rl_lease, hold) + offsetof(struct rl_hold, extend);
    for (size_t line = 0; line < needed; line += CACHE_LINE)
        __builtin_prefetch(at + line, 1);
}

void rl_lease_on_reply(void *owner, struct rl_node *node, unsigned slot,
                       const struct rl_inflight *inflight,
                       const struct rl_vote_reply *vote_reply, int64_t now_ns)
{
    struct rl_lease *lease = inflight->lease;
    assert(lease->client == owner);
    rl_lease_ref(lease);
    owes_less(lease, inflight);
    if (inflight->script == RL_ACQUIRE_OR_QUEUE && !lease->query)
        note_queue(lease, node->index, queued_by(lease, vote_reply), now_ns);
    rl_lease_on_vote(lease, node, inflight->verb, vote_reply);
    if (inflight->verb == RL_RETAKE)
        note_fill_in(lease, node->index, vote_reply->vote, now_ns);
    if (inflight->verb == RL_EXTEND && vote_reply->vote != RL_VOTE_FAILED)
        rl_account_answer(lease, node->index, vote_reply->vote == RL_VOTE_YES);
    if (inflight->verb == RL_EXTEND && vote_reply->vote == RL_VOTE_NO &&
        vote_reply->answer.with_holder)
        rl_account_broken(lease, node->index, vote_reply->answer.ttl_ms, vote_reply->holder,
                          vote_reply->holder_len, now_ns);
    if (!lease->query) {
        if (inflight->verb == RL_RELEASE && vote_reply->vote == RL_VOTE_FAILED) {
            lease->retry_ns = now_ns + RELEASE_RETRY_NS;
            if (lease->retry_ns < lease->client->leases.release_retry_ns)
                lease->client->leases.release_retry_ns = lease->retry_ns;
        }
        unsigned events = rl_hold_answer(&lease->hold, node->index, slot, inflight->verb,
                                         vote_reply->vote, vote_reply->answer.number, now_ns);
        if (events || rl_hold_to_release(&lease->hold)) /* most votes decide nothing */
            rl_lease_on_hold_events(lease, events, now_ns);
    }
    rl_lease_unref(lease, now_ns);
}

/* Is the result still wanted, so that the request (it was not executed) must be sent again? */
static bool still_wanted(const struct rl_lease *lease, unsigned node, enum rl_verb verb,
                         int64_t now_ns)
{
    assert(!lease->query && node < lease->hold.n);
    if (lease->detached)
        return false; /* another process is responsible for its keys */
    uint64_t bit = rl_bit(node);
    switch (verb) {
    case RL_ACQUIRE: /* or HELD by now: then it may be one more late grant */
        if (rl_hold_to_ask(&lease->hold) & bit)
            return true;
        break;
    case RL_EXTEND:
        return rl_hold_to_extend(&lease->hold) & bit;
    case RL_RETAKE:
        break;
    default:
        return false;
    }
    return lease->hold.phase == RL_HOLD_HELD && !rl_hold_over(&lease->hold, now_ns);
}

void rl_lease_on_unexecuted(void *owner, struct rl_node *node, unsigned slot,
                            const struct rl_inflight *inflight, int64_t now_ns)
{
    struct rl_lease *lease = inflight->lease;
    assert(lease->client == owner);
    assert(!inflight->with_body && !inflight->native); /* only a digest may be unknown */
    rl_lease_ref(lease);
    owes_less(lease, inflight);
    if (lease->query) {
        if (lease->call)
            rl_lease_query(lease, inflight->script, rl_bit(node->index), now_ns,
                           now_ns + lease->budget_ns);
    } else {
        rl_hold_unexecuted(&lease->hold, node->index, slot, inflight->verb);
        unsigned events = rl_hold_tick(&lease->hold, now_ns);
        if (slot == node->current && still_wanted(lease, node->index, inflight->verb, now_ns))
            events |= rl_lease_send_taking(lease, inflight->verb, rl_bit(node->index), now_ns);
        rl_lease_on_hold_events(lease, events, now_ns);
    }
    rl_lease_unref(lease, now_ns);
}

void rl_lease_on_drain(void *owner, struct rl_node *node, unsigned slot,
                       const struct rl_inflight *inflight, int64_t now_ns)
{
    (void)now_ns;
    assert(slot < RL_SLOTS && slot != node->current); /* a link that drains is used no more */
    assert(inflight->lease->owed > 0 && inflight->lease->client == owner);
    if (!inflight->lease->query)
        rl_hold_link_drains(&inflight->lease->hold, node->index, slot);
}

void rl_lease_on_link_lost(void *owner, struct rl_node *node, unsigned slot,
                           const struct rl_inflight *inflight, int64_t now_ns)
{
    struct rl_lease *lease = inflight->lease;
    const char *why = node->slot[slot].connection.why;
    struct rl_vote_reply vote_reply = {.vote = RL_VOTE_FAILED, .why = *why ? why : node->why};
    assert(lease->client == owner);
    rl_lease_ref(lease);
    owes_less(lease, inflight);
    lease->voters->fill_in.away |= rl_bit(node->index);
    if (inflight->script == RL_ACQUIRE_OR_QUEUE && !lease->query)
        note_queue(lease, node->index, RL_MAYBE_QUEUED, now_ns);
    rl_lease_on_vote(lease, node, inflight->verb, &vote_reply);
    if (!lease->query)
        rl_lease_on_hold_events(
            lease, rl_hold_link_lost(&lease->hold, node->index, slot, now_ns), now_ns);
    rl_lease_unref(lease, now_ns);
}
