/* node.c - the life of a node's connections: see node.h. */
#include "config_auto.h"

#include "base/clock.h"
#include "core/refusal.h"
#include "net/session.h"
#include "node/node_met.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

static void on_ready(struct rl_tag *tag, unsigned epoll_events, int64_t now_ns)
{
    rl_node_step((struct rl_slot *)tag, epoll_events, now_ns);
}

int rl_node_init(struct rl_node *node, unsigned index, const struct rl_node_config *config,
                 const struct rl_node_settings *settings, int epoll_fd, int wake_fd, char *why,
                 size_t why_size)
{
    assert(index < REDLOCK_NODES_MAX);
    assert(settings->events && settings->clock && settings->prng);
    *node = (struct rl_node){
        .index = index,
        .config = config,
        .keys = &rl_server_keys,
        .settings = settings,
        .duplicate_of = -1,
        .ask_info_ns = INT64_MAX,
        .info = {.uptime_s = -1},
        .why = "not connected yet",
    };
    rl_retry_init(&node->retry);
    rl_presence_init(&node->presence, rl_clock_steady_ns(settings->clock));
    if (config->service) {
        node->named = calloc(1, sizeof(*node->named));
        if (!node->named)
            return REDLOCK_ENOMEM;
        node->named->config = *config;
        node->named->witnesses.named = config->sentinel_count;
        node->named->lacks = node->named->hopeful = true;
    }
    if (config->transport == RL_TLS) {
        node->tls = rl_tls_context_new(config, why, why_size);
        if (!node->tls) {
            free(node->named);
            return REDLOCK_ECONFIG;
        }
    }
    for (unsigned i = 0; i < RL_SLOTS; i++) {
        struct rl_slot *slot = &node->slot[i];
        slot->tag.ready = on_ready;
        slot->node = node;
        slot->index = i;
        if (rl_connection_init(&slot->connection, rl_node_place(node), node->tls, epoll_fd,
                               wake_fd, &slot->tag, rl_node_on_bulk, slot)) {
            rl_node_done(node, false);
            return REDLOCK_ENOMEM;
        }
        rl_link_set_order(slot->connection.link, rl_node_order_addresses, node);
    }
    return 0;
}

void rl_node_done(struct rl_node *node, bool in_child)
{
    for (unsigned i = 0; i < RL_SLOTS; i++)
        rl_connection_done(&node->slot[i].connection, in_child);
    rl_tls_context_free(node->tls);
    free(node->addresses);
    free(node->named);
    node->tls = NULL;
    node->addresses = NULL;
    node->named = NULL;
}

static void connect_now(struct rl_node *node, int64_t now_ns)
{
    struct rl_slot *slot = &node->slot[node->current];
    assert(node->mode == RL_DOWN);
    assert(slot->connection.fifo_count == 0); /* every request on it has had its callback */
    rl_retry_begin(&node->retry, now_ns);
    if (node->tried_ns == 0)
        node->tried_ns = now_ns;
    node->deadline_ns = now_ns + node->settings->connect_timeout_ns;
    if (node->named)
        rl_link_readdress(slot->connection.link);
    if (rl_session_connect(&slot->connection, now_ns, node->deadline_ns,
                           node->settings->events->log, node->settings->owner)) {
        rl_retry_failed(&node->retry, node->settings->prng, now_ns);
        return;
    }
    rl_node_set_mode(node, RL_CONNECTING, now_ns);
    node->connects++;
    rl_node_step(slot, 0, now_ns);
}

/* The link in use does not answer: keep it for the order of requests, and connect anew beside
 * it. */
static void drain(struct rl_node *node, int64_t now_ns)
{
    unsigned other = 1 - node->current;
    assert(node->mode == RL_UP);
    if (node->draining)
        rl_node_disconnect(node, other, now_ns, "gave up on an unanswered connection");
    node->settings->events->log(node->settings->owner, REDLOCK_LOG_INFO,
                                "%s: does not answer; connecting anew beside it",
                                node->config->label);
    struct rl_slot *slot = &node->slot[node->current];
    assert(node->slot[other].connection.fifo_count == 0);
    node->draining = true;
    node->drained_ns = now_ns;
    node->drain_until_ns = now_ns + node->settings->drain_limit_ns;
    node->current = other;
    snprintf(node->why, sizeof(node->why), "does not answer");
    rl_node_set_mode(node, RL_DOWN, now_ns);
    node->ask_info_ns = INT64_MAX;
    node->retry.at_ns = now_ns;
    for (unsigned i = 0; i < slot->connection.fifo_count; i++) {
        const struct rl_inflight *inflight = rl_connection_inflight(&slot->connection, i);
        if (inflight->type == RL_REQUEST_VERB)
            node->settings->events->drains(node->settings->owner, node, slot->index, inflight,
                                           now_ns);
    }
}

/* When to connect anew beside the link in use. If it is silent for longer than a reply takes,
 * lost bytes may be the reason, which TCP repeats only much later. But a server that hangs must
 * not get one connection after the other. */
static int64_t drain_ns(struct rl_node *node)
{
    const struct rl_inflight *oldest = rl_connection_oldest(rl_node_connection(node));
    int64_t limit_ns = node->settings->stall_limit_ns;
    if (node->mode != RL_UP || !oldest)
        return INT64_MAX;
    int64_t silent_ns = oldest->sent_ns + rl_patience_ns(node->round_trip_ns);
    if (silent_ns < node->drained_ns + limit_ns)
        silent_ns = node->drained_ns + limit_ns;
    return rl_earlier_ns(silent_ns, oldest->deadline_ns + limit_ns);
}

void rl_node_step(struct rl_slot *slot, unsigned epoll_events, int64_t now_ns)
{
    struct rl_node *node = slot->node;
    struct rl_link *link = slot->connection.link;
    bool current = slot->index == node->current;
    assert(slot->index < RL_SLOTS && slot == &node->slot[slot->index]);
    if (!current && !node->draining)
        return;
    rl_link_step(link, epoll_events, now_ns);
    if (rl_link_state(link) == RL_LINK_OPEN) {
        if (current && node->mode == RL_CONNECTING)
            rl_node_greet(node, now_ns);
        if (rl_link_state(link) == RL_LINK_OPEN && (epoll_events & ~(unsigned)EPOLLOUT))
            rl_node_read(slot);
        if (rl_link_state(link) == RL_LINK_OPEN && rl_connection_unsent(&slot->connection))
            rl_connection_flush(&slot->connection);
    }
    if (rl_link_state(link) == RL_LINK_FAILED)
        rl_node_disconnect(
            node, slot->index, now_ns, "%s",
            rl_session_failure(&slot->connection, current && node->mode == RL_GREETING));
}

/* The draining link has answered everything, and the other one is not up yet: it was only late.
 * Use it again. */
static void undrain(struct rl_node *node, int64_t now_ns)
{
    struct rl_slot *slot = &node->slot[node->current];
    assert(node->draining && node->mode != RL_UP);
    assert(rl_link_state(node->slot[1 - node->current].connection.link) == RL_LINK_OPEN);
    rl_link_close(slot->connection.link);
    rl_node_report_lost(slot, now_ns);
    node->current = 1 - node->current;
    node->draining = false;
    node->why[0] = '\0';
    rl_node_set_mode(node, RL_UP, now_ns);
    node->ask_info_ns = now_ns;
    node->settings->events->changed(node->settings->owner, node, now_ns);
}

static void tick_draining(struct rl_node *node, int64_t now_ns)
{
    const struct rl_connection *connection = &node->slot[1 - node->current].connection;
    assert(node->draining);
    if (connection->fifo_count == 0 && node->mode != RL_UP)
        undrain(node, now_ns);
    else if (connection->fifo_count == 0 || now_ns >= node->drain_until_ns)
        rl_node_disconnect(node, 1 - node->current, now_ns, "drained");
}

void rl_node_hasten(struct rl_node *node, int64_t now_ns)
{
    if (node->mode == RL_DOWN && node->retry.failures == 0)
        rl_retry_hasten(&node->retry, now_ns);
}

bool rl_node_refuses_for_good(const struct rl_node *node)
{
    return node->mode == RL_UP ? node->fitness == RL_UNFIT && rl_refusal_lasts(node->why)
                               : node->retry.refused && node->retry.failures > 0;
}

void rl_node_need(struct rl_node *node, int64_t now_ns)
{
    int64_t soonest_ns = node->judged_ns + RL_REFUSED_NEEDED_MS * RL_NS_PER_MS;
    bool refuses = rl_node_refuses_for_good(node);
    if (node->mode == RL_DOWN && refuses)
        rl_retry_hasten(&node->retry, now_ns);
    else if (node->mode == RL_UP && (refuses || rl_node_lacks_address(node)) &&
             node->ask_info_ns < INT64_MAX) /* else it is being asked */
        node->ask_info_ns = rl_earlier_ns(node->ask_info_ns, rl_later_ns(soonest_ns, now_ns));
}

void rl_node_absent(struct rl_node *node, int64_t absent_ns)
{
    assert(absent_ns > 0);
    if (node->tried_ns > 0)
        node->tried_ns += absent_ns;
    if (node->mode == RL_DOWN || node->mode == RL_UP)
        return;
    node->deadline_ns += absent_ns;
    rl_link_absent(rl_node_connection(node)->link, absent_ns);
}

void rl_node_tick(struct rl_node *node, int64_t now_ns)
{
    if (node->draining)
        tick_draining(node, now_ns);
    switch (node->mode) {
    case RL_DOWN:
        break;
    case RL_CONNECTING:
        rl_node_step(&node->slot[node->current], 0, now_ns);
        if (node->mode != RL_CONNECTING || now_ns < node->deadline_ns)
            break;
        /* fall through */
    case RL_AUTH:
    case RL_GREETING:
        if (now_ns >= node->deadline_ns)
            rl_node_disconnect(node, node->current, now_ns, "%s",
                               rl_session_silence(node->mode != RL_CONNECTING));
        break;
    case RL_UP:
        if (now_ns >= node->ask_info_ns && rl_node_may_be_two(node, now_ns)) {
            rl_node_meet_again(node, now_ns);
            break;
        }
        if (now_ns >= node->ask_info_ns) {
            /* A node that votes goes on voting: the reply to INFO comes before those to later
             * requests. */
            node->asked_late = node->fitness != RL_FIT &&
                               rl_driven_before(node->settings->driven, node->ask_info_ns);
            rl_node_ask_info(node, now_ns);
        }
        /* Replies may lie unread in the socket: read before judging the silence. */
        if (now_ns >= drain_ns(node))
            rl_node_step(&node->slot[node->current], EPOLLIN, now_ns);
        if (now_ns >= drain_ns(node))
            drain(node, now_ns);
        break;
    }
    if (node->mode == RL_DOWN && now_ns >= node->retry.at_ns &&
        !rl_node_lacks_word(node, now_ns))
        connect_now(node, now_ns);
    rl_node_look(node, now_ns);
}

/* R9, R17: Holders that ask for nothing must be told that a marker is lost. For so long others
 * must see their node list, too. */
static bool checks_by_itself(const struct rl_node *node)
{
    const struct rl_node_settings *settings = node->settings;
    return (rl_guard_marks(settings->guard) || rl_lists_wanted(&settings->lists)) &&
           settings->watched;
}

int64_t rl_node_due_ns(struct rl_node *node)
{
    int64_t due = node->draining ? node->drain_until_ns : INT64_MAX;
    due = rl_earlier_ns(due, rl_presence_due_ns(&node->presence));
    switch (node->mode) {
    case RL_DOWN:
        return node->named && node->named->lacks ? due
                                                 : rl_earlier_ns(due, node->retry.at_ns);
    case RL_CONNECTING:
        due = rl_earlier_ns(due, rl_link_due_ns(rl_node_connection(node)->link));
        return rl_earlier_ns(due, node->deadline_ns);
    case RL_AUTH:
    case RL_GREETING:
        return rl_earlier_ns(due, node->deadline_ns);
    case RL_UP: /* a voting node gets INFO along with other requests */
        due = rl_earlier_ns(due, drain_ns(node));
        if (node->fitness == RL_FIT && !node->unsettled && !checks_by_itself(node))
            return due;
        return rl_earlier_ns(due, node->ask_info_ns);
    }
    return due;
}

int64_t rl_node_uptime_s(const struct rl_node *node, int64_t now_ns)
{
    if (node->info.uptime_s < 0 || now_ns < node->info_ns)
        return node->info.uptime_s;
    return node->info.uptime_s + (now_ns - node->info_ns) / RL_NS_PER_S;
}

size_t rl_node_mask(struct rl_node *node, char *bytes, size_t len)
{
    return rl_mask_data(&rl_node_connection(node)->mask, bytes, len);
}

bool rl_node_has_oneway_pending(struct rl_node *node)
{
    struct rl_connection *connection = rl_node_connection(node);
    for (unsigned i = 0; i < connection->fifo_count; i++) {
        if (rl_connection_inflight(connection, i)->type == RL_REQUEST_ONEWAY)
            return true;
    }
    return false;
}
