/* subscriber.c - the life of a subscriber's connection: see subscriber.h. Its requests and
 * replies are in subscriber_replies.c. */
#include "config_auto.h"

#include "base/clock.h"
#include "net/session.h"
#include "node/subscriber_parts.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

static void on_ready(struct rl_tag *tag, unsigned epoll_events, int64_t now_ns);

int rl_sub_init(struct rl_sub *sub, struct rl_node *node, const struct rl_sub_events *events,
                const char *uuid, int epoll_fd, int wake_fd)
{
    assert(strlen(uuid) == RL_UUID_LEN);
    assert(node->index < REDLOCK_NODES_MAX && events);
    *sub = (struct rl_sub){
        .tag = {.ready = on_ready},
        .node = node,
        .events = events,
        .why = "not connected yet",
    };
    snprintf(sub->channel, sizeof(sub->channel), RL_WAKE_PREFIX "%s", uuid);
    rl_retry_init(&sub->retry);
    if (rl_connection_init(&sub->connection, rl_node_place(node), node->tls, epoll_fd, wake_fd,
                           &sub->tag, rl_sub_on_bulk, sub)) {
        *sub = (struct rl_sub){0};
        return REDLOCK_ENOMEM;
    }
    return 0;
}

void rl_sub_done(struct rl_sub *sub, bool in_child)
{
    rl_connection_done(&sub->connection, in_child);
    *sub = (struct rl_sub){0};
}

/* ---- from nothing to a connection, and back ------------------------------------------- */

static void step(struct rl_sub *sub, unsigned epoll_events, int64_t now_ns);

static void connect_now(struct rl_sub *sub, int64_t now_ns)
{
    assert(sub->mode == RL_SUB_DOWN || sub->mode == RL_SUB_DENIED);
    assert(sub->wanted);
    assert(rl_link_state(sub->connection.link) == RL_LINK_IDLE);
    rl_retry_begin(&sub->retry, now_ns);
    sub->deadline_ns = now_ns + sub->node->settings->connect_timeout_ns;
    if (sub->node->named) {
        sub->moves = sub->node->named->moves;
        rl_link_readdress(sub->connection.link);
    }
    if (rl_session_connect(&sub->connection, now_ns, sub->deadline_ns, sub->events->log,
                           sub->node->settings->owner)) {
        snprintf(sub->why, sizeof(sub->why), "out of memory");
        rl_retry_failed(&sub->retry, sub->node->settings->prng, now_ns);
        rl_sub_set_mode(sub, RL_SUB_DOWN, now_ns);
        return;
    }
    sub->connects++;
    rl_sub_set_mode(sub, RL_SUB_CONNECTING, now_ns);
    step(sub, 0, now_ns);
}

static void step(struct rl_sub *sub, unsigned epoll_events, int64_t now_ns)
{
    struct rl_link *link = sub->connection.link;
    rl_link_step(link, epoll_events, now_ns); /* no effect if the event is too late */
    if (rl_link_state(link) == RL_LINK_OPEN && sub->mode == RL_SUB_CONNECTING)
        rl_sub_greet(sub, now_ns);
    if (rl_link_state(link) == RL_LINK_OPEN && (epoll_events & ~(unsigned)EPOLLOUT))
        rl_sub_read(sub);
    if (rl_link_state(link) == RL_LINK_OPEN)
        rl_sub_flush(sub, now_ns);
    if (rl_link_state(link) == RL_LINK_FAILED)
        rl_sub_disconnect(
            sub, now_ns, "%s",
            rl_session_failure(&sub->connection, sub->mode == RL_SUB_SUBSCRIBING));
}

static void on_ready(struct rl_tag *tag, unsigned epoll_events, int64_t now_ns)
{
    step((struct rl_sub *)tag, epoll_events, now_ns);
}

/* ---- wishes and time ------------------------------------------------------------------ */

static bool may_retry(const struct rl_sub *sub)
{
    return sub->wanted && (sub->mode == RL_SUB_DOWN || sub->mode == RL_SUB_DENIED) &&
           (!sub->node->named || sub->node->named->moves > 0); /* its server is known */
}

void rl_sub_want(struct rl_sub *sub, int64_t now_ns)
{
    assert(sub->connection.link);
    if (sub->wanted)
        return;
    sub->wanted = true;
    if (sub->pinged_ns)
        sub->pinged_ns = now_ns; /* nobody polled: the reply may lie in the socket */
    if (sub->mode == RL_SUB_OFF) {
        sub->retry.at_ns = now_ns;
        rl_sub_set_mode(sub, RL_SUB_DOWN, now_ns);
    } else if (sub->mode == RL_SUB_DOWN && !sub->retry.refused) {
        rl_retry_hasten(&sub->retry, now_ns);
    }
    if (may_retry(sub) && now_ns >= sub->retry.at_ns)
        connect_now(sub, now_ns);
}

void rl_sub_node_up(struct rl_sub *sub, int64_t now_ns)
{
    if (sub->mode == RL_SUB_DOWN && sub->retry.refused)
        rl_retry_hasten(&sub->retry, now_ns);
}

void rl_sub_unwant(struct rl_sub *sub)
{
    sub->wanted = false;
}

static bool is_live(const struct rl_sub *sub)
{
    return sub->mode >= RL_SUB_CONNECTING && sub->mode <= RL_SUB_UP;
}

/* When to stop waiting for the present reply; INT64_MAX: none is awaited. */
static int64_t limit_ns(const struct rl_sub *sub)
{
    if (!is_live(sub))
        return INT64_MAX;
    if (sub->mode != RL_SUB_UP)
        return sub->deadline_ns;
    if (!sub->wanted || !sub->pinged_ns)
        return INT64_MAX;
    /* Any message proves that the server is alive. */
    return rl_later_ns(sub->pinged_ns, sub->connection.heard_ns) +
           sub->node->settings->stall_limit_ns;
}

void rl_sub_absent(struct rl_sub *sub, int64_t absent_ns)
{
    assert(absent_ns > 0);
    if (!is_live(sub))
        return;
    sub->deadline_ns += absent_ns;
    rl_link_absent(sub->connection.link, absent_ns);
    if (sub->pinged_ns)
        sub->pinged_ns += absent_ns;
}

static int64_t ping_ns(const struct rl_sub *sub)
{
    if (sub->mode != RL_SUB_UP || !sub->wanted || sub->pinged_ns)
        return INT64_MAX;
    if (sub->doubted) /* at once */
        return sub->connection.heard_ns;
    return sub->connection.heard_ns + RL_PING_AFTER_MS * RL_NS_PER_MS;
}

static int64_t again_ns(const struct rl_sub *sub)
{
    bool denied = sub->mode == RL_SUB_UP && sub->wanted && sub->again_ns;
    return denied ? sub->again_ns : INT64_MAX;
}

void rl_sub_tick(struct rl_sub *sub, int64_t now_ns)
{
    if (is_live(sub) && rl_sub_has_moved(sub))
        rl_sub_disconnect(sub, now_ns, "another server is named");
    if (sub->mode == RL_SUB_CONNECTING)
        step(sub, 0, now_ns);
    /* Messages may lie unread in the socket: read before judging the silence. */
    if (now_ns >= limit_ns(sub) && sub->mode != RL_SUB_CONNECTING)
        step(sub, EPOLLIN, now_ns);
    if (now_ns >= limit_ns(sub))
        rl_sub_disconnect(sub, now_ns, "%s",
                          sub->mode == RL_SUB_UP
                              ? "does not answer"
                              : rl_session_silence(sub->mode != RL_SUB_CONNECTING));
    if (now_ns >= ping_ns(sub))
        rl_sub_ping(sub, now_ns);
    if (now_ns >= again_ns(sub))
        rl_sub_ask_again(sub, now_ns);
    rl_sub_catch_up(sub, now_ns);
    rl_sub_flush(sub, now_ns);
    if (may_retry(sub) && now_ns >= sub->retry.at_ns)
        connect_now(sub, now_ns);
}

int64_t rl_sub_due_ns(struct rl_sub *sub)
{
    if (may_retry(sub))
        return sub->retry.at_ns;
    int64_t due_ns = rl_earlier_ns(rl_earlier_ns(limit_ns(sub), ping_ns(sub)), again_ns(sub));
    if (sub->mode == RL_SUB_CONNECTING)
        due_ns = rl_earlier_ns(due_ns, rl_link_due_ns(sub->connection.link));
    return due_ns;
}

void rl_sub_compare(struct rl_sub *sub, const char *run_id)
{
    sub->doubted = sub->run_id[0] && strcmp(sub->run_id, run_id) != 0;
}

bool rl_sub_pending(const struct rl_sub *sub)
{
    return sub->wanted && sub->retry.failures == 0 && sub->mode != RL_SUB_UP;
}
