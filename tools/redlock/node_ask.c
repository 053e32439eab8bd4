/* node_ask.c - see node_ask.h. */
#include "config_auto.h"

#include "redlock/node_ask_parts.h"

#include "base/eventfd.h"
#include "base/times.h"
#include "config/config_load.h"
#include "config/sentinels.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#define EVENTS_MAX 16

static void on_wake(struct rl_tag *tag, unsigned events, int64_t now_ns)
{
    struct node_ask *asking = (struct node_ask *)tag;
    (void)events, (void)now_ns;
    rl_eventfd_drain(asking->wake_fd);
}

void node_ask_add(struct node_ask *asking, unsigned node)
{
    struct peer *peer = &asking->peer[node];
    int64_t now_ns = rl_clock_steady_ns(&asking->clock);
    assert(node < asking->config.node_count && peer->step == NOT_ADDED);
    *peer = (struct peer){.tag.ready = peer_move,
                          .asking = asking,
                          .questions = asking->questions,
                          .context = asking->context,
                          .number = node};
    if (asking->config.nodes[node].service)
        naming_begin(asking, node, now_ns);
    else
        peer_begin(peer, &asking->config.nodes[node], now_ns);
}

/* ---- all of them ------------------------------------------------------------------------ */

static bool is_under_way(const struct peer *peer)
{
    return peer->step > NOT_ADDED && peer->step < IDLE;
}

static bool any_under_way(const struct node_ask *asking)
{
    for (unsigned i = 0; i < asking->peers; i++) {
        if (is_under_way(&asking->peer[i]))
            return true;
    }
    return false;
}

/* Those that connect also have deadlines, and host names that may have been resolved. */
static void turn(struct node_ask *asking, int64_t now_ns)
{
    struct epoll_event events[EVENTS_MAX];
    int64_t due_ns = INT64_MAX;
    for (unsigned i = 0; i < asking->peers; i++) {
        const struct peer *peer = &asking->peer[i];
        if (is_under_way(peer) && peer->step != NAMING)
            due_ns = rl_earlier_ns(due_ns, peer->deadline_ns);
        if (peer->step == CONNECTING)
            due_ns = rl_earlier_ns(due_ns, rl_link_due_ns(peer->connection.link));
    }
    int64_t wait_ns = due_ns - now_ns;
    int wait_ms = wait_ns > 0 ? (int)((wait_ns + RL_NS_PER_MS - 1) / RL_NS_PER_MS) : 0;
    int count = epoll_wait(asking->epoll_fd, events, EVENTS_MAX, wait_ms);
    now_ns = rl_clock_steady_ns(&asking->clock);
    for (int i = 0; i < count; i++) {
        struct rl_tag *tag = events[i].data.ptr;
        tag->ready(tag, events[i].events, now_ns);
    }
    for (unsigned i = 0; i < asking->peers; i++) {
        if (asking->peer[i].step == CONNECTING)
            peer_move(&asking->peer[i].tag, 0, now_ns);
    }
}

/* A master is no longer awaited once its Sentinels are not. */
static void fail_late(struct node_ask *asking, int64_t now_ns)
{
    bool stopped = atomic_load(&asking->stopped);
    for (unsigned i = 0; i < asking->peers; i++) {
        struct peer *peer = &asking->peer[i];
        if (is_under_way(peer) &&
            (stopped || (peer->step != NAMING && now_ns >= peer->deadline_ns)))
            peer_fail(peer, "no answer within connect-timeout");
    }
}

void node_ask_run(struct node_ask *asking)
{
    int64_t now_ns = rl_clock_steady_ns(&asking->clock);
    for (unsigned i = 0; i < asking->peers; i++) {
        if (asking->peer[i].step == IDLE)
            peer_ask_again(&asking->peer[i], now_ns);
    }
    while (any_under_way(asking)) {
        turn(asking, now_ns);
        now_ns = rl_clock_steady_ns(&asking->clock);
        fail_late(asking, now_ns);
    }
}

void node_ask_stop(struct node_ask *asking)
{
    atomic_store(&asking->stopped, true);
    rl_eventfd_signal(asking->wake_fd);
}

/* ---- its life ---------------------------------------------------------------------------- */

static bool load(struct node_ask *asking)
{
    redlock_config from = REDLOCK_CONFIG_INIT;
    redlock_error error = REDLOCK_ERROR_INIT;
    from.file = cli_nodes_used();
    if (rl_config_load(&asking->config, &from, NULL, NULL, &error))
        return false;
    asking->peers = asking->config.node_count;
    if (rl_config_has_sentinels(&asking->config))
        asking->peers *= 1 + RL_SENTINELS_MAX;
    asking->peer = calloc(asking->peers, sizeof(*asking->peer));
    return asking->peer != NULL;
}

static bool open_descriptors(struct node_ask *asking)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &asking->wake_tag};
    asking->wake_tag.ready = on_wake;
    asking->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    asking->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return asking->epoll_fd >= 0 && asking->wake_fd >= 0 &&
           epoll_ctl(asking->epoll_fd, EPOLL_CTL_ADD, asking->wake_fd, &event) == 0;
}

struct node_ask *node_ask_open(const struct node_questions *questions, void *context)
{
    struct node_ask *asking = calloc(1, sizeof(*asking));
    if (!asking)
        return NULL;
    asking->questions = questions;
    asking->context = context;
    if (open_descriptors(asking) && load(asking))
        return asking;
    node_ask_close(asking);
    return NULL;
}

const struct rl_config *node_ask_config(const struct node_ask *asking)
{
    return &asking->config;
}

const struct service_look *node_ask_service(const struct node_ask *asking, unsigned node)
{
    return asking->service[node];
}

int64_t node_ask_tls_left_s(const struct node_ask *asking, unsigned node)
{
    const struct rl_link *link = asking->peer[node].connection.link;
    return link ? rl_link_tls_left_s(link) : -1;
}

void node_ask_close(struct node_ask *asking)
{
    if (!asking)
        return;
    for (unsigned i = 0; asking->peer && i < asking->peers; i++) {
        rl_connection_done(&asking->peer[i].connection, false);
        rl_tls_context_free(asking->peer[i].tls);
    }
    for (unsigned i = 0; i < asking->config.node_count; i++)
        free(asking->service[i]);
    free(asking->peer);
    rl_config_free(&asking->config);
    if (asking->wake_fd >= 0)
        close(asking->wake_fd);
    if (asking->epoll_fd >= 0)
        close(asking->epoll_fd);
    free(asking);
}
