/* node_ask_link.c - the connection to one peer: see node_ask_parts.h. */
#include "config_auto.h"

#include "redlock/node_ask_parts.h"

#include "redlock/client_list.h"

#include "net/resolve.h"
#include "net/session.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>

void peer_set_step(struct peer *peer, enum step step)
{
    static const unsigned allowed[] = {
        [NOT_ADDED] = 1U << NAMING | 1U << CONNECTING,
        [NAMING] = 1U << CONNECTING | 1U << FAILED,
        [CONNECTING] = 1U << LOGIN | 1U << ASKED | 1U << IDLE | 1U << FAILED,
        [LOGIN] = 1U << ASKED | 1U << IDLE | 1U << FAILED,
        [ASKED] = 1U << ASKED | 1U << IDLE | 1U << FAILED,
        [IDLE] = 1U << ASKED | 1U << IDLE | 1U << FAILED,
        [FAILED] = 0,
    };
    assert(allowed[peer->step] & 1U << step);
    peer->step = step;
}

void peer_fail(struct peer *peer, const char *format, ...)
{
    char why[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof(why), format, arguments);
    va_end(arguments);
    peer_set_step(peer, FAILED);
    if (peer->connection.link)
        rl_link_close(peer->connection.link);
    peer->questions->on_failure(peer->context, peer->number, cli_text(why, strlen(why)).text);
}

/* ---- what is asked ---------------------------------------------------------------------- */

/* It is logged in, or has answered: send its next request, if there is one. */
static void ask_next(struct peer *peer)
{
    /* Replies may be as long as INFO's. */
    struct rl_inflight inflight = {.type = RL_REQUEST_INFO, .deadline_ns = INT64_MAX};
    const char *request = peer->questions->next(peer->context, peer->number);
    if (!request) {
        peer_set_step(peer, IDLE);
        if (peer->questions->on_end)
            peer->questions->on_end(peer->context, peer->number);
        return;
    }
    if (peer->questions->texts && peer->questions->texts(peer->context, peer->number))
        inflight.type = RL_REQUEST_MASTER;
    peer_set_step(peer, ASKED);
    rl_connection_put(&peer->connection, request, strlen(request), &inflight);
}

static void log_in(struct peer *peer, int64_t now_ns)
{
    char why[160];
    int queued = rl_session_login(&peer->connection, now_ns, INT64_MAX, why, sizeof(why));
    if (queued < 0)
        peer_fail(peer, "%s", why);
    else if (queued == 0)
        ask_next(peer);
    else
        peer_set_step(peer, LOGIN);
}

/* ---- what is answered ------------------------------------------------------------------- */

static void on_bulk(void *context, const char *bytes, size_t len)
{
    struct peer *peer = context;
    if (peer->step == ASKED && peer->questions->on_bulk)
        peer->questions->on_bulk(peer->context, peer->number, bytes, len,
                                 &peer->connection.mask);
}

static void answered(struct peer *peer, const struct rl_reply *reply)
{
    const char *enough = peer->questions->on_reply(peer->context, peer->number, reply);
    if (enough)
        peer_fail(peer, "%s", enough);
    else
        ask_next(peer);
}

static void refused(struct peer *peer, const struct rl_reply *reply)
{
    char text[160];
    rl_error_text(reply, &peer->connection.mask, text, sizeof(text));
    if (peer->step == ASKED && peer->questions->on_error &&
        peer->questions->on_error(peer->context, peer->number,
                                  cli_text(text, strlen(text)).text))
        ask_next(peer);
    else
        peer_fail(peer, "%s%s", peer->step == LOGIN ? "authentication failed: " : "", text);
}

/* A whole reply. False: the connection is closed. */
static bool take(void *context, const struct rl_reply *reply, int64_t now_ns)
{
    struct peer *peer = context;
    char text[160];
    (void)now_ns;
    if (!rl_connection_oldest(&peer->connection)) {
        rl_unasked_text(reply, &peer->connection.mask, text, sizeof(text));
        peer_fail(peer, "%s", text);
        return false;
    }
    rl_connection_drop_oldest(&peer->connection);
    if (reply->type == RL_REPLY_ERROR) {
        refused(peer, reply);
    } else if (peer->step == LOGIN && rl_login_accepted(reply)) {
        ask_next(peer);
    } else if (peer->step == ASKED) {
        answered(peer, reply);
    } else {
        peer_fail(peer, "answered something that was not asked for");
    }
    return peer->step != FAILED;
}

/* ---- the connection ---------------------------------------------------------------------- */

void peer_move(struct rl_tag *tag, unsigned events, int64_t now_ns)
{
    struct peer *peer = (struct peer *)tag;
    struct rl_connection *connection = &peer->connection;
    if (peer->step == FAILED)
        return;
    rl_link_step(connection->link, events, now_ns);
    if (rl_link_state(connection->link) == RL_LINK_OPEN) {
        if (peer->step == CONNECTING)
            log_in(peer, now_ns);
        if (peer->step != FAILED && (events & ~(unsigned)EPOLLOUT) &&
            !rl_connection_read(connection, &peer->asking->clock, take, NULL, peer))
            peer_fail(peer, "%s", rl_reader_text(connection->reader));
        if (peer->step != FAILED && rl_link_state(connection->link) == RL_LINK_OPEN)
            (void)rl_connection_flush(connection);
    }
    if (peer->step != FAILED && rl_link_state(connection->link) == RL_LINK_FAILED)
        peer_fail(peer, "%s", rl_link_text(connection->link));
}

void peer_ask_again(struct peer *peer, int64_t now_ns)
{
    assert(peer->step == IDLE);
    peer->deadline_ns = now_ns + peer->asking->config.connect_timeout_ms * RL_NS_PER_MS;
    ask_next(peer);
    peer_move(&peer->tag, 0, now_ns);
}

void peer_begin(struct peer *peer, const struct rl_node_config *config, int64_t now_ns)
{
    struct node_ask *asking = peer->asking;
    char why[160] = "";
    peer_set_step(peer, CONNECTING);
    peer->config = config;
    peer->deadline_ns = now_ns + asking->config.connect_timeout_ms * RL_NS_PER_MS;
    if (config->transport == RL_TLS)
        peer->tls = rl_tls_context_new(config, why, sizeof(why));
    if (why[0]) {
        peer_fail(peer, "%s", why);
        return;
    }
    if (rl_connection_init(&peer->connection, config, peer->tls, asking->epoll_fd,
                           asking->wake_fd, &peer->tag, on_bulk, peer)) {
        peer_fail(peer, "out of memory");
        return;
    }
    peer->connection.info_max = CLIENT_LIST_BYTES_MAX;
    if (peer->questions->backwards)
        rl_link_set_order(peer->connection.link, rl_addresses_turn, NULL);
    rl_link_open(peer->connection.link, now_ns, peer->deadline_ns);
    peer_move(&peer->tag, 0, now_ns);
}
