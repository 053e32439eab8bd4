/* node_ask_parts.h - between node_ask*.c only: the peers, which are masters and Sentinels.
 *
 *   NAMING --> CONNECTING --> LOGIN --> ASKED <--> IDLE (no request is left)
 *      +-----------+------------+---------+-- refused, failed, too late --> FAILED
 *
 * A master whose line names Sentinels is NAMING until these have named it.
 */
#ifndef REDLOCK_NODE_ASK_PARTS_H
#define REDLOCK_NODE_ASK_PARTS_H

#include "redlock/node_ask.h"

#include "base/clock.h"
#include "net/connection.h"
#include "net/tls.h"

#include <stdatomic.h>

enum step { NOT_ADDED, NAMING, CONNECTING, LOGIN, ASKED, IDLE, FAILED };

struct peer {
    struct rl_tag tag; /* first: the event tag of the link */
    struct node_ask *asking;
    const struct node_questions *questions;
    void *context;
    unsigned number; /* what `questions` know it by */
    const struct rl_node_config *config;
    struct rl_tls_context *tls;
    struct rl_connection connection;
    enum step step;
    int64_t deadline_ns; /* of connecting and of this run's requests */
};

struct node_ask {
    struct rl_tag wake_tag; /* a host name is known */
    const struct node_questions *questions;
    void *context;
    struct rl_clock clock;
    struct rl_config config;
    int epoll_fd, wake_fd;
    atomic_bool stopped;
    struct peer *peer; /* the masters; behind them RL_SENTINELS_MAX places for each */
    unsigned peers;
    struct service_look *service[REDLOCK_NODES_MAX]; /* NULL: no Sentinels name it */
};

/* ---- node_ask_link.c: one connection ------------------------------------------------------ */

/* Connect, and ask for what `questions` has. */
void peer_begin(struct peer *peer, const struct rl_node_config *config, int64_t now_ns);

/* The only place that changes the step. */
void peer_set_step(struct peer *peer, enum step step);
void peer_fail(struct peer *peer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* An IDLE peer may have another request. */
void peer_ask_again(struct peer *peer, int64_t now_ns);

/* Its link has these events, or its host may have been looked up. */
void peer_move(struct rl_tag *tag, unsigned events, int64_t now_ns);

/* ---- node_ask_named.c: who is the master that Sentinels name? ------------------------------ */

/* Ask them; the master is connected to once a majority has named it. */
void naming_begin(struct node_ask *asking, unsigned node, int64_t now_ns);

#endif
