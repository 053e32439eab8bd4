/* query.c - see query.h. */
#include "config_auto.h"

#include "api/query.h"

#include "base/struct_abi.h"
#include "base/text_escape.h"
#include "engine/lease/lease.h"
#include "engine/loop/loop.h"
#include "engine/enter.h"
#include "kinds/name_set.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct query {
    struct rl_call call; /* first */
    enum rl_verb verb;
    uint64_t asked;
    uint64_t answered;
    uint64_t failed;     /* of these, nodes without a valid answer */
    uint64_t wrong_type; /* force: nodes with other data, which stays */
    int64_t began_ns;
    int64_t answers_until_ns; /* the deadline of the nodes that were asked */
    struct rl_round round;    /* for the report */
    struct rl_view *views;    /* or NULL */
};

/* Nodes that can be asked: also those that may not vote, because their keys are real. Nodes
 * that are connecting may be asked later. */
static uint64_t reachable(redlock *client, int64_t now_ns, uint64_t *ret_on_their_way)
{
    uint64_t nodes = 0;
    *ret_on_their_way = 0;
    for (unsigned i = 0; i < client->nodes.n; i++) {
        struct rl_node *node = &client->nodes.all[i];
        if (node->mode == RL_UP && !rl_node_stalled(node, now_ns))
            nodes |= rl_bit(i);
        else if (node->mode != RL_UP && rl_node_pending(node))
            *ret_on_their_way |= rl_bit(i);
    }
    return nodes;
}

static bool has_quorum(const struct query *query)
{
    unsigned n = query->call.voters->n;
    return rl_count(query->answered & ~query->failed) >= rl_quorum_needed(n);
}

static void query_finish(struct query *query, int64_t now_ns)
{
    struct rl_call *call = &query->call;
    assert(query->round.n == call->voters->n);
    assert(!(query->answered & ~query->asked) && !(query->failed & ~query->answered));
    for (uint64_t rest = query->asked & ~query->answered; rest; rest &= rest - 1)
        rl_round_vote(&query->round, rl_first(rest), RL_VOTE_FAILED);
    query->round.node_deadline_ns = now_ns;
    rl_report_unasked(call, rl_all(call->voters->n) & ~query->asked, now_ns);
    rl_report_end(call, &query->round, now_ns);
    if (has_quorum(query))
        rl_call_finish(call, REDLOCK_OK);
    else
        rl_call_finish(call, query->wrong_type ? REDLOCK_EWRONGTYPE : REDLOCK_ENOQUORUM);
}

static void mask_view(struct rl_node *node, struct rl_view *view)
{
    assert(view->shown.count <= REDLOCK_HOLDERS_SHOWN);
    view->told.data[rl_node_mask(node, view->told.data, strlen(view->told.data))] = '\0';
    for (unsigned i = 0; i < view->shown.count; i++) {
        redlock_holder *holder = &view->shown.holder[i];
        holder->owner_len = rl_node_mask(node, holder->owner, holder->owner_len);
        holder->owner[holder->owner_len] = '\0';
    }
}

static bool read_view(const struct query *query, unsigned node,
                      const struct rl_vote_reply *vote_reply)
{
    assert(node < query->call.voters->n);
    struct rl_view *view = query->views ? &query->views[node] : NULL;
    if (!view || vote_reply->vote == RL_VOTE_FAILED)
        return true;
    if (!rl_view_read(vote_reply->details, vote_reply->details_len, vote_reply->answer.ttl_ms,
                      view))
        return false;
    view->told.answered = 1;
    mask_view(query->call.voters->node[node], view);
    return true;
}

/* Other data is left alone, so it is not certain that this master is free of a lock. */
static void query_wrong_type(struct query *query, unsigned node,
                             const struct rl_vote_reply *vote_reply)
{
    struct rl_vote_reply failed = {.vote = RL_VOTE_FAILED};
    char type[48], what[64], why[128];
    assert(vote_reply->answer.with_holder && query->verb == RL_FORCE);
    size_t len = vote_reply->holder_len < sizeof(type) ? vote_reply->holder_len : sizeof(type);
    memcpy(type, vote_reply->holder, len);
    len = rl_node_mask(query->call.voters->node[node], type, len);
    rl_text_escape(what, sizeof(what), type, len);
    snprintf(why, sizeof(why), "has %s under this name, which was left alone", what);
    failed.why = why;
    query->wrong_type |= rl_bit(node);
    query->failed |= rl_bit(node);
    rl_round_vote(&query->round, node, RL_VOTE_FAILED);
    rl_report_vote(&query->call, node, REDLOCK_VOTE_FAILED, &failed);
}

static void query_on_vote(struct rl_call *call, struct rl_node *node, enum rl_verb verb,
                          const struct rl_vote_reply *vote_reply)
{
    struct query *query = (struct query *)call;
    uint64_t bit = rl_bit(node->index);
    int vote = REDLOCK_VOTE_FAILED;
    if (call->done)
        return;
    rl_call_due(call, 0); /* step() handles the result, not from within the lease's callback */
    if (vote_reply->vote == RL_VOTE_FAILED && rl_node_was_cut(node)) {
        /* The connection broke: ask again on the next one. */
        rl_report_vote(call, node->index, REDLOCK_VOTE_FAILED, vote_reply);
        query->asked &= ~bit;
        return;
    }
    if (vote_reply->vote == RL_VOTE_YES)
        vote = verb == RL_FORCE ? REDLOCK_VOTE_GRANTED : REDLOCK_VOTE_FREE;
    else if (vote_reply->vote == RL_VOTE_NO)
        vote = verb == RL_FORCE ? REDLOCK_VOTE_FREE : REDLOCK_VOTE_HELD;
    query->answered |= bit;
    struct rl_vote_reply unread = {.vote = RL_VOTE_FAILED,
                                   .why = "told what can't be understood"};
    if (!read_view(query, node->index, vote_reply))
        vote_reply = &unread;
    if (vote_reply->vote == RL_VOTE_FAILED) {
        vote = REDLOCK_VOTE_FAILED;
        query->failed |= bit;
        rl_round_vote(&query->round, node->index, RL_VOTE_FAILED);
    }
    if (vote_reply->answer.code == RL_REPLY_WRONGTYPE)
        query_wrong_type(query, node->index, vote_reply);
    else
        rl_report_vote(call, node->index, vote, vote_reply);
}

/* Each master is asked as soon as possible, and has time to answer. Once a majority has
 * answered, masters that have been silent for long are more likely gone than late. */
static bool query_over(const struct query *query, uint64_t on_their_way, int64_t now_ns,
                       int64_t *ret_until_ns)
{
    uint64_t silent = query->asked & ~query->answered;
    assert(query->round.n > 0); /* it has begun */
    int64_t patient_until_ns = query->began_ns + rl_voters_patience_ns(query->call.voters);
    int64_t until_ns = now_ns;
    if (on_their_way)
        until_ns = query->call.connect_until_ns;
    if (silent && query->answers_until_ns > until_ns)
        until_ns = query->answers_until_ns;
    if (has_quorum(query))
        until_ns = rl_earlier_ns(until_ns, patient_until_ns);
    *ret_until_ns = until_ns;
    return now_ns >= until_ns;
}

static void query_step(struct rl_call *call, int64_t now_ns)
{
    struct query *query = (struct query *)call;
    redlock *client = call->client;
    assert(!call->done && call->lease->query && call->lease->call == call);
    uint64_t on_their_way;
    uint64_t ask = reachable(client, now_ns, &on_their_way) & ~query->asked;
    int64_t until_ns;
    if (query->round.n == 0) {
        rl_round_start(&query->round, client->nodes.n, now_ns, now_ns);
        rl_report_begin(call, rl_all(client->nodes.n), now_ns);
    } else if (now_ns >= query->call.connect_until_ns) {
        ask = 0;
    }
    if (ask) {
        query->asked |= ask;
        query->answers_until_ns = now_ns + client->node_settings.connect_timeout_ns;
        rl_lease_query(call->lease, query->verb, ask, now_ns, query->answers_until_ns);
    }
    if (query_over(query, on_their_way, now_ns, &until_ns))
        query_finish(query, now_ns);
    else
        rl_call_due(call, until_ns);
}

int rl_query(redlock *client, const struct rl_question *question, redlock_report *report,
             struct rl_view *views)
{
    struct rl_target target = {
        .kind = rl_kind(RL_ROW_ANY),
        .name = question->name,
        .name_len = question->name_len,
        .owner = question->owner,
        .owner_len = strlen(question->owner),
    };
    struct query query = {.verb = question->verb, .views = views};
    query.call.step = query_step;
    query.call.on_vote = query_on_vote;
    struct rl_lease *lease;
    char why[RL_STRUCT_WHY_MAX];
    int cancel_state;
    _Static_assert(sizeof(why) >= RL_NAME_WHY_MAX, "why");
    assert(question->verb == RL_INSPECT || question->verb == RL_FORCE);
    if (!rl_name_allowed(target.name, target.name_len, why, sizeof(why)) ||
        !rl_report_fits(report, why, sizeof(why)))
        return rl_client_refuse(client, why);
    int result = rl_client_enter_blocking(client, &cancel_state);
    if (result)
        return result;
    int64_t now_ns = rl_loop_poll_if_idle(client);
    result = rl_lease_new(client, &target, "-", &lease);
    if (result == REDLOCK_OK && rl_call_begin(&query.call, client)) {
        rl_lease_free_if_settled(lease, now_ns);
        result = REDLOCK_ENOMEM;
    }
    if (result == REDLOCK_OK) {
        rl_lease_ref(lease); /* ours until the end, even if replies come late */
        query.call.lease = lease;
        lease->call = &query.call;
        lease->query = true;
        lease->endless = question->endless;
        query.began_ns = now_ns;
        query.call.connect_until_ns = now_ns + client->node_settings.connect_timeout_ns;
        rl_report_open(&query.call.report, &client->nodes, report);
        query_step(&query.call, now_ns);
        result = rl_call_wait(&query.call, now_ns, NULL);
        lease->call = NULL;
        rl_lease_unref(lease, rl_client_now_ns(client));
    }
    rl_client_leave_blocking(client, cancel_state);
    return result;
}
