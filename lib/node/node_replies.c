/* node_replies.c - bytes from a master become replies, replies become votes. Nothing but the
 * exact expected answer is a grant. */
#include "config_auto.h"

#include "node/node.h"
#include "base/text_escape.h"
#include "kinds/script_error.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char *const said[] = {
    [RL_ACQUIRE] = "take a lock",
    [RL_EXTEND] = "extend a lock",
    [RL_RETAKE] = "extend a lock, or take it again",
    [RL_RELEASE] = "release a lock",
    [RL_INSPECT] = "look at a lock",
    [RL_FORCE] = "delete a lock",
    [RL_WAIT] = "take a lock, or wait for it",
    [RL_LEAVE] = "wait for a lock no more",
};
_Static_assert(sizeof(said) / sizeof(said[0]) == RL_VERBS, "one for each verb");

static void set_why(struct rl_wire *wire, const char *why)
{
    rl_text_escape(wire->why, sizeof(wire->why), why, strlen(why));
}

/* An array of the nonce, a code, and for a refusal maybe the TTL and the holder, and maybe
 * the place in a queue; or what an inspection tells. */
static bool read_answer(const struct rl_inflight *inflight, const struct rl_reply *reply,
                        struct rl_vote_reply *vote_reply)
{
    if (reply->type != RL_REPLY_ARRAY ||
        (reply->count != 2 && reply->count != 4 && reply->count != 5) ||
        reply->part[0].type != RL_REPLY_BULK ||
        !rl_part_is(reply, 0, inflight->nonce, RL_NONCE_LEN) ||
        reply->part[1].type != RL_REPLY_INTEGER || reply->part[1].integer < 0 ||
        reply->part[1].integer > RL_MISKINDED)
        return false;
    vote_reply->answer.code = (enum rl_code)reply->part[1].integer;
    vote_reply->answer.granted = vote_reply->answer.code == RL_GRANTED;
    if (reply->count >= 4) {
        if (reply->part[2].type != RL_REPLY_INTEGER || reply->part[3].type != RL_REPLY_BULK)
            return false;
        vote_reply->answer.with_holder = true;
        vote_reply->answer.ttl_ms = reply->part[2].integer;
        vote_reply->holder = reply->text + reply->part[3].start;
        vote_reply->holder_len = reply->part[3].kept;
    }
    if (reply->count == 5 && reply->part[4].type == RL_REPLY_BULK) {
        vote_reply->answer.with_details = true;
        vote_reply->details = reply->text + reply->part[4].start;
        vote_reply->details_len = reply->part[4].kept;
    } else if (reply->count == 5) {
        if (reply->part[4].type != RL_REPLY_INTEGER || reply->part[4].integer < -1)
            return false;
        vote_reply->answer.with_place = true;
        vote_reply->answer.place = reply->part[4].integer;
    }
    vote_reply->vote = vote_reply->answer.granted ? RL_VOTE_YES : RL_VOTE_NO;
    return rl_kind_answer_fits(inflight->script, &vote_reply->answer);
}

/* The round trip, smoothed upwards only: it is to tell how long an answer takes, not how long
 * the worst one took. A reply that lay in the socket while nobody looked, or that came after
 * its time, tells nothing of that. */
static void measure(struct rl_node *node, const struct rl_inflight *inflight, int64_t now_ns)
{
    int64_t round_trip_ns = now_ns - inflight->sent_ns;
    if (inflight->sent_ns < node->settings->driven.since_ns || now_ns > inflight->deadline_ns)
        return;
    if (node->round_trip_ns == 0 || round_trip_ns < node->round_trip_ns)
        node->round_trip_ns = round_trip_ns;
    else
        node->round_trip_ns += (round_trip_ns - node->round_trip_ns) / 8;
}

/* Errors after which the connection is worth nothing more: another server may stand behind
 * the name by now, or the password has changed. */
static bool ends_connection(const struct rl_reply *error)
{
    return rl_error_is(error, "READONLY") || rl_error_is(error, "MASTERDOWN") ||
           rl_error_is(error, "NOAUTH") || rl_error_is(error, "LOADING");
}

/* Unknown, not refused: whatever was executed, it was not what we asked for. */
static void answered_nonsense(struct rl_slot *slot, const struct rl_inflight *inflight,
                              const char *why, int64_t now_ns)
{
    const struct rl_node_settings *settings = slot->node->settings;
    set_why(&slot->wire, why);
    settings->events->lost(settings->owner, slot->node, slot->index, inflight, now_ns);
}

/* The error that a script ended in. */
static void error_of(const struct rl_slot *slot, const struct rl_inflight *inflight,
                     const struct rl_reply *reply, char *ret_text, size_t size)
{
    char whole[512];
    const struct rl_kind *kind = rl_kind((int)(inflight->number / RL_VERBS));
    rl_error_text(reply, &slot->wire.mask, whole, sizeof(whole));
    rl_script_error(&kind->script[inflight->script], whole, ret_text, size);
}

/* A report tells what was refused, but a release has no report: the log tells the masters'
 * operator which right is missing, and that locks stay until their leases are over. */
static void tell_refusal(struct rl_node *node, const struct rl_inflight *inflight,
                         const char *text, int64_t now_ns)
{
    bool gives_up = inflight->script == RL_RELEASE || inflight->script == RL_LEAVE;
    int64_t *again_ns = &node->refusal_again_ns[gives_up];
    if (now_ns < *again_ns)
        return;
    *again_ns = now_ns + RL_REFUSAL_AGAIN_MS * RL_NS_PER_MS;
    bool for_good = gives_up && rl_script_error_denies(text);
    node->settings->events->log(
        node->settings->owner, for_good ? REDLOCK_LOG_ERROR : REDLOCK_LOG_WARNING,
        "%s: refused a request to %s: %s", node->config->label, said[inflight->script], text);
}

/* One reply for one entry. False: out of step, or the connection is of no more use. */
static bool deliver(struct rl_slot *slot, const struct rl_inflight *inflight,
                    const struct rl_reply *reply, int64_t now_ns)
{
    struct rl_node *node = slot->node;
    const struct rl_node_settings *settings = node->settings;
    struct rl_vote_reply vote_reply = {.vote = RL_VOTE_FAILED};
    char text[160];
    if (reply->type == RL_REPLY_ERROR) {
        if (rl_error_is(reply, "NOSCRIPT") && inflight->with_body) {
            answered_nonsense(slot, inflight, "answered NOSCRIPT to a script's own text",
                              now_ns);
            return false;
        }
        if (rl_error_is(reply, "NOSCRIPT")) {
            slot->wire.script_known[inflight->number] = false;
            settings->events->unexecuted(settings->owner, node, slot->index, inflight, now_ns);
            return true;
        }
        error_of(slot, inflight, reply, text, sizeof(text));
        vote_reply.why = text;
        rl_node_refuses(node, text, now_ns);
        settings->events->answered(settings->owner, node, slot->index, inflight, &vote_reply,
                                   now_ns);
        if (!ends_connection(reply)) {
            tell_refusal(node, inflight, text, now_ns);
            return true;
        }
        if (!rl_error_is(reply, "NOAUTH"))
            rl_node_replaced(node, rl_was_replica, now_ns);
        set_why(&slot->wire, text);
        return false;
    }
    if (!read_answer(inflight, reply, &vote_reply)) {
        answered_nonsense(slot, inflight, "answered something that was not asked for", now_ns);
        return false;
    }
    measure(node, inflight, now_ns);
    /* It was asked as one that votes, and what it has said since then is another thing. */
    if (vote_reply.vote == RL_VOTE_YES && rl_verb_takes(inflight->verb) && !rl_node_votes(node))
        vote_reply =
            (struct rl_vote_reply){.vote = RL_VOTE_FAILED, .why = rl_node_why(node, now_ns)};
    settings->events->answered(settings->owner, node, slot->index, inflight, &vote_reply,
                               now_ns);
    return true;
}

/* One reply. */
static bool take(void *context, const struct rl_reply *reply, int64_t now_ns)
{
    struct rl_slot *slot = context;
    struct rl_wire *wire = &slot->wire;
    const struct rl_inflight *oldest = rl_wire_oldest(wire);
    if (!oldest) {
        char text[160];
        rl_unasked_text(reply, &wire->mask, text, sizeof(text));
        rl_node_lose(slot->node, slot->index, now_ns, "%s", text);
        return false;
    }
    struct rl_inflight inflight = *oldest;
    struct rl_node *node = slot->node;
    rl_wire_drop_oldest(wire);
    /* A newcomer says who it is before it is heard. */
    if (node->mode == RL_UP || slot->index != node->active)
        rl_identity_heard(&node->identity, now_ns);
    if (wire->fifo_count > 0) /* whom the next reply is for: far away in memory */
        __builtin_prefetch(rl_wire_oldest(wire)->lease, 1);
    if (inflight.ask != RL_ASK_VERB) {
        if (slot->index == slot->node->active)
            rl_node_greeted(slot->node, &inflight, reply, now_ns);
    } else if (!deliver(slot, &inflight, reply, now_ns)) {
        rl_node_lose(slot->node, slot->index, now_ns, "%s", wire->why);
        return false;
    }
    /* A callback may have given the link up. */
    return rl_link_state(wire->link) == RL_LINK_OPEN;
}

void rl_node_read(struct rl_slot *slot)
{
    struct rl_wire *wire = &slot->wire;
    if (!rl_wire_read(wire, slot->node->settings->clock, take, slot))
        rl_node_lose(slot->node, slot->index, wire->heard_ns, "%s",
                     rl_reader_text(wire->reader));
}
