/* inspect.c - calls that take no lock: inspect, force a release, status. */
#include "config_auto.h"

#include "api/inspect.h"

#include "engine/lease.h"
#include "kinds/name_set.h"
#include "base/text_escape.h"
#include "kinds/lock_view.h"

#include <stdio.h>
#include <string.h>

/* ---- one question to every node that answers ------------------------------------------ */

struct query {
    struct rl_op op; /* first */
    enum rl_verb verb;
    uint64_t asked;
    uint64_t answered;
    uint64_t failed;    /* of these, those whose answer was none */
    uint64_t miskinded; /* force: there is no lock, and what there is stays */
    int64_t began_ns;
    int64_t answers_until_ns; /* who was asked answers until then */
    struct rl_round round;    /* for the report */
    redlock_node_view *views; /* or NULL */
};

/* Nodes that can be asked: also those that may not vote, for their keys are real. Those that
 * are on their way may be asked yet. */
static uint64_t reachable(redlock *client, int64_t now_ns, uint64_t *ret_on_their_way)
{
    uint64_t nodes = 0;
    *ret_on_their_way = 0;
    for (unsigned i = 0; i < client->n; i++) {
        struct rl_node *node = &client->nodes[i];
        if (node->mode == RL_UP && !rl_node_stalled(node, now_ns))
            nodes |= rl_bit(i);
        else if (node->mode != RL_UP && rl_node_pending(node))
            *ret_on_their_way |= rl_bit(i);
    }
    return nodes;
}

static bool has_quorum(const struct query *query)
{
    unsigned n = query->op.client->n;
    return rl_count(query->answered & ~query->failed) >= rl_quorum_needed(n);
}

static void query_finish(struct query *query, int64_t now_ns)
{
    struct rl_op *op = &query->op;
    for (uint64_t rest = query->asked & ~query->answered; rest; rest &= rest - 1)
        rl_round_vote(&query->round, rl_first(rest), RL_VOTE_FAILED);
    query->round.node_deadline_ns = now_ns;
    rl_report_unasked(op, rl_all(op->client->n) & ~query->asked, now_ns);
    rl_report_end(op, &query->round, now_ns);
    if (has_quorum(query))
        rl_op_finish(op, REDLOCK_OK);
    else
        rl_op_finish(op, query->miskinded ? REDLOCK_EKIND : REDLOCK_ENOQUORUM);
}

static void mask_view(struct rl_node *node, redlock_view *view)
{
    view->data[rl_node_mask(node, view->data, strlen(view->data))] = '\0';
    for (unsigned i = 0; i < view->shown; i++) {
        redlock_holder *holder = &view->holder[i];
        holder->owner_len = rl_node_mask(node, holder->owner, holder->owner_len);
        holder->owner[holder->owner_len] = '\0';
    }
}

static bool read_view(const struct query *query, unsigned node, const struct rl_judged *judged)
{
    redlock_node_view *to = query->views ? &query->views[node] : NULL;
    if (!to || judged->vote == RL_VOTE_FAILED)
        return true;
    to->answered =
        rl_view_read(judged->details, judged->details_len, judged->answer.ttl_ms, &to->view);
    if (to->answered)
        mask_view(&query->op.client->nodes[node], &to->view);
    return to->answered;
}

/* Somebody's data is left alone: that master is not certain to be free of a lock by this. */
static void query_miskinded(struct query *query, unsigned node, const struct rl_judged *judged)
{
    struct rl_judged failed = {.vote = RL_VOTE_FAILED};
    char type[48], what[64], why[128];
    size_t len = judged->holder_len < sizeof(type) ? judged->holder_len : sizeof(type);
    memcpy(type, judged->holder, len);
    len = rl_node_mask(&query->op.client->nodes[node], type, len);
    rl_printable(what, sizeof(what), type, len);
    snprintf(why, sizeof(why), "has %s under this name, which was left alone", what);
    failed.why = why;
    query->miskinded |= rl_bit(node);
    query->failed |= rl_bit(node);
    rl_round_vote(&query->round, node, RL_VOTE_FAILED);
    rl_report_vote(&query->op, node, REDLOCK_VOTE_FAILED, &failed);
}

static void query_heard(struct rl_op *op, struct rl_node *node, enum rl_verb verb,
                        const struct rl_judged *judged)
{
    struct query *query = (struct query *)op;
    uint64_t bit = rl_bit(node->index);
    int vote = REDLOCK_VOTE_FAILED;
    if (op->done)
        return;
    rl_op_due(op, 0); /* step() sees to what comes of it, out of the claim's way */
    if (judged->vote == RL_VOTE_FAILED && rl_node_was_cut(node)) {
        /* The connection broke: it is asked anew by the next one. */
        rl_report_vote(op, node->index, REDLOCK_VOTE_FAILED, judged);
        query->asked &= ~bit;
        return;
    }
    if (judged->vote == RL_VOTE_YES)
        vote = verb == RL_FORCE ? REDLOCK_VOTE_GRANTED : REDLOCK_VOTE_FREE;
    else if (judged->vote == RL_VOTE_NO)
        vote = verb == RL_FORCE ? REDLOCK_VOTE_FREE : REDLOCK_VOTE_HELD;
    query->answered |= bit;
    struct rl_judged unread = {.vote = RL_VOTE_FAILED, .why = "told what can't be understood"};
    if (!read_view(query, node->index, judged))
        judged = &unread;
    if (judged->vote == RL_VOTE_FAILED) {
        vote = REDLOCK_VOTE_FAILED;
        query->failed |= bit;
        rl_round_vote(&query->round, node->index, RL_VOTE_FAILED);
    }
    if (judged->answer.code == RL_MISKINDED)
        query_miskinded(query, node->index, judged);
    else
        rl_report_vote(op, node->index, vote, judged);
}

/* Each master is asked as soon as it can be, and has its chance to answer; but where a majority
 * has, those that have been silent for so long are rather gone than late. */
static bool query_over(const struct query *query, uint64_t on_their_way, int64_t now_ns,
                       int64_t *ret_until_ns)
{
    uint64_t silent = query->asked & ~query->answered;
    int64_t patient_until_ns = query->began_ns + rl_client_patience_ns(query->op.client);
    int64_t until_ns = now_ns;
    if (on_their_way)
        until_ns = query->op.connect_until_ns;
    if (silent && query->answers_until_ns > until_ns)
        until_ns = query->answers_until_ns;
    if (has_quorum(query))
        until_ns = rl_earlier_ns(until_ns, patient_until_ns);
    *ret_until_ns = until_ns;
    return now_ns >= until_ns;
}

static void query_step(struct rl_op *op, int64_t now_ns)
{
    struct query *query = (struct query *)op;
    redlock *client = op->client;
    uint64_t on_their_way;
    uint64_t ask = reachable(client, now_ns, &on_their_way) & ~query->asked;
    int64_t until_ns;
    if (query->round.n == 0) {
        rl_round_start(&query->round, client->n, now_ns, now_ns);
        rl_report_begin(op, rl_all(client->n), now_ns);
    } else if (now_ns >= query->op.connect_until_ns) {
        ask = 0;
    }
    if (ask) {
        query->asked |= ask;
        query->answers_until_ns = now_ns + client->settings.connect_timeout_ns;
        rl_claim_query(op->claim, query->verb, ask, now_ns, query->answers_until_ns);
    }
    if (query_over(query, on_their_way, now_ns, &until_ns))
        query_finish(query, now_ns);
    else
        rl_op_due(op, until_ns);
}

int rl_look(redlock *client, enum rl_verb verb, bool endless, const struct rl_target *target,
            redlock_report *report, redlock_node_view *views)
{
    struct query query = {.verb = verb, .views = views};
    struct rl_claim *claim;
    char why[RL_NAME_WHY_MAX];
    int cancel_state;
    if (!client)
        return REDLOCK_EINVAL;
    if (!rl_name_allowed(target->name, target->name_len, why, sizeof(why)))
        return rl_client_refuse(client, why);
    if (!rl_report_fits(report))
        return rl_client_refuse(client, "set report.size to sizeof(redlock_report)");
    int result = rl_client_enter_blocking(client, &cancel_state);
    if (result)
        return result;
    int64_t now_ns = rl_loop_catch_up(client);
    result = rl_claim_new(client, target, "-", &claim);
    if (result == REDLOCK_OK && rl_op_begin(&query.op, client)) {
        rl_claim_let_go(claim, now_ns);
        result = REDLOCK_ENOMEM;
    }
    if (result == REDLOCK_OK) {
        rl_claim_enter(claim); /* ours until the end, whatever answers come late */
        query.op.claim = claim;
        query.op.report = report;
        query.op.step = query_step;
        query.op.heard = query_heard;
        claim->op = &query.op;
        claim->query = true;
        claim->endless = endless;
        query.began_ns = now_ns;
        query.op.connect_until_ns = now_ns + client->settings.connect_timeout_ns;
        rl_report_clear(client, report);
        query_step(&query.op, now_ns);
        rl_loop_submit(client, now_ns);
        result = rl_op_wait(&query.op, NULL);
        claim->op = NULL;
        rl_claim_leave(claim, rl_client_now_ns(client));
    }
    rl_client_leave_blocking(client, cancel_state);
    return result;
}

/* A node whose holder is the same on a majority of all nodes, or -1. */
static int find_majority(const redlock_report *report)
{
    for (unsigned i = 0; i < report->nodes; i++) {
        const redlock_node_vote *one = &report->node[i];
        unsigned same = 0;
        for (unsigned k = 0; k < report->nodes && one->vote == REDLOCK_VOTE_HELD; k++) {
            const redlock_node_vote *other = &report->node[k];
            same += other->vote == REDLOCK_VOTE_HELD && other->holder_len == one->holder_len &&
                    memcmp(other->holder, one->holder, one->holder_len) == 0;
        }
        if (same >= report->needed)
            return (int)i;
    }
    return -1;
}

static int ask_all(redlock *client, enum rl_verb verb, bool endless, const void *name,
                   size_t name_len, redlock_report *report)
{
    struct rl_target target = {
        .kind = rl_kind(RL_ROW_ANY),
        .name = name,
        .name_len = name_len,
        .owner = "",
    };
    return rl_look(client, verb, endless, &target, report, NULL);
}

int redlock_inspect(redlock *client, const void *name, size_t name_len,
                    redlock_report *ret_report)
{
    if (!client)
        return REDLOCK_EINVAL;
    if (!ret_report)
        return rl_client_refuse(client, "to inspect a lock needs a report");
    int result = ask_all(client, RL_INSPECT, false, name, name_len, ret_report);
    if (result == REDLOCK_OK || result == REDLOCK_ENOQUORUM)
        ret_report->majority = find_majority(ret_report);
    return result;
}

int redlock_force_release(redlock *client, const void *name, size_t name_len,
                          redlock_report *report)
{
    return ask_all(client, RL_FORCE, false, name, name_len, report);
}

int redlock_force_release_endless(redlock *client, const void *name, size_t name_len,
                                  redlock_report *report)
{
    return ask_all(client, RL_FORCE, true, name, name_len, report);
}

/* ---- status --------------------------------------------------------------------------- */

struct look {
    struct rl_op op; /* first */
    redlock_status_report *status;
    bool asked;
    uint64_t silent;
    int64_t asked_ns;
    int64_t until_ns;
};

static int state_of(struct rl_node *node, int64_t now_ns)
{
    switch (node->mode) {
    case RL_DOWN:
        return rl_node_pending(node) ? REDLOCK_NODE_CONNECTING : REDLOCK_NODE_DOWN;
    case RL_CONNECTING:
    case RL_AUTH:
    case RL_GREETING:
        return node->retry.failures ? REDLOCK_NODE_DOWN : REDLOCK_NODE_CONNECTING;
    case RL_UP:
        break;
    }
    if (node->twin >= 0 || node->fitness == RL_UNFIT)
        return REDLOCK_NODE_REFUSED;
    if (rl_node_stalled(node, now_ns))
        return REDLOCK_NODE_STALLED;
    return node->fitness == RL_GUARDED ? REDLOCK_NODE_GUARDED : REDLOCK_NODE_READY;
}

static void describe(struct rl_node *node, redlock_node_status *entry, int64_t now_ns)
{
    entry->node = node->config->label;
    entry->state = state_of(node, now_ns);
    entry->guard_ms = 0;
    memset(entry->proof, 0, sizeof(entry->proof));
    if (entry->state == REDLOCK_NODE_GUARDED && node->guard_until_ns > now_ns)
        entry->guard_ms = (node->guard_until_ns - now_ns + RL_NS_PER_MS - 1) / RL_NS_PER_MS;
    entry->uptime_s = node->mode == RL_UP ? rl_node_uptime_s(node, now_ns) : -1;
    _Static_assert(sizeof(entry->run_id) == sizeof(node->info.run_id), "run_id");
    _Static_assert(sizeof(entry->role) == sizeof(node->info.role), "role");
    _Static_assert(sizeof(entry->version) == sizeof(node->info.version), "version");
    memcpy(entry->run_id, node->info.run_id, sizeof(entry->run_id));
    memcpy(entry->role, node->info.role, sizeof(entry->role));
    memcpy(entry->version, node->info.version, sizeof(entry->version));
    _Static_assert(sizeof(entry->refusal) == sizeof(node->refusal), "refusal");
    memcpy(entry->refusal, node->refusal, sizeof(entry->refusal));
    entry->refused_ago_ms =
        node->refusal[0] ? (now_ns - node->refused_ns) / RL_NS_PER_MS : -1;
    if (node->twin >= 0 && node->twin_proven && node->mode == RL_UP)
        snprintf(entry->text, sizeof(entry->text), "is the same server as node %d of the list",
                 node->twin + 1);
    else
        snprintf(entry->text, sizeof(entry->text), "%s", rl_node_why(node, now_ns));
}

static void look_finish(struct look *look, int64_t now_ns)
{
    redlock *client = look->op.client;
    redlock_status_report *status = look->status;
    status->nodes = client->n;
    status->needed = rl_quorum_needed(client->n);
    status->ready = status->proven = 0;
    status->max_ttl_ms = client->config.max_ttl_ms;
    for (unsigned i = 0; i < client->n; i++) {
        describe(&client->nodes[i], &status->node[i], now_ns);
        if (look->silent & rl_bit(i))
            status->node[i].state = REDLOCK_NODE_STALLED;
        status->ready += status->node[i].state == REDLOCK_NODE_READY;
    }
    rl_op_finish(&look->op, status->ready >= status->needed ? REDLOCK_OK : REDLOCK_ENOQUORUM);
}

static void look_pinged(struct rl_op *op, struct rl_node *node, int64_t round_trip_ns)
{
    struct look *look = (struct look *)op;
    uint64_t bit = rl_bit(node->index);
    if (!(look->silent & bit))
        return;
    look->silent &= ~bit;
    look->status->node[node->index].round_trip_us = round_trip_ns / 1000;
    if (!look->silent)
        rl_op_due(op, 0);
}

/* Where the connection broke the answer will not come: it is asked anew by the next one. */
static void look_again(struct look *look, int64_t now_ns)
{
    redlock *client = look->op.client;
    bool again = false;
    for (uint64_t rest = look->silent; rest; rest &= rest - 1) {
        struct rl_node *node = &client->nodes[rl_first(rest)];
        bool anew = node->mode == RL_UP && node->since_ns > look->asked_ns;
        bool gone = node->mode != RL_UP && !rl_node_pending(node);
        if (gone || (anew && !rl_node_ping(node, now_ns, look->until_ns)))
            look->silent &= ~rl_bit(node->index);
        again |= anew;
    }
    if (again)
        look->asked_ns = now_ns;
}

static void look_step(struct rl_op *op, int64_t now_ns)
{
    struct look *look = (struct look *)op;
    redlock *client = op->client;
    if (!look->asked) {
        if (rl_client_pending(client) > 0 && now_ns < look->until_ns) {
            rl_op_due(op, look->until_ns);
            return;
        }
        look->asked = true;
        look->asked_ns = now_ns;
        look->until_ns = now_ns + client->settings.connect_timeout_ns;
        for (unsigned i = 0; i < client->n; i++) {
            look->status->node[i].round_trip_us = -1;
            if (rl_node_ping(&client->nodes[i], now_ns, look->until_ns))
                look->silent |= rl_bit(i);
        }
    }
    look_again(look, now_ns);
    if (look->silent && now_ns < look->until_ns)
        rl_op_due(op, look->until_ns);
    else
        look_finish(look, now_ns);
}

int redlock_status(redlock *client, redlock_status_report *ret_status)
{
    struct look look = {.status = ret_status};
    int cancel_state;
    if (!client || !ret_status || ret_status->size != sizeof(*ret_status))
        return REDLOCK_EINVAL;
    int result = rl_client_enter_blocking(client, &cancel_state);
    if (result)
        return result;
    int64_t now_ns = rl_loop_catch_up(client);
    result = rl_op_begin(&look.op, client);
    if (result) {
        rl_client_leave_blocking(client, cancel_state);
        return result;
    }
    look.op.step = look_step;
    look.op.pinged = look_pinged;
    /* A little longer than connecting may take, so that its failure's text is known. */
    look.until_ns = now_ns + client->settings.connect_timeout_ns + 50 * RL_NS_PER_MS;
    look_step(&look.op, now_ns);
    rl_loop_submit(client, now_ns);
    result = rl_op_wait(&look.op, NULL);
    rl_client_leave_blocking(client, cancel_state);
    return result;
}
