/* subscriber.h - the connection that tells a client of releases of the locks it waits for.
 * There is one subscriber for each node, shared by all waiters, subscribed to a channel of the
 * client's own.
 *
 * A subscriber's modes are drawn in docs/ARCHITECTURE.md.
 *
 * The subscriber also subscribes to the channels of channel.h, which come and go while it is
 * UP. A user may have the right to only some of them: the connection stays as long as one
 * subscription is possible.
 *
 * Messages are only hints: they can get lost, be late, or be forged by any user with the right
 * to publish. Because of this a waiter asks again from time to time, and no message counts as a
 * vote.
 *
 * The client's channel is "redlock:wake:<uuid>"; the release script publishes "<uuid>:<seq>" of
 * the waiter to wake. A silent connection gets a PING, because a half-open one looks like one
 * without messages.
 */
#ifndef RL_SUBSCRIBER_H
#define RL_SUBSCRIBER_H

#include "node/channel.h"
#include "node/node.h"
#include "core/reconnect.h"

#include <stdbool.h>
#include <stdint.h>

enum rl_sub_mode {
    RL_SUB_OFF, /* never wanted */
    RL_SUB_DOWN,
    RL_SUB_CONNECTING,
    RL_SUB_AUTH,
    RL_SUB_SUBSCRIBING,
    RL_SUB_UP,
    RL_SUB_DENIED
};

/* The callbacks of its owner (settings->owner). They may call rl_sub_want() and
 * rl_sub_unwant(); they must not call rl_sub_done(). */
struct rl_sub_events {
    void (*woken)(void *owner, struct rl_node *node, uint64_t seq, int64_t now_ns);
    /* On entering and on leaving UP. Messages published while it did not listen are lost. */
    void (*changed)(void *owner, struct rl_node *node, bool listens, int64_t now_ns);
    void (*log)(void *owner, int level, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
    /* A message came on a channel; and the subscription to a channel has begun. Its end has no
     * callback: the channel's bits show it. */
    void (*message)(void *owner, struct rl_node *node, struct rl_channel *channel,
                    int64_t now_ns);
    void (*subscribed)(void *owner, struct rl_node *node, struct rl_channel *channel,
                       int64_t now_ns);
    /* This process answered a request that was sent then. NULL: nobody wants to know. */
    void (*met)(void *owner, struct rl_node *node, const char *run_id, int64_t sent_ns,
                int64_t now_ns);
};

struct rl_sub {
    struct rl_tag tag;    /* the event tag of the link; must be first */
    struct rl_node *node; /* whose releases it hears of */
    const struct rl_sub_events *events;
    struct rl_connection connection;
    char channel[sizeof(RL_WAKE_PREFIX) + RL_UUID_LEN];
    struct rl_channels *channels; /* all of the client; NULL: none. Set by the owner */

    enum rl_sub_mode mode;
    bool wanted;
    char run_id[48];          /* of the process that it is connected to; empty: not told */
    bool doubted;             /* another process was met at this address: does this one live? */
    bool denied_told;         /* NOPERM was logged, and no subscription has worked since */
    bool deaf;                /* UP, but without the right to the client's own channel */
    bool asking;              /* for the client's own channel: its answer is awaited */
    bool behind;              /* SUBSCRIBING, UP: some channel may have a request to be sent */
    bool channel_denied_told; /* NOPERM for a channel was logged */
    unsigned confirmed;       /* subscriptions that the server says we have */
    unsigned unleft;          /* subscriptions that the server does not let us end */
    int64_t again_ns;         /* UP: when to ask again for denied channels; 0: never */
    int64_t since_ns;         /* of the mode */
    int64_t deadline_ns;      /* CONNECTING, AUTH, SUBSCRIBING */
    struct rl_retry retry;
    int64_t pinged_ns; /* UP: since when a PONG is awaited; 0: none is */
    uint64_t connects;
    uint64_t moves; /* the node's (rl_named), when it connected last */
    char why[192]; /* DOWN, DENIED: the reason */
};

/* Of this node, which outlives it. `uuid` has RL_UUID_LEN characters. Everything it needs to
 * run is allocated here; on REDLOCK_ENOMEM it is zeroed. All calls but rl_sub_want() allow
 * a zeroed struct. */
int rl_sub_init(struct rl_sub *sub, struct rl_node *node, const struct rl_sub_events *events,
                const char *uuid, int epoll_fd, int wake_fd);
void rl_sub_done(struct rl_sub *sub, bool in_child);

/* Somebody waits: connect, unless it is connected or connecting. After a time without waiters
 * this skips the backoff, but not the pause after a denial. */
void rl_sub_want(struct rl_sub *sub, int64_t now_ns);

/* Its server let in a connection: try again soon, if it refused this one. */
void rl_sub_node_up(struct rl_sub *sub, int64_t now_ns);

/* Nobody waits any more: a connection stays, but gets no PING and is not replaced. */
void rl_sub_unwant(struct rl_sub *sub);

/* Nobody polled for so long (driven.h). */
void rl_sub_absent(struct rl_sub *sub, int64_t absent_ns);

/* Time passed, or the wake descriptor fired: step the link, give up, reconnect or send a
 * PING. */
void rl_sub_tick(struct rl_sub *sub, int64_t now_ns);
int64_t rl_sub_due_ns(struct rl_sub *sub); /* INT64_MAX: no need */

/* That process was met at this address since. If it is another one, see whether this
 * connection's lives. */
void rl_sub_compare(struct rl_sub *sub, const char *run_id);

/* A channel's users have come or gone: queue the request for it, if that is possible now.
 * rl_sub_flush() sends it. */
void rl_sub_sync(struct rl_sub *sub, struct rl_channel *channel, int64_t now_ns);
void rl_sub_flush(struct rl_sub *sub, int64_t now_ns);

/* Has the server confirmed the subscription to the client's own channel? */
bool rl_sub_listens(const struct rl_sub *sub);

/* Is the first attempt still under way, so that waiting for it may be worth it? */
bool rl_sub_pending(const struct rl_sub *sub);

#endif
