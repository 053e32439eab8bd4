/* node_replies.c - bytes from a master become replies, replies become votes. Only the exact
 * expected answer is a grant. */
#include "config_auto.h"

#include "node/native_reply.h"
#include "node/node.h"
#include "node/script_reply.h"
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
    [RL_ACQUIRE_OR_QUEUE] = "take a lock, or wait for it",
    [RL_DEQUEUE] = "wait for a lock no more",
};
_Static_assert(sizeof(said) / sizeof(said[0]) == RL_VERBS, "one for each verb");

static const char not_asked_for[] = "answered something that was not asked for";

static void set_why(struct rl_connection *connection, const char *why)
{
    rl_text_escape(connection->why, sizeof(connection->why), why, strlen(why));
}

/* Errors after which the connection must be closed: another server may be behind the name by
 * now, or the password has changed. */
static bool ends_connection(const struct rl_reply *error)
{
    return rl_error_is(error, "READONLY") || rl_error_is(error, "MASTERDOWN") ||
           rl_error_is(error, "NOAUTH") || rl_error_is(error, "LOADING");
}

/* The vote is unknown, not a refusal: the server may have executed anything. */
static void answered_nonsense(struct rl_slot *slot, const struct rl_inflight *inflight,
                              const char *why, int64_t now_ns)
{
    const struct rl_node_settings *settings = slot->node->settings;
    assert(inflight->type == RL_REQUEST_VERB && why[0]);
    set_why(&slot->connection, why);
    settings->events->lost(settings->owner, slot->node, slot->index, inflight, now_ns);
}

/* The text of the error that a script ended in. */
static void error_of(const struct rl_slot *slot, const struct rl_inflight *inflight,
                     const struct rl_reply *reply, char *ret_text, size_t size)
{
    char whole[512];
    assert(!inflight->native && inflight->script < RL_VERBS);
    const struct rl_kind *kind = rl_script_kind(inflight->number);
    rl_error_text(reply, &slot->connection.mask, whole, sizeof(whole));
    bool strict = slot->node->settings->guard == RL_GUARD_STRICT &&
                  rl_verb_takes(inflight->verb);
    bool fenced = inflight->number >= RL_SCRIPTS_UNFENCED;
    rl_script_error(&kind->script[inflight->script], fenced, strict, whole, ret_text, size);
}

/* The text of the error of a native pair's SET or GET. */
static void native_error(const struct rl_slot *slot, const char *command,
                         const struct rl_reply *reply, char *ret_text, size_t size)
{
    char whole[141];
    rl_error_text(reply, &slot->connection.mask, whole, sizeof(whole));
    snprintf(ret_text, size, "%s (%s)", whole, command);
}

/* A report shows a refusal, but a release has no report. So the log says which right is
 * missing, and that locks stay until their leases expire. */
static void tell_refusal(struct rl_node *node, const struct rl_inflight *inflight,
                         const char *text, int64_t now_ns)
{
    bool gives_up = inflight->script == RL_RELEASE || inflight->script == RL_DEQUEUE;
    assert(inflight->type == RL_REQUEST_VERB && inflight->script < RL_VERBS);
    int64_t *again_ns = &node->refusal_again_ns[gives_up];
    if (now_ns < *again_ns)
        return;
    *again_ns = now_ns + RL_REFUSAL_AGAIN_MS * RL_NS_PER_MS;
    bool for_good = gives_up && rl_script_error_denies(text);
    char name[160];
    node->settings->events->name(inflight, name, sizeof(name));
    node->settings->events->log(
        node->settings->owner, for_good ? REDLOCK_LOG_ERROR : REDLOCK_LOG_WARNING,
        "%s: refused a request to %s (%s): %s", node->config->label, said[inflight->script],
        name, text);
}

/* A request was refused with an error. False: the connection must be closed. */
static bool deliver_error(struct rl_slot *slot, const struct rl_inflight *inflight,
                          const struct rl_reply *reply, const char *text, int64_t now_ns)
{
    struct rl_node *node = slot->node;
    struct rl_vote_reply vote_reply = {.vote = RL_VOTE_FAILED, .why = text};
    assert(reply->type == RL_REPLY_ERROR || inflight->native);
    vote_reply.stale = inflight->certified && rl_error_is(reply, "UNCERTIFIED");
    if (vote_reply.stale && slot->index == node->current && !node->fence.asked)
        rl_node_fence_again(node, "lose", "", 0, now_ns);
    rl_node_refuses(node, text, now_ns);
    if (rl_verb_takes(inflight->verb) && !vote_reply.stale && node->refuses_since_ns == 0)
        node->refuses_since_ns = now_ns;
    if (!ends_connection(reply)) /* its lease may be gone after that */
        tell_refusal(node, inflight, text, now_ns);
    node->settings->events->answered(node->settings->owner, node, slot->index, inflight,
                                     &vote_reply, now_ns);
    if (!ends_connection(reply))
        return true;
    if (!rl_error_is(reply, "NOAUTH"))
        rl_node_replaced(node, RL_CAUSE_WAS_REPLICA, now_ns);
    set_why(&slot->connection, text);
    return false;
}

/* On a link that drains, it may have voted before the step of its clock that INFO has shown on
 * the other link. */
static bool is_void(const struct rl_slot *slot, const struct rl_inflight *inflight)
{
    const struct rl_node *node = slot->node;
    return slot->index != node->current && inflight->sent_ns < node->clock_void_ns;
}

/* A request was answered with a vote. */
static void deliver_vote(struct rl_slot *slot, const struct rl_inflight *inflight,
                         const struct rl_vote_reply *vote_reply, int64_t now_ns)
{
    struct rl_node *node = slot->node;
    const struct rl_node_settings *settings = node->settings;
    rl_node_measure(node, inflight, now_ns);
    if (rl_verb_takes(inflight->verb))
        node->refuses_since_ns = 0;
    /* The node voted when it was asked. If it has lost that right since, its grant does not
     * count. */
    if (vote_reply->vote == RL_VOTE_YES && rl_verb_takes(inflight->verb) &&
        (!rl_node_is_fit(node) || is_void(slot, inflight))) {
        const struct rl_vote_reply unfit = {RL_VOTE_FAILED, .why = rl_node_why(node, now_ns)};
        settings->events->answered(settings->owner, node, slot->index, inflight, &unfit,
                                   now_ns);
        return;
    }
    settings->events->answered(settings->owner, node, slot->index, inflight, vote_reply,
                               now_ns);
}

/* The first reply of a native pair, SET's. The entry keeps it; it decides no vote. False as in
 * deliver(). */
static bool keep_set_reply(struct rl_slot *slot, struct rl_inflight *inflight,
                           const struct rl_reply *reply, int64_t now_ns)
{
    struct rl_connection *connection = &slot->connection;
    assert(inflight->native && inflight->set_reply == RL_SET_AWAITED);
    bool is_reply = rl_native_read_set(reply, &inflight->set_reply);
    if (reply->type == RL_REPLY_ERROR)
        native_error(slot, "SET", reply, connection->set_error, sizeof(connection->set_error));
    if (is_reply && !ends_connection(reply))
        return true;
    struct rl_inflight pair = *inflight;
    rl_connection_drop_oldest(connection);
    if (is_reply)
        return deliver_error(slot, &pair, reply, connection->set_error, now_ns);
    answered_nonsense(slot, &pair, not_asked_for, now_ns);
    return false;
}

/* The second reply of a native pair: the vote. False as in deliver(). */
static bool deliver_native(struct rl_slot *slot, const struct rl_inflight *inflight,
                           const struct rl_reply *reply, int64_t now_ns)
{
    struct rl_vote_reply vote_reply;
    char text[160];
    const char *why;
    assert(inflight->verb == RL_ACQUIRE && inflight->set_reply != RL_SET_AWAITED);
    if (!rl_native_vote(inflight->set_reply, reply, inflight->token.bytes, inflight->token.len,
                        &vote_reply, &why)) {
        answered_nonsense(slot, inflight, not_asked_for, now_ns);
        return false;
    }
    if (vote_reply.vote != RL_VOTE_FAILED) {
        deliver_vote(slot, inflight, &vote_reply, now_ns);
        return true;
    }
    if (why)
        return deliver_error(slot, inflight, reply, why, now_ns);
    if (inflight->set_reply == RL_SET_FAILED || inflight->set_reply == RL_SET_NO_MEMORY)
        return deliver_error(slot, inflight, reply, slot->connection.set_error, now_ns);
    native_error(slot, "GET", reply, text, sizeof(text));
    return deliver_error(slot, inflight, reply, text, now_ns);
}

/* The reply to a script. False as in deliver(). */
static bool deliver_script(struct rl_slot *slot, const struct rl_inflight *inflight,
                           const struct rl_reply *reply, int64_t now_ns)
{
    const struct rl_node_settings *settings = slot->node->settings;
    struct rl_vote_reply vote_reply = {.vote = RL_VOTE_FAILED};
    char text[160];
    if (rl_error_is(reply, "NOSCRIPT") && inflight->with_body) {
        answered_nonsense(slot, inflight, "answered NOSCRIPT to a script's own text", now_ns);
        return false;
    }
    if (rl_error_is(reply, "NOSCRIPT")) {
        slot->connection.script_known[inflight->number] = false;
        settings->events->unexecuted(settings->owner, slot->node, slot->index, inflight,
                                     now_ns);
        return true;
    }
    if (reply->type == RL_REPLY_ERROR) {
        error_of(slot, inflight, reply, text, sizeof(text));
        return deliver_error(slot, inflight, reply, text, now_ns);
    }
    bool strict = settings->guard == RL_GUARD_STRICT;
    if (!rl_script_vote(inflight, reply, strict, &vote_reply)) {
        answered_nonsense(slot, inflight, not_asked_for, now_ns);
        return false;
    }
    if (vote_reply.answer.code == RL_REPLY_UNMARKED && slot->index == slot->node->current)
        rl_node_unmarked(slot->node, inflight, now_ns);
    deliver_vote(slot, inflight, &vote_reply, now_ns);
    return true;
}

/* R13: One reply for one entry. False: the connection is out of step, or must be closed. */
static bool deliver(struct rl_slot *slot, const struct rl_inflight *inflight,
                    const struct rl_reply *reply, int64_t now_ns)
{
    if (inflight->type == RL_REQUEST_VERB)
        return inflight->native ? deliver_native(slot, inflight, reply, now_ns)
                                : deliver_script(slot, inflight, reply, now_ns);
    if (slot->index == slot->node->current)
        rl_node_greeted(slot->node, inflight, reply, now_ns);
    return true;
}

/* A new connection must finish its handshake before its votes count. */
static void heard(struct rl_slot *slot, int64_t now_ns)
{
    struct rl_node *node = slot->node;
    if (node->mode == RL_UP || slot->index != node->current)
        rl_identity_heard(&node->identity, now_ns);
}

/* Take the request off the list, which a callback may change. */
static struct rl_inflight take_oldest(struct rl_slot *slot)
{
    struct rl_inflight oldest = *rl_connection_oldest(&slot->connection);
    rl_connection_drop_oldest(&slot->connection);
    const struct rl_inflight *next = rl_connection_oldest(&slot->connection);
    if (next && next->type == RL_REQUEST_VERB)
        slot->node->settings->events->next(next);
    return oldest;
}

/* R5: One reply. The half of a pair alone is no grant. */
static bool take(void *context, const struct rl_reply *reply, int64_t now_ns)
{
    struct rl_slot *slot = context;
    struct rl_connection *connection = &slot->connection;
    struct rl_inflight *oldest = rl_connection_oldest(connection);
    bool more_use;
    if (!oldest) {
        char text[160];
        rl_unasked_text(reply, &connection->mask, text, sizeof(text));
        rl_node_disconnect(slot->node, slot->index, now_ns, "%s", text);
        return false;
    }
    heard(slot, now_ns);
    if (oldest->native && oldest->set_reply == RL_SET_AWAITED) {
        more_use = keep_set_reply(slot, oldest, reply, now_ns);
    } else {
        struct rl_inflight inflight = take_oldest(slot);
        more_use = deliver(slot, &inflight, reply, now_ns);
    }
    if (!more_use) {
        rl_node_disconnect(slot->node, slot->index, now_ns, "%s", connection->why);
        return false;
    }
    /* A callback may have closed the link. */
    return rl_link_state(connection->link) == RL_LINK_OPEN;
}

/* The usual reply: a grant. */
static bool take_usual(void *context, uint64_t number, int64_t now_ns)
{
    struct rl_slot *slot = context;
    struct rl_inflight inflight = take_oldest(slot);
    heard(slot, now_ns);
    struct rl_vote_reply grant = {.vote = RL_VOTE_YES};
    grant.answer = (struct rl_answer){.granted = true,
                                      .code = RL_GRANTED,
                                      .with_number = number > 0,
                                      .number = number,
                                      .place = -1};
    deliver_vote(slot, &inflight, &grant, now_ns);
    return rl_link_state(slot->connection.link) == RL_LINK_OPEN;
}

void rl_node_read(struct rl_slot *slot)
{
    struct rl_connection *connection = &slot->connection;
    if (!rl_connection_read(connection, slot->node->settings->clock, take, take_usual, slot))
        rl_node_disconnect(slot->node, slot->index, connection->heard_ns, "%s",
                           rl_reader_text(connection->reader));
}
