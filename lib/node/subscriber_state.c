/* subscriber_state.c - what subscriber.c, its replies and its channels share: change the mode,
 * disconnect, queue requests and recognise refusals. See subscriber.h. */
#include "config_auto.h"

#include "node/subscriber_parts.h"

#include "base/text_escape.h"
#include "core/refusal.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- the connection -------------------------------------------------------------------- */

/* The one place that changes the mode. */
void rl_sub_set_mode(struct rl_sub *sub, enum rl_sub_mode mode, int64_t now_ns)
{
    assert(mode != RL_SUB_OFF);
    assert(mode != RL_SUB_UP || sub->mode == RL_SUB_SUBSCRIBING);
    assert(mode != RL_SUB_SUBSCRIBING || sub->mode == RL_SUB_CONNECTING ||
           sub->mode == RL_SUB_AUTH);
    assert(mode != RL_SUB_AUTH || sub->mode == RL_SUB_CONNECTING);
    assert(mode != RL_SUB_CONNECTING || sub->mode == RL_SUB_DOWN || sub->mode == RL_SUB_DENIED);
    assert(mode != RL_SUB_DENIED || (sub->mode >= RL_SUB_AUTH && sub->mode <= RL_SUB_UP));
    bool live = mode >= RL_SUB_AUTH && mode <= RL_SUB_UP;
    assert(mode == RL_SUB_CONNECTING ||
           live == (rl_link_state(sub->connection.link) == RL_LINK_OPEN));
    sub->mode = mode;
    sub->since_ns = now_ns;
    sub->pinged_ns = 0;
}

/* Close the connection, and forget its subscriptions. The caller must plan the next connect. */
static void hang_up(struct rl_sub *sub, const char *why)
{
    char text[sizeof(sub->why)];
    /* Copy the reason: it may be the link's own text, which closing forgets. */
    rl_text_escape(text, sizeof(text), why, strlen(why));
    rl_link_close(sub->connection.link);
    memcpy(sub->why, text, sizeof(text));
    rl_connection_forget_login(&sub->connection);
    if (sub->channels)
        rl_channels_forget(sub->channels, rl_bit(sub->node->index));
    sub->deaf = sub->behind = sub->asking = sub->doubted = false;
    sub->run_id[0] = '\0';
    sub->confirmed = sub->unleft = 0;
    sub->again_ns = 0;
}

/* Must be the last step: the owner's callback may begin the next connection. */
static void tell_left(struct rl_sub *sub, bool listened, int64_t now_ns)
{
    if (listened)
        sub->events->changed(sub->node->settings->owner, sub->node, false, now_ns);
}

void rl_sub_disconnect(struct rl_sub *sub, int64_t now_ns, const char *format, ...)
{
    bool listened = rl_sub_listens(sub);
    assert(sub->mode >= RL_SUB_CONNECTING && sub->mode <= RL_SUB_UP);
    char why[sizeof(sub->why)];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof(why), format, args);
    va_end(args);
    hang_up(sub, why);
    if (sub->mode != RL_SUB_UP && rl_refusal_lasts(sub->why))
        rl_retry_refused(&sub->retry, sub->node->settings->prng, now_ns);
    else if (rl_driven_before(sub->node->settings->driven, sub->retry.begun_ns))
        rl_retry_excuse(&sub->retry, now_ns);
    else if (sub->mode == RL_SUB_UP)
        rl_retry_lost(&sub->retry, sub->node->settings->prng, sub->since_ns, now_ns);
    else
        rl_retry_failed(&sub->retry, sub->node->settings->prng, now_ns);
    rl_sub_set_mode(sub, RL_SUB_DOWN, now_ns);
    sub->events->log(sub->node->settings->owner,
                     sub->retry.flaws <= 1 ? REDLOCK_LOG_WARNING : REDLOCK_LOG_DEBUG,
                     "%s: the connection for wakes: %s", sub->node->config->label, sub->why);
    tell_left(sub, listened, now_ns);
}

/* It may have the right to other channels: then it is UP, and deaf. */
static void deny(struct rl_sub *sub, int64_t now_ns, const char *why)
{
    int64_t again_ns = now_ns + RL_DENIED_AGAIN_MS * RL_NS_PER_MS;
    assert(sub->mode >= RL_SUB_AUTH && sub->mode <= RL_SUB_UP);
    rl_retry_put_off(&sub->retry, again_ns);
    if (rl_sub_has_channels(sub) && sub->mode >= RL_SUB_SUBSCRIBING) {
        rl_text_escape(sub->why, sizeof(sub->why), why, strlen(why));
        sub->again_ns = again_ns;
        sub->deaf = true;
        if (sub->mode != RL_SUB_UP)
            rl_sub_set_mode(sub, RL_SUB_UP, now_ns);
    } else {
        hang_up(sub, why);
        rl_sub_set_mode(sub, RL_SUB_DENIED, now_ns);
    }
    if (!sub->denied_told)
        sub->events->log(sub->node->settings->owner, REDLOCK_LOG_WARNING,
                         "%s: waits are not told of releases there: %s; allow the user "
                         "SUBSCRIBE and the channels " RL_WAKE_PREFIX "*",
                         sub->node->config->label, sub->why);
    sub->denied_told = true;
}

bool rl_sub_listens(const struct rl_sub *sub)
{
    return sub->mode == RL_SUB_UP && !sub->deaf;
}

/* Its own channel was denied, and there was no other: now one may be allowed. */
void rl_sub_reconsider(struct rl_sub *sub, int64_t now_ns)
{
    if (sub->mode == RL_SUB_DENIED)
        rl_retry_hasten(&sub->retry, now_ns);
}

/* ---- what is said --------------------------------------------------------------------- */

void rl_sub_send(struct rl_sub *sub, const struct rl_inflight *inflight,
                 const struct rl_out *out)
{
    assert(!out->overflow);
    /* There is always room: a handshake is short, only one PING is ever in flight, and channels
     * leave SPARE bytes. */
    bool room = rl_connection_room(&sub->connection, out->len, false);
    assert(room);
    if (room)
        rl_connection_put(&sub->connection, out->bytes, out->len, inflight);
}

void rl_sub_send_request(struct rl_sub *sub, enum rl_request_type what,
                         const struct rl_out *out, int64_t now_ns)
{
    struct rl_inflight inflight = {.type = what, .sent_ns = now_ns, .deadline_ns = INT64_MAX};
    rl_sub_send(sub, &inflight, out);
}

void rl_sub_subscribe(struct rl_sub *sub, int64_t now_ns)
{
    char bytes[128];
    struct rl_out out;
    assert(sub->mode == RL_SUB_SUBSCRIBING || sub->mode == RL_SUB_UP);
    rl_out_init(&out, bytes, sizeof(bytes));
    rl_put_array(&out, 2);
    rl_put_text(&out, "SUBSCRIBE");
    rl_put_text(&out, sub->channel);
    rl_sub_send_request(sub, RL_REQUEST_SUBSCRIBE, &out, now_ns);
    sub->asking = true;
}

void rl_sub_flush(struct rl_sub *sub, int64_t now_ns)
{
    if (!rl_connection_unsent(&sub->connection) ||
        rl_link_state(sub->connection.link) != RL_LINK_OPEN)
        return;
    if (!rl_connection_flush(&sub->connection))
        rl_sub_disconnect(sub, now_ns, "%s", rl_link_text(sub->connection.link));
}

/* ---- what is heard -------------------------------------------------------------------- */

bool rl_sub_is_bulk(const struct rl_reply *reply, unsigned i, const char *text)
{
    assert(i < RL_REPLY_ELEMENTS_MAX);
    return reply->part[i].type == RL_REPLY_BULK && rl_part_is(reply, i, text, strlen(text));
}

/* [what, channel, how many we have] */
bool rl_sub_confirms(const struct rl_reply *reply, bool begins, const char *channel, size_t len)
{
    return reply->type == RL_REPLY_ARRAY && reply->count == 3 &&
           rl_sub_is_bulk(reply, 0, begins ? "subscribe" : "unsubscribe") &&
           reply->part[1].type == RL_REPLY_BULK && rl_part_is(reply, 1, channel, len) &&
           reply->part[2].type == RL_REPLY_INTEGER && reply->part[2].integer >= begins;
}

bool rl_sub_is_noperm(const struct rl_reply *reply)
{
    return rl_error_is(reply, "NOPERM");
}

void rl_sub_refused(struct rl_sub *sub, const char *to_what, const struct rl_reply *reply,
                    int64_t now_ns)
{
    char text[160];
    snprintf(text, sizeof(text), "answered with %s, neither a yes nor an error",
             rl_reply_kind(reply));
    if (reply->type == RL_REPLY_ERROR)
        rl_error_text(reply, &sub->connection.mask, text, sizeof(text));
    if (rl_sub_is_noperm(reply))
        deny(sub, now_ns, text);
    else
        rl_sub_disconnect(sub, now_ns, "%s: %s", to_what, text);
}
