/* subscriber_parts.h - what subscriber*.c share. */
#ifndef RL_SUBSCRIBER_PARTS_H
#define RL_SUBSCRIBER_PARTS_H

#include "node/subscriber.h"

/* ---- subscriber_state.c ---- */

void rl_sub_set_mode(struct rl_sub *sub, enum rl_sub_mode mode, int64_t now_ns);

/* The connection is of no use: close it, plan the next connect, and call the owner. The owner
 * may have made a new connection when this returns. So the caller must not touch this one any
 * more. */
void rl_sub_disconnect(struct rl_sub *sub, int64_t now_ns, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* There is a channel to subscribe to that may not be denied. */
void rl_sub_reconsider(struct rl_sub *sub, int64_t now_ns);

void rl_sub_send(struct rl_sub *sub, const struct rl_inflight *inflight,
                 const struct rl_out *out);
void rl_sub_send_request(struct rl_sub *sub, enum rl_request_type what,
                         const struct rl_out *out, int64_t now_ns);
/* Is that part this text? */
bool rl_sub_is_bulk(const struct rl_reply *reply, unsigned i, const char *text);
/* Ask for the client's own channel. */
void rl_sub_subscribe(struct rl_sub *sub, int64_t now_ns);
/* The reply is not the expected one: disconnect. */
void rl_sub_refused(struct rl_sub *sub, const char *to_what, const struct rl_reply *reply,
                    int64_t now_ns);
bool rl_sub_is_noperm(const struct rl_reply *reply);
/* Does this reply confirm that the subscription has begun, or ended? */
bool rl_sub_confirms(const struct rl_reply *reply, bool begins, const char *channel,
                     size_t len);

/* ---- the others ---- */

/* subscriber_replies.c: the link has opened (only while CONNECTING); send a PING (only while
 * UP, and one at a time); read what has come. Each of them may disconnect, as rl_sub_flush()
 * may. */
void rl_sub_greet(struct rl_sub *sub, int64_t now_ns);
void rl_sub_ping(struct rl_sub *sub, int64_t now_ns);
void rl_sub_read(struct rl_sub *sub);
void rl_sub_on_bulk(void *sub, const char *bytes, size_t len); /* INFO's text */

/* subscriber_channels.c. _catch_up: send the channels' requests, as far as there is room.
 * _answered: a reply about one, which may disconnect. _message: a message on one (false: on
 * none). _ask_again: ask again for denied channels.
 */
void rl_sub_catch_up(struct rl_sub *sub, int64_t now_ns);
void rl_sub_channel_answered(struct rl_sub *sub, const struct rl_inflight *inflight,
                             const struct rl_reply *reply, int64_t now_ns);
bool rl_sub_channel_message(struct rl_sub *sub, const struct rl_reply *reply, int64_t now_ns);
void rl_sub_ask_again(struct rl_sub *sub, int64_t now_ns);

/* Do its Sentinels name another server than the one that it connected to? */
static inline bool rl_sub_has_moved(const struct rl_sub *sub)
{
    return sub->node->named && sub->moves != sub->node->named->moves;
}

/* Is there a channel, besides the client's own, that needs the connection? */
static inline bool rl_sub_has_channels(const struct rl_sub *sub)
{
    return sub->channels && sub->channels->used > 0;
}

#endif
