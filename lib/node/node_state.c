/* node_state.c - what node.c, the handshake and the replies share: change the mode, disconnect,
 * queue and send. See node.h. */
#include "config_auto.h"

#include "node/node_met.h"

#include "base/text_escape.h"
#include "core/refusal.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void rl_node_forget_duplicates(struct rl_node *node)
{
    node->apart = node->same = 0;
    node->unteachable = false;
}

/* The modes from which one may follow. After undrain() the old link is UP at once. */
static void assert_may_follow(const struct rl_node *node, enum rl_mode mode)
{
    enum rl_link_state state = rl_link_state(node->slot[node->current].connection.link);
    switch (mode) {
    case RL_DOWN:
        assert(state != RL_LINK_OPEN);
        break;
    case RL_CONNECTING:
        assert(node->mode == RL_DOWN);
        break;
    case RL_AUTH:
        assert(node->mode == RL_CONNECTING);
        assert(state == RL_LINK_OPEN);
        break;
    case RL_GREETING:
        assert(node->mode == RL_CONNECTING || node->mode == RL_AUTH);
        assert(state == RL_LINK_OPEN);
        break;
    case RL_UP:
        assert(node->mode != RL_UP);
        assert(state == RL_LINK_OPEN);
        break;
    }
}

/* The one place that changes the mode. */
void rl_node_set_mode(struct rl_node *node, enum rl_mode mode, int64_t now_ns)
{
    assert_may_follow(node, mode);
    if (mode == RL_UP) {
        rl_node_forget_duplicates(node);
        node->tried_ns = 0;
    } else {
        node->fence.asked = false;
    }
    if (mode == RL_DOWN)
        rl_node_unmet(node);
    node->mode = mode;
    node->since_ns = now_ns;
    node->asked_late = false;
}

void rl_node_report_lost(struct rl_slot *slot, int64_t now_ns)
{
    struct rl_node *node = slot->node;
    assert(rl_link_state(slot->connection.link) != RL_LINK_OPEN);
    while (rl_connection_oldest(&slot->connection)) {
        struct rl_inflight inflight = *rl_connection_oldest(&slot->connection);
        rl_connection_drop_oldest(&slot->connection);
        if (inflight.type == RL_REQUEST_VERB)
            node->settings->events->lost(node->settings->owner, node, slot->index, &inflight,
                                         now_ns);
    }
}

void rl_node_disconnect(struct rl_node *node, unsigned index, int64_t now_ns,
                        const char *format, ...)
{
    struct rl_slot *slot = &node->slot[index];
    assert(index < RL_SLOTS);
    assert(index == node->current ? node->mode != RL_DOWN : node->draining);
    bool current = index == node->current;
    char cut[sizeof(node->why)], why[sizeof(node->why)];
    va_list args;
    va_start(args, format);
    vsnprintf(cut, sizeof(cut), format, args);
    va_end(args);
    rl_text_escape(why, sizeof(why), cut, strlen(cut));

    if (current)
        node->cut =
            node->mode == RL_UP && rl_link_state(slot->connection.link) == RL_LINK_FAILED;
    /* Abort, so that no acquire in the socket can overtake its release, which goes by another
     * link. */
    rl_link_abort(slot->connection.link);
    rl_connection_forget_login(&slot->connection);
    if (current) {
        memcpy(node->why, why, sizeof(why));
        if (node->mode != RL_UP && rl_refusal_lasts(why)) /* however late that is read */
            rl_retry_refused(&node->retry, node->settings->prng, now_ns);
        else if (node->goes_on && node->mode != RL_UP)
            rl_retry_anew(&node->retry, now_ns);
        else
            rl_driven_plan_retry(node->settings->driven, &node->retry, node->settings->prng,
                                 node->mode == RL_UP ? node->since_ns : 0, now_ns);
        bool news = node->retry.flaws <= 1 && !node->goes_on;
        rl_node_set_mode(node, RL_DOWN, now_ns);
        node->ask_info_ns = INT64_MAX;
        rl_node_address_left(node);
        node->settings->events->log(node->settings->owner,
                                    news ? REDLOCK_LOG_INFO : REDLOCK_LOG_DEBUG, "%s: %s",
                                    node->config->label, why);
    } else {
        node->draining = false;
    }
    rl_node_report_lost(slot, now_ns);
    if (current) /* calls that wait for nodes wait for one less */
        node->settings->events->changed(node->settings->owner, node, now_ns);
}

/* ---- what is sent ----------------------------------------------------------------------- */

static bool takes(struct rl_node *node, unsigned slot, size_t len, bool may_grow)
{
    assert(slot < RL_SLOTS);
    assert(len > 0 && len <= rl_limits.out_max);
    if (slot == node->current ? node->mode != RL_UP : !node->draining)
        return false;
    return rl_link_state(node->slot[slot].connection.link) == RL_LINK_OPEN &&
           rl_connection_room(&node->slot[slot].connection, len, may_grow);
}

bool rl_node_takes(struct rl_node *node, size_t len, bool may_grow)
{
    return takes(node, node->current, len, may_grow);
}

bool rl_node_ask(struct rl_node *node, unsigned slot, const void *bytes, size_t len,
                 bool may_grow, const struct rl_inflight *inflight)
{
    if (!takes(node, slot, len, may_grow))
        return false;
    rl_connection_put(&node->slot[slot].connection, bytes, len, inflight);
    node->unflushed = true;
    return true;
}

void rl_node_put(struct rl_node *node, const void *bytes, size_t len,
                 const struct rl_inflight *inflight)
{
    struct rl_connection *connection = rl_node_connection(node);
    assert(rl_link_state(connection->link) == RL_LINK_OPEN);
    assert(node->mode == RL_AUTH || node->mode == RL_GREETING || node->mode == RL_UP);
    rl_connection_put(connection, bytes, len, inflight);
    node->unflushed = true;
}

/* A handshake always has room, because its buffer is empty. */
bool rl_node_ask_own(struct rl_node *node, enum rl_request_type type, const char *nonce,
                     const struct rl_out *out, int64_t now_ns, int64_t deadline_ns)
{
    struct rl_inflight inflight = {.type = type, .sent_ns = now_ns, .deadline_ns = deadline_ns};
    assert(!out->overflow);
    assert(node->mode == RL_GREETING || node->mode == RL_UP);
    if (!rl_connection_room(rl_node_connection(node), out->len, true))
        return false;
    if (nonce)
        memcpy(inflight.nonce, nonce, RL_NONCE_LEN);
    rl_node_put(node, out->bytes, out->len, &inflight);
    return true;
}

void rl_node_flush(struct rl_node *node, int64_t now_ns)
{
    node->unflushed = false;
    for (unsigned i = 0; i < RL_SLOTS; i++) {
        struct rl_connection *connection = &node->slot[i].connection;
        if (!rl_connection_unsent(connection) ||
            rl_link_state(connection->link) != RL_LINK_OPEN)
            continue;
        if (!rl_connection_flush(connection))
            rl_node_disconnect(node, i, now_ns, "%s", rl_link_text(connection->link));
    }
}

bool rl_node_unsent(const struct rl_node *node)
{
    return rl_connection_unsent(&node->slot[0].connection) ||
           rl_connection_unsent(&node->slot[1].connection);
}
