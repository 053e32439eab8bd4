/* subscribers.h - the subscribers of all nodes (subscribers.c). The mutex must be held. */
#ifndef RL_SUBSCRIBERS_H
#define RL_SUBSCRIBERS_H

#include "node/channel.h"

#include <redlock.h>
#include <stdbool.h>
#include <stdint.h>

void rl_subs_start(redlock *client, int64_t now_ns);
/* A channel's users have changed: subscribe or unsubscribe. This may free the channel. */
void rl_subs_sync(redlock *client, struct rl_channel *channel, int64_t now_ns);
void rl_subs_flush(redlock *client, int64_t now_ns); /* only if client->subs.unflushed */
bool rl_subs_pending(const redlock *client);
/* The nodes whose subscriber has received anything since then, a PING's reply included. */
uint64_t rl_subs_alive(const redlock *client, int64_t since_ns);
void rl_subs_absent(redlock *client, int64_t absent_ns);
void rl_subs_tick(redlock *client, int64_t now_ns);
int64_t rl_subs_due_ns(redlock *client);
void rl_subs_done(redlock *client, bool in_child);

#endif
