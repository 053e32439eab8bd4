/* subscriber_channels.c - what a subscriber says and hears about channels other than the
 * client's own: see subscriber.h and channel.h. As there, nothing is believed that was not
 * asked for. */
#include "config_auto.h"

#include "node/subscriber_parts.h"

#include "kinds/keys.h"
#include "base/text_escape.h"

#include <string.h>

#define SPARE 1024 /* bytes that are left for what must always find room */

/* ---- what is said --------------------------------------------------------------------- */

/* Say what it wishes. False: there is no room, for now. */
static bool tune(struct rl_sub *sub, struct rl_ear *ear, int64_t now_ns)
{
    char bytes[RL_KEY_MAX + 64];
    enum rl_ear_wish wish = rl_ear_wish(ear, rl_bit(sub->index));
    struct rl_wire *wire = &sub->wire;
    if (wish == RL_EAR_NONE)
        return true;
    if (wire->fifo_count >= RL_CHANNEL_ASKS_MAX ||
        !rl_wire_room(wire, sizeof(bytes) + SPARE, true))
        return false;
    struct rl_waiting waiting = {
        .ear = ear,
        .ask = wish == RL_EAR_BEGIN ? RL_ASK_SUBSCRIBE : RL_ASK_UNSUBSCRIBE,
        .sent_ns = now_ns,
        .deadline_ns = INT64_MAX,
    };
    struct rl_out out;
    rl_out_init(&out, bytes, sizeof(bytes));
    rl_put_array(&out, 2);
    rl_put_text(&out, wish == RL_EAR_BEGIN ? "SUBSCRIBE" : "UNSUBSCRIBE");
    rl_put_bulk(&out, ear->text, ear->len);
    rl_sub_ask(sub, &waiting, &out);
    ear->asked |= rl_bit(sub->index);
    return true;
}

static bool talks(const struct rl_sub *sub)
{
    return sub->mode == RL_SUB_SUBSCRIBING || sub->mode == RL_SUB_UP;
}

void rl_sub_tune(struct rl_sub *sub, struct rl_ear *ear, int64_t now_ns)
{
    if (!talks(sub))
        rl_sub_reconsider(sub, now_ns); /* all of them are looked at when it does */
    else if (!tune(sub, ear, now_ns))
        sub->behind = true;
}

void rl_sub_catch_up(struct rl_sub *sub, int64_t now_ns)
{
    /* Not for each place that gets free: it means a look at all of them. */
    if (!sub->behind || !talks(sub) || sub->wire.fifo_count > RL_CHANNEL_ASKS_MAX / 2)
        return;
    for (size_t i = 0; sub->ears && i < sub->ears->count; i++) {
        if (!tune(sub, sub->ears->all[i], now_ns))
            return;
    }
    sub->behind = false;
}

void rl_sub_ask_again(struct rl_sub *sub, int64_t now_ns)
{
    sub->again_ns = 0;
    if (sub->deaf)
        rl_sub_subscribe(sub, now_ns);
    for (size_t i = 0; sub->ears && i < sub->ears->count; i++)
        sub->ears->all[i]->denied &= ~rl_bit(sub->index);
    sub->behind = true;
}

/* ---- what is heard -------------------------------------------------------------------- */

static void tell_denied(struct rl_sub *sub, const struct rl_ear *ear, bool begins)
{
    char channel[128];
    rl_printable(channel, sizeof(channel), ear->text, ear->len);
    sub->events->log(sub->settings->owner,
                     sub->ear_told ? REDLOCK_LOG_DEBUG : REDLOCK_LOG_WARNING,
                     "%s: NOPERM for %s of the channel %s: allow the user SUBSCRIBE, "
                     "UNSUBSCRIBE and the channels redisson_*, or waits there are not told of "
                     "releases",
                     sub->config->label, begins ? "SUBSCRIBE" : "UNSUBSCRIBE", channel);
    sub->ear_told = true;
}

/* False: the connection is gone. */
static bool deny(struct rl_sub *sub, struct rl_ear *ear, bool begins, int64_t now_ns)
{
    ear->denied |= rl_bit(sub->index);
    if (!sub->again_ns)
        sub->again_ns = now_ns + RL_DENIED_AGAIN_MS * RL_NS_PER_MS;
    tell_denied(sub, ear, begins);
    if (begins || ++sub->unleft <= RL_UNLEFT_MAX)
        return true;
    rl_sub_lose(sub, now_ns, "it does not let go of channels");
    return false;
}

void rl_sub_ear_answered(struct rl_sub *sub, const struct rl_waiting *waiting,
                         const struct rl_reply *reply, int64_t now_ns)
{
    struct rl_ear *ear = waiting->ear;
    uint64_t bit = rl_bit(sub->index);
    bool begins = waiting->ask == RL_ASK_SUBSCRIBE;
    bool denied = rl_sub_is_noperm(reply);
    if (!denied && !rl_sub_confirms(reply, begins, ear->text, ear->len)) {
        rl_sub_refused(sub, begins ? "SUBSCRIBE" : "UNSUBSCRIBE", reply, now_ns);
        return;
    }
    ear->asked &= ~bit;
    if (denied) {
        if (!deny(sub, ear, begins, now_ns))
            return;
    } else if (begins) {
        ear->heard |= bit;
        sub->confirmed++;
    } else {
        ear->heard &= ~bit;
        sub->confirmed--;
    }
    rl_sub_tune(sub, ear, now_ns); /* who needs it may have changed meanwhile */
    rl_sub_catch_up(sub, now_ns);
    if (ear->users == 0)
        rl_ear_settle(sub->ears, ear);
    else if (begins && (rl_ear_listening(ear) & bit))
        sub->events->hears(sub->settings->owner, sub->index, ear, now_ns);
}

bool rl_sub_ear_message(struct rl_sub *sub, const struct rl_reply *reply, int64_t now_ns)
{
    uint64_t bit = rl_bit(sub->index);
    const struct rl_element *channel = &reply->part[1];
    if (!sub->ears || reply->type != RL_REPLY_ARRAY || reply->count != 3 ||
        reply->part[0].type != RL_REPLY_BULK || !rl_part_is(reply, 0, "message", 7) ||
        channel->type != RL_REPLY_BULK || channel->kept != channel->len ||
        reply->part[2].type != RL_REPLY_BULK)
        return false;
    struct rl_ear *ear = rl_ear_find(sub->ears, reply->text + channel->start, channel->len);
    if (!ear || !(ear->heard & bit))
        return false;
    if (ear->users > 0 && (rl_ear_listening(ear) & bit))
        sub->events->heard(sub->settings->owner, sub->index, ear, now_ns);
    return true;
}
