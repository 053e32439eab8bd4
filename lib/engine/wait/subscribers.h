/* subscribers.h - the subscribers of all nodes (subscribers.c). The mutex must be held. */
#ifndef RL_SUBSCRIBERS_H
#define RL_SUBSCRIBERS_H

#include "engine/masters/nodes.h"
#include "node/subscriber.h"

#include <redlock.h>
#include <stdbool.h>
#include <stdint.h>

struct rl_subs {
    const struct rl_sub_events *events;
    const struct rl_nodes *nodes;
    const char *uuid;      /* the client's: those who wake it know it by that */
    int epoll_fd, wake_fd; /* of its loop */
    struct rl_sub *block;  /* the memory of those of all nodes, from the first wait on */
    bool wanted;
    bool unflushed;              /* they may have something to send */
    struct rl_channels channels; /* besides the client's own */
    uint64_t listening;          /* nodes whose releases of plain locks we hear */
};

void rl_subs_start(struct rl_subs *subs, int64_t now_ns);
/* A channel's users have changed: subscribe or unsubscribe. This may free the channel. */
void rl_subs_sync(struct rl_subs *subs, struct rl_channel *channel, int64_t now_ns);
void rl_subs_flush(struct rl_subs *subs, int64_t now_ns); /* only if subs->unflushed */
bool rl_subs_pending(const struct rl_subs *subs);
/* The nodes whose subscriber has received anything since then, a PING's reply included. */
uint64_t rl_subs_alive(const struct rl_subs *subs, int64_t since_ns);
void rl_subs_absent(struct rl_subs *subs, int64_t absent_ns);
/* Since when nobody waits; INT64_MAX: somebody does. */
void rl_subs_tick(struct rl_subs *subs, int64_t unused_since_ns, int64_t now_ns);
int64_t rl_subs_due_ns(struct rl_subs *subs);
void rl_subs_done(struct rl_subs *subs, bool in_child);

#endif
