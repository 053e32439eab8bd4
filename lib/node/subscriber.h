/* subscriber.h - the connection on which a client hears that a lock it waits for was released:
 * one a node, shared by all who wait, subscribed to one channel of the client's own.
 *
 * Its modes are drawn in docs/ARCHITECTURE.md.
 *
 * Beside the client's own channel it listens on those of channels (channel.h), which come and
 * go while it is UP. A user may lack the right to one and have it to another: then the
 * connection stays, for as long as there is any to be heard on.
 *
 * What is heard is a hint and no more: messages can get lost, be late, or be made up by
 * any user who may publish. So a waiter asks again by itself from time to time, and
 * nothing here ever counts as a vote.
 *
 * The server is asked for the channel "redlock:wake:<uuid>"; the release script publishes the
 * member "<uuid>:<seq>" that is to be woken. A silent connection is asked for a PONG, as one
 * that is half-open looks like one on which there is nothing to say.
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

/* What it tells its owner (settings->owner). From within, rl_sub_want() and rl_sub_unwant()
 * may be called, but not rl_sub_done(). */
struct rl_sub_events {
    void (*woken)(void *owner, unsigned node, uint64_t seq, int64_t now_ns);
    /* On entering and on leaving UP. What was published while it did not listen is lost. */
    void (*changed)(void *owner, unsigned node, bool listens, int64_t now_ns);
    void (*log)(void *owner, int level, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
    /* Something was published on a channel's channel; from now on such things are heard there.
     * No word when that ends: the channel's bits say so. */
    void (*message)(void *owner, unsigned node, struct rl_channel *channel, int64_t now_ns);
    void (*subscribed)(void *owner, unsigned node, struct rl_channel *channel, int64_t now_ns);
};

struct rl_sub {
    struct rl_tag tag; /* the event tag of the link; must be first */
    unsigned index;
    const struct rl_node_config *config;
    const struct rl_node_settings *settings;
    const struct rl_sub_events *events;
    struct rl_tls_context *tls; /* the node's; NULL: no TLS */
    struct rl_connection connection;
    char channel[sizeof(RL_WAKE_PREFIX) + RL_UUID_LEN];
    struct rl_channels *channels; /* all the client's; NULL: there are none. Set by the owner */

    enum rl_sub_mode mode;
    bool wanted;
    bool denied_told; /* NOPERM was logged, and has not been got over since */
    bool deaf;        /* UP: not on the client's own channel, to which it has no right */
    bool behind;      /* SUBSCRIBING, UP: some channel may have a wish that was not sent yet */
    bool channel_denied_told; /* NOPERM for a channel's channel was logged */
    unsigned confirmed;       /* channels that the server says we have */
    unsigned unleft;          /* channels that it does not let us end */
    int64_t again_ns;         /* UP: when to ask again for what was denied; 0: nothing was */
    int64_t since_ns;         /* of the mode */
    int64_t deadline_ns;      /* CONNECTING, AUTH, SUBSCRIBING */
    struct rl_retry retry;
    int64_t pinged_ns; /* UP: since when a PONG is awaited; 0: none is */
    uint64_t connects;
    char why[192]; /* DOWN, DENIED: the reason */
};

/* `tls` is the node's own context. `uuid` has RL_UUID_LEN characters. Everything it needs to
 * run is allocated here; on REDLOCK_ENOMEM it is zeroed. All calls but rl_sub_want() allow
 * a zeroed struct. */
int rl_sub_init(struct rl_sub *sub, unsigned index, const struct rl_node_config *config,
                const struct rl_node_settings *settings, const struct rl_sub_events *events,
                struct rl_tls_context *tls, const char *uuid, int epoll_fd, int wake_fd);
void rl_sub_done(struct rl_sub *sub);
void rl_sub_done_in_child(struct rl_sub *sub);

/* Somebody waits: connect, unless it is connected or on its way. After a pause this does not
 * wait for the backoff; a denial it does wait out. */
void rl_sub_want(struct rl_sub *sub, int64_t now_ns);

/* Nobody waits: a connection stays, but is neither looked after nor replaced. */
void rl_sub_unwant(struct rl_sub *sub);

/* Nobody looked for so long (driven.h). */
void rl_sub_absent(struct rl_sub *sub, int64_t absent_ns);

/* Time passed, or the wake descriptor fired: move on, give up, connect anew, ask for life. */
void rl_sub_tick(struct rl_sub *sub, int64_t now_ns);
int64_t rl_sub_due_ns(struct rl_sub *sub); /* INT64_MAX: no need */

/* A channel's users have come or gone: say so, if that is possible now. It is sent by
 * rl_sub_flush(). */
void rl_sub_sync(struct rl_sub *sub, struct rl_channel *channel, int64_t now_ns);
void rl_sub_flush(struct rl_sub *sub, int64_t now_ns);

/* Has the server confirmed that what is published now on the client's own channel will be
 * heard? */
bool rl_sub_listens(const struct rl_sub *sub);

/* Is the first attempt still under way, so that waiting for it may be worth it? */
bool rl_sub_pending(const struct rl_sub *sub);

#endif
