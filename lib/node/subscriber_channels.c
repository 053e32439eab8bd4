/* subscriber_channels.c - a subscriber's requests and replies about channels other than the
 * client's own: see subscriber.h and channel.h. Only replies to our own requests count. */
#include "config_auto.h"

#include "node/subscriber_parts.h"

#include "kinds/keys.h"
#include "base/text_escape.h"

#include <assert.h>
#include <string.h>

#define SPARE 1024 /* bytes reserved for requests that must always find room */

/* ---- what is said --------------------------------------------------------------------- */

/* Send the channel's next request. False: there is no room now. */
static bool sync_channel(struct rl_sub *sub, struct rl_channel *channel, int64_t now_ns)
{
    char bytes[RL_KEY_MAX + 64];
    enum rl_channel_next_request wish =
        rl_channel_next_request(channel, rl_bit(sub->node->index));
    struct rl_connection *connection = &sub->connection;
    if (wish == RL_CHANNEL_NONE)
        return true;
    assert(sub->mode == RL_SUB_SUBSCRIBING || sub->mode == RL_SUB_UP);
    if (connection->fifo_count >= rl_limits.channel_asks ||
        !rl_connection_room(connection, sizeof(bytes) + SPARE, true))
        return false;
    struct rl_inflight inflight = {
        .channel = channel,
        .type = wish == RL_CHANNEL_SUBSCRIBE ? RL_REQUEST_SUBSCRIBE : RL_REQUEST_UNSUBSCRIBE,
        .sent_ns = now_ns,
        .deadline_ns = INT64_MAX,
    };
    struct rl_out out;
    rl_out_init(&out, bytes, sizeof(bytes));
    rl_put_array(&out, 2);
    rl_put_text(&out, wish == RL_CHANNEL_SUBSCRIBE ? "SUBSCRIBE" : "UNSUBSCRIBE");
    rl_put_bulk(&out, channel->text, channel->len);
    rl_sub_send(sub, &inflight, &out);
    channel->pending |= rl_bit(sub->node->index);
    return true;
}

static bool talks(const struct rl_sub *sub)
{
    return sub->mode == RL_SUB_SUBSCRIBING || sub->mode == RL_SUB_UP;
}

void rl_sub_sync(struct rl_sub *sub, struct rl_channel *channel, int64_t now_ns)
{
    if (!talks(sub))
        rl_sub_reconsider(sub, now_ns); /* it looks at all channels */
    else if (!sync_channel(sub, channel, now_ns))
        sub->behind = true;
}

void rl_sub_catch_up(struct rl_sub *sub, int64_t now_ns)
{
    /* Not for each place that gets free, because it looks at all channels. */
    if (!sub->behind || !talks(sub) || sub->connection.fifo_count > rl_limits.channel_asks / 2)
        return;
    for (size_t i = 0; sub->channels && i < sub->channels->count; i++) {
        if (!sync_channel(sub, sub->channels->all[i], now_ns))
            return;
    }
    sub->behind = false;
}

void rl_sub_ask_again(struct rl_sub *sub, int64_t now_ns)
{
    assert(sub->mode == RL_SUB_UP && sub->again_ns != 0);
    sub->again_ns = 0;
    if (sub->deaf && !sub->asking)
        rl_sub_subscribe(sub, now_ns);
    for (size_t i = 0; sub->channels && i < sub->channels->count; i++)
        sub->channels->all[i]->denied &= ~rl_bit(sub->node->index);
    sub->behind = true;
}

/* ---- what is heard -------------------------------------------------------------------- */

static void tell_denied(struct rl_sub *sub, const struct rl_channel *channel, bool begins)
{
    char name[128];
    rl_text_escape(name, sizeof(name), channel->text, channel->len);
    sub->events->log(sub->node->settings->owner,
                     sub->channel_denied_told ? REDLOCK_LOG_DEBUG : REDLOCK_LOG_WARNING,
                     "%s: NOPERM for %s of the channel %s: allow the user SUBSCRIBE, "
                     "UNSUBSCRIBE and the channels redisson_*, or waits there are not told of "
                     "releases",
                     sub->node->config->label, begins ? "SUBSCRIBE" : "UNSUBSCRIBE", name);
    sub->channel_denied_told = true;
}

/* False: the connection is gone. */
static bool deny(struct rl_sub *sub, struct rl_channel *channel, bool begins, int64_t now_ns)
{
    assert(!(channel->pending & rl_bit(sub->node->index)));
    channel->denied |= rl_bit(sub->node->index);
    if (!sub->again_ns)
        sub->again_ns = now_ns + RL_DENIED_AGAIN_MS * RL_NS_PER_MS;
    tell_denied(sub, channel, begins);
    if (begins || ++sub->unleft <= RL_UNLEFT_MAX)
        return true;
    rl_sub_disconnect(sub, now_ns, "it does not let go of channels");
    return false;
}

void rl_sub_channel_answered(struct rl_sub *sub, const struct rl_inflight *inflight,
                             const struct rl_reply *reply, int64_t now_ns)
{
    struct rl_channel *channel = inflight->channel;
    uint64_t bit = rl_bit(sub->node->index);
    bool begins = inflight->type == RL_REQUEST_SUBSCRIBE;
    bool denied = rl_sub_is_noperm(reply);
    assert(begins || inflight->type == RL_REQUEST_UNSUBSCRIBE);
    assert(channel->pending & bit);
    if (!denied && !rl_sub_confirms(reply, begins, channel->text, channel->len)) {
        rl_sub_refused(sub, begins ? "SUBSCRIBE" : "UNSUBSCRIBE", reply, now_ns);
        return;
    }
    channel->pending &= ~bit;
    if (denied) {
        if (!deny(sub, channel, begins, now_ns))
            return;
    } else if (begins) {
        channel->confirmed |= bit;
        sub->confirmed++;
    } else {
        assert(sub->confirmed > 0 && (channel->confirmed & bit));
        channel->confirmed &= ~bit;
        sub->confirmed--;
    }
    rl_sub_sync(sub, channel, now_ns); /* its users may have changed meanwhile */
    rl_sub_catch_up(sub, now_ns);
    if (channel->users == 0)
        rl_channel_free_if_idle(sub->channels, channel);
    else if (begins && (rl_channel_listening(channel) & bit))
        sub->events->subscribed(sub->node->settings->owner, sub->node, channel, now_ns);
}

bool rl_sub_channel_message(struct rl_sub *sub, const struct rl_reply *reply, int64_t now_ns)
{
    uint64_t bit = rl_bit(sub->node->index);
    const struct rl_element *name = &reply->part[1];
    if (!sub->channels || reply->type != RL_REPLY_ARRAY || reply->count != 3 ||
        reply->part[0].type != RL_REPLY_BULK || !rl_part_is(reply, 0, "message", 7) ||
        name->type != RL_REPLY_BULK || name->kept != name->len ||
        reply->part[2].type != RL_REPLY_BULK)
        return false;
    struct rl_channel *channel =
        rl_channel_find(sub->channels, reply->text + name->start, name->len);
    if (!channel || !(channel->confirmed & bit))
        return false;
    if (channel->users > 0 && (rl_channel_listening(channel) & bit))
        sub->events->message(sub->node->settings->owner, sub->node, channel, now_ns);
    return true;
}
