/* report.c - see report.h. */
#include "config_auto.h"

#include "engine/loop/report.h"

#include "base/struct_abi.h"
#include "base/text_escape.h"
#include "engine/loop/call.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct rl_struct shape =
    RL_STRUCT(redlock_report, "redlock_report", "REDLOCK_REPORT_INIT", elapsed_ms);
static const struct rl_struct vote_shape =
    RL_STRUCT(redlock_node_vote, "redlock_report.node_size", "REDLOCK_REPORT_INIT", text);

bool rl_report_fits(const redlock_report *report, char *why, size_t why_size)
{
    if (!report)
        return true;
    if (!rl_struct_sized(&shape, report->size, why, why_size))
        return false;
    return !report->node || rl_struct_sized(&vote_shape, report->node_size, why, why_size);
}

/* The user's entry for a node; NULL: there is no room for it. */
static void *entry(const struct rl_report *report, unsigned node)
{
    return rl_struct_entry(report->whole.node, report->whole.node_size,
                           report->whole.node_count, node);
}

static redlock_node_vote get(const struct rl_report *report, unsigned node)
{
    redlock_node_vote vote;
    const void *from = entry(report, node);
    if (from)
        rl_struct_copy(&vote, sizeof(vote), from, report->whole.node_size);
    else
        memset(&vote, 0, sizeof(vote));
    return vote;
}

static void set_bit(uint64_t *set, uint64_t bit, bool is)
{
    *set = is ? *set | bit : *set & ~bit;
}

/* The only place that changes a node's entry. */
static void put(struct rl_report *report, unsigned node, const redlock_node_vote *vote)
{
    uint64_t bit = rl_bit(node);
    assert(report->to && node < report->whole.nodes);
    set_bit(&report->granted, bit, vote->vote == REDLOCK_VOTE_GRANTED);
    set_bit(&report->held, bit, vote->vote == REDLOCK_VOTE_HELD);
    set_bit(&report->free, bit, vote->vote == REDLOCK_VOTE_FREE);
    set_bit(&report->failed, bit, vote->vote == REDLOCK_VOTE_FAILED);
    set_bit(&report->explained, bit, vote->text[0] != '\0');
    void *to = entry(report, node);
    if (to)
        rl_struct_copy(to, report->whole.node_size, vote, sizeof(*vote));
}

static void publish(const struct rl_report *report)
{
    assert(report->to && report->whole.nodes > 0); /* rl_report_open() */
    rl_struct_give(&shape, &report->whole, report->to);
}

static void set_text(redlock_node_vote *vote, const char *text)
{
    rl_text_escape(vote->text, sizeof(vote->text), text, strlen(text));
}

/* No node has been asked yet. */
static void clear(struct rl_report *report, const struct rl_nodes *nodes)
{
    redlock_report *whole = &report->whole;
    assert(whole->nodes == nodes->n && whole->node_count <= whole->nodes);
    whole->granted = whole->held = whole->failed = 0;
    whole->elapsed_ms = 0;
    for (unsigned i = 0; i < nodes->n; i++) {
        const redlock_node_vote vote = {.node = nodes->all[i].config->label};
        put(report, i, &vote);
    }
    publish(report);
}

void rl_report_open(struct rl_report *report, const struct rl_nodes *nodes, redlock_report *to)
{
    report->to = to;
    if (!to)
        return;
    assert(to->size > 0); /* rl_report_fits() */
    rl_struct_copy(&report->whole, sizeof(report->whole), to, to->size);
    report->whole.nodes = nodes->n;
    report->whole.needed = rl_quorum_needed(nodes->n);
    report->whole.rounds = 0;
    report->whole.node_count = rl_struct_room(to->node, to->node_max, nodes->n);
    clear(report, nodes);
}

void rl_report_unasked(struct rl_call *call, uint64_t nodes, int64_t now_ns)
{
    struct rl_report *report = &call->report;
    if (!report->to)
        return;
    assert(!call->done && (nodes & ~rl_all(call->voters->n)) == 0);
    for (nodes &= ~(report->granted | report->held | report->free | report->failed); nodes;
         nodes &= nodes - 1) {
        unsigned i = rl_first(nodes);
        struct rl_node *node = call->voters->node[i];
        redlock_node_vote vote = get(report, i);
        if (rl_node_standing(node, now_ns) <= RL_STANDING_CONNECTING && rl_node_pending(node)) {
            set_text(&vote, "was not asked, as it was still connecting");
        } else {
            vote.vote = REDLOCK_VOTE_FAILED;
            set_text(&vote, rl_node_why(node, now_ns));
        }
        put(report, i, &vote);
    }
}

void rl_report_begin(struct rl_call *call, uint64_t voting, int64_t now_ns)
{
    if (!call->report.to)
        return;
    assert(!call->done && (voting & ~rl_all(call->voters->n)) == 0);
    call->report.whole.rounds++;
    clear(&call->report, &call->client->nodes);
    rl_report_unasked(call, rl_all(call->voters->n) & ~voting, now_ns);
}

void rl_report_vote(struct rl_call *call, unsigned node, int vote,
                    const struct rl_vote_reply *vote_reply)
{
    struct rl_report *report = &call->report;
    if (!report->to)
        return;
    assert(node < call->voters->n);
    assert(!call->done); /* the user's struct may be gone */
    redlock_node_vote said = get(report, node);
    said.vote = vote;
    if (vote_reply->why)
        set_text(&said, vote_reply->why);
    if (vote_reply->answer.with_holder && vote != REDLOCK_VOTE_FREE) {
        said.ttl_ms = vote_reply->answer.ttl_ms;
        said.holder_len = vote_reply->holder_len < sizeof(said.holder)
                              ? vote_reply->holder_len
                              : sizeof(said.holder) - 1;
        memcpy(said.holder, vote_reply->holder, said.holder_len);
        said.holder_len = rl_node_mask(call->voters->node[node], said.holder, said.holder_len);
        said.holder[said.holder_len] = '\0';
    }
    put(report, node, &said);
}

/* The round's part of the report: the silent nodes, and the time it took. */
static void add_round(struct rl_report *report, const struct rl_round *round, int64_t now_ns)
{
    assert(round->n == report->whole.nodes);
    uint64_t voted = report->granted | report->held | report->free | report->failed;
    for (uint64_t silent = round->failed & ~voted & ~report->explained; silent;
         silent &= silent - 1) {
        redlock_node_vote vote = get(report, rl_first(silent));
        vote.vote = REDLOCK_VOTE_FAILED;
        snprintf(vote.text, sizeof(vote.text), "no answer within %lld ms",
                 (long long)((round->node_deadline_ns - round->t0_ns) / RL_NS_PER_MS));
        put(report, rl_first(silent), &vote);
    }
    report->whole.elapsed_ms = (now_ns - round->t0_ns) / RL_NS_PER_MS;
}

void rl_report_end(struct rl_call *call, const struct rl_round *round, int64_t now_ns)
{
    struct rl_report *report = &call->report;
    if (!report->to)
        return;
    assert(!call->done);
    if (report->whole.rounds > 0) /* else it was no round of this call */
        add_round(report, round, now_ns);
    report->whole.granted = rl_count(report->granted);
    report->whole.held = rl_count(report->held);
    report->whole.failed = rl_count(report->failed);
    publish(report);
}
