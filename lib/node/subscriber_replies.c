/* subscriber_replies.c - a subscriber's requests and their replies: see subscriber.h. Only
 * replies to our own requests count, and only a message with our exact member wakes a waiter.
 */
#include "config_auto.h"

#include "node/subscriber_parts.h"

#include "base/clock.h"
#include "net/session.h"

#include <assert.h>
#include <string.h>

/* ---- what is said --------------------------------------------------------------------- */

/* Before it subscribes: a subscriber may not ask for INFO. */
static void ask_who(struct rl_sub *sub, int64_t now_ns)
{
    char bytes[64];
    struct rl_out out;
    rl_out_init(&out, bytes, sizeof(bytes));
    rl_put_array(&out, 2);
    rl_put_text(&out, "INFO");
    rl_put_text(&out, "server");
    rl_sub_send_request(sub, RL_REQUEST_INFO, &out, now_ns);
}

static void begin(struct rl_sub *sub, int64_t now_ns)
{
    char bytes[512];
    struct rl_out out;
    assert(sub->connection.fifo_count == 0); /* R12: AUTH was answered, and alone */
    rl_sub_set_mode(sub, RL_SUB_SUBSCRIBING, now_ns);
    rl_out_init(&out, bytes, sizeof(bytes));
    rl_login_put_name(&out, sub->node->settings->connection_name);
    rl_sub_send_request(sub, RL_REQUEST_SETNAME, &out, now_ns);
    if (sub->events->met)
        ask_who(sub, now_ns);
    rl_sub_subscribe(sub, now_ns);
    sub->behind = true;
    rl_sub_catch_up(sub, now_ns);
    rl_sub_flush(sub, now_ns);
}

void rl_sub_greet(struct rl_sub *sub, int64_t now_ns)
{
    char why[160];
    assert(sub->mode == RL_SUB_CONNECTING);
    int queued = rl_session_login(&sub->connection, now_ns, INT64_MAX, why, sizeof(why));
    if (queued < 0) {
        rl_sub_disconnect(sub, now_ns, "%s", why);
    } else if (queued == 0) {
        begin(sub, now_ns);
    } else {
        rl_sub_set_mode(sub, RL_SUB_AUTH, now_ns);
        rl_sub_flush(sub, now_ns);
    }
}

void rl_sub_ping(struct rl_sub *sub, int64_t now_ns)
{
    char bytes[32];
    struct rl_out out;
    assert(sub->mode == RL_SUB_UP && !sub->pinged_ns); /* only one PONG is awaited at a time */
    rl_out_init(&out, bytes, sizeof(bytes));
    rl_put_array(&out, 1);
    rl_put_text(&out, "PING");
    /* This turn's time may be from before another process answered elsewhere. */
    rl_sub_send_request(sub, RL_REQUEST_PING, &out, rl_clock_steady_ns(sub->node->settings->clock));
    sub->pinged_ns = now_ns;
    rl_sub_flush(sub, now_ns);
}

/* ---- what is heard -------------------------------------------------------------------- */

void rl_sub_on_bulk(void *context, const char *bytes, size_t len)
{
    struct rl_sub *sub = context;
    const struct rl_inflight *oldest = rl_connection_oldest(&sub->connection);
    struct rl_info info;
    if (!oldest || oldest->type != RL_REQUEST_INFO)
        return;
    rl_info_parse(bytes, len, &info);
    memcpy(sub->run_id, info.run_id, sizeof(sub->run_id));
}

/* R7: Its process lives, or lived when it answered this. */
static void tell_met(struct rl_sub *sub, const struct rl_inflight *inflight, int64_t now_ns)
{
    if (sub->run_id[0] && !rl_sub_has_moved(sub))
        sub->events->met(sub->node->settings->owner, sub->node, sub->run_id, inflight->sent_ns,
                         now_ns);
}

/* ["message", channel, payload] */
static bool is_message(const struct rl_sub *sub, const struct rl_reply *reply)
{
    return reply->type == RL_REPLY_ARRAY && reply->count == 3 &&
           rl_sub_is_bulk(reply, 0, "message") && rl_sub_is_bulk(reply, 1, sub->channel) &&
           reply->part[2].type == RL_REPLY_BULK;
}

/* ["pong", ""]. An error for lack of the right to PING is a sign of life as well. But a bare
 * PONG means that the server has no subscription of ours. */
static bool is_pong(const struct rl_sub *sub, const struct rl_reply *reply)
{
    if (reply->type == RL_REPLY_ERROR)
        return true;
    if (sub->confirmed == 0)
        return reply->type == RL_REPLY_STATUS && rl_part_is(reply, 0, "PONG", 4);
    return reply->type == RL_REPLY_ARRAY && reply->count == 2 &&
           rl_sub_is_bulk(reply, 0, "pong") && rl_sub_is_bulk(reply, 1, "");
}

/* Decimal digits and nothing else. False: not a number of 64 bits. */
static bool read_seq(const char *digits, size_t len, uint64_t *ret_seq)
{
    uint64_t seq = 0;
    for (size_t i = 0; i < len; i++) {
        if (digits[i] < '0' || digits[i] > '9')
            return false;
        unsigned digit = (unsigned)(digits[i] - '0');
        if (seq > (UINT64_MAX - digit) / 10)
            return false;
        seq = seq * 10 + digit;
    }
    *ret_seq = seq;
    return len > 0;
}

/* "<our uuid>:<seq>" */
static bool read_member(const struct rl_sub *sub, const struct rl_reply *reply,
                        uint64_t *ret_seq)
{
    const struct rl_element *part = &reply->part[2];
    const char *member = reply->text + part->start;
    const char *uuid = sub->channel + strlen(RL_WAKE_PREFIX);
    assert(part->type == RL_REPLY_BULK && part->kept <= part->len);
    if (part->kept != part->len || part->len < RL_UUID_LEN + 1)
        return false;
    if (memcmp(member, uuid, RL_UUID_LEN) != 0 || member[RL_UUID_LEN] != ':')
        return false;
    return read_seq(member + RL_UUID_LEN + 1, part->len - RL_UUID_LEN - 1, ret_seq);
}

static void take_message(struct rl_sub *sub, const struct rl_reply *reply, int64_t now_ns)
{
    uint64_t seq;
    assert(rl_sub_listens(sub));
    if (read_member(sub, reply, &seq))
        sub->events->woken(sub->node->settings->owner, sub->node, seq, now_ns);
    else
        sub->events->log(sub->node->settings->owner, REDLOCK_LOG_DEBUG,
                         "%s: a message on our channel that names no waiter of ours",
                         sub->node->config->label);
}

static void unasked(struct rl_sub *sub, const struct rl_reply *reply, int64_t now_ns)
{
    char text[160];
    rl_unasked_text(reply, &sub->connection.mask, text, sizeof(text));
    rl_sub_disconnect(sub, now_ns, "%s", text);
}

/* The reply to a request of ours. */
static void take_answer(struct rl_sub *sub, const struct rl_inflight *inflight,
                        const struct rl_reply *reply, int64_t now_ns)
{
    switch (inflight->type) {
    case RL_REQUEST_AUTH:
        assert(sub->mode == RL_SUB_AUTH);
        if (rl_login_accepted(reply))
            begin(sub, now_ns);
        else
            rl_sub_refused(sub, "authentication failed", reply, now_ns);
        break;
    case RL_REQUEST_SETNAME:
        /* Keep the text, in case the server hangs up next. */
        if (reply->type == RL_REPLY_ERROR)
            rl_error_text(reply, &sub->connection.mask, sub->connection.why,
                          sizeof(sub->connection.why));
        else if (reply->type != RL_REPLY_STATUS)
            rl_sub_refused(sub, "CLIENT SETNAME", reply, now_ns);
        break;
    case RL_REQUEST_INFO: /* who it is stays unknown where that is refused */
        if (reply->type == RL_REPLY_ERROR)
            rl_error_text(reply, &sub->connection.mask, sub->connection.why,
                          sizeof(sub->connection.why));
        else if (reply->type != RL_REPLY_BULK)
            rl_sub_refused(sub, "INFO", reply, now_ns);
        else
            tell_met(sub, inflight, now_ns);
        break;
    case RL_REQUEST_SUBSCRIBE:
        sub->asking = false;
        if (!rl_sub_confirms(reply, true, sub->channel, strlen(sub->channel))) {
            rl_sub_refused(sub, "SUBSCRIBE", reply, now_ns);
            break;
        }
        if (sub->mode != RL_SUB_UP)
            rl_sub_set_mode(sub, RL_SUB_UP, now_ns);
        sub->confirmed++;
        sub->deaf = sub->denied_told = false;
        sub->why[0] = '\0';
        sub->events->changed(sub->node->settings->owner, sub->node, true, now_ns);
        break;
    default:
        assert(inflight->type == RL_REQUEST_PING);
        if (is_pong(sub, reply)) {
            sub->pinged_ns = 0;
            tell_met(sub, inflight, now_ns);
            if (sub->doubted) /* a new connection shows who answers now */
                rl_sub_disconnect(sub, now_ns, "another server answers at this address, too");
        } else {
            rl_sub_disconnect(sub, now_ns, "PING: an answer that is no PONG of a subscriber's");
        }
    }
}

/* One reply. */
static bool take(void *context, const struct rl_reply *reply, int64_t now_ns)
{
    struct rl_sub *sub = context;
    uint64_t connects = sub->connects;
    struct rl_connection *connection = &sub->connection;
    if (rl_sub_listens(sub) && is_message(sub, reply)) {
        take_message(sub, reply, now_ns);
    } else if (rl_sub_channel_message(sub, reply, now_ns)) {
        /* a hint, and reported */
    } else if (!rl_connection_oldest(connection)) {
        unasked(sub, reply, now_ns);
    } else {
        struct rl_inflight inflight = *rl_connection_oldest(connection);
        rl_connection_drop_oldest(connection);
        if (inflight.channel)
            rl_sub_channel_answered(sub, &inflight, reply, now_ns);
        else
            take_answer(sub, &inflight, reply, now_ns);
    }
    return sub->connects == connects && rl_link_state(connection->link) == RL_LINK_OPEN;
}

void rl_sub_read(struct rl_sub *sub)
{
    struct rl_connection *connection = &sub->connection;
    assert(sub->mode >= RL_SUB_AUTH && sub->mode <= RL_SUB_UP);
    if (!rl_connection_read(connection, sub->node->settings->clock, take, NULL, sub))
        rl_sub_disconnect(sub, connection->heard_ns, "%s", rl_reader_text(connection->reader));
}
