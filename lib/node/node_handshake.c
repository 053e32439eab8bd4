/* node_handshake.c - the requests on a new connection, and their replies. */
#include "config_auto.h"

#include "node/node_met.h"

#include "base/clock.h"
#include "net/session.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static void put(struct rl_node *node, enum rl_request_type type, const char *nonce,
                const void *bytes, size_t len, int64_t now_ns, int64_t deadline_ns)
{
    struct rl_inflight inflight = {.type = type, .sent_ns = now_ns, .deadline_ns = deadline_ns};
    if (nonce)
        memcpy(inflight.nonce, nonce, RL_NONCE_LEN);
    rl_node_put(node, bytes, len, &inflight);
}

/* Queue a request of others. False: the node is not UP, or there is no room. */
static bool pass(struct rl_node *node, enum rl_request_type type, const char *nonce,
                 const void *bytes, size_t len, int64_t now_ns)
{
    if (!rl_node_takes(node, len, true))
        return false;
    put(node, type, nonce, bytes, len, now_ns, now_ns + node->settings->connect_timeout_ns);
    return true;
}

static void say_hello(struct rl_node *node, int64_t now_ns)
{
    char bytes[512];
    struct rl_out out;
    assert(rl_node_connection(node)->fifo_count == 0); /* R12: AUTH was answered, and alone */
    rl_node_set_mode(node, RL_GREETING, now_ns);
    assert(node->deadline_ns > 0); /* connect_now() */
    if (node->config->db != 0) {
        rl_out_init(&out, bytes, sizeof(bytes));
        rl_put_array(&out, 2);
        rl_put_text(&out, "SELECT");
        rl_put_number(&out, node->config->db);
        rl_node_ask_own(node, RL_REQUEST_SELECT, NULL, &out, now_ns, node->deadline_ns);
    }
    rl_out_init(&out, bytes, sizeof(bytes));
    rl_login_put_name(&out, node->settings->connection_name);
    rl_node_ask_own(node, RL_REQUEST_SETNAME, NULL, &out, now_ns, node->deadline_ns);
    node->ask_info_ns = now_ns;
    rl_node_ask_info(node, now_ns);
    rl_node_flush(node, now_ns);
}

void rl_node_ask_info(struct rl_node *node, int64_t now_ns)
{
    static char info[] = "*1\r\n$4\r\nINFO\r\n";
    struct rl_out out = {.bytes = info, .size = sizeof(info) - 1, .len = sizeof(info) - 1};
    int64_t deadline_ns = now_ns + node->settings->connect_timeout_ns;
    if (rl_node_lacks_word(node, now_ns)) {
        node->ask_info_ns = INT64_MAX;
        return;
    }
    if (node->named)
        node->term.forgot =
            rl_witnesses_forgot(&node->named->witnesses, &node->term.look,
                                rl_clock_epoch(node->settings->clock));
    node->info_epoch = rl_clock_epoch(node->settings->clock);
    if (node->settings->fencing_strict && !rl_node_look_fence(node, now_ns)) {
        node->ask_info_ns = now_ns + RL_ASK_AGAIN_NS;
        return;
    }
    bool asked = !rl_lists_wanted(&node->settings->lists) ||
                 rl_node_ask_lists(node, now_ns, deadline_ns);
    asked = asked && rl_node_ask_own(node, RL_REQUEST_INFO, NULL, &out, now_ns, deadline_ns);
    if (asked && rl_guard_marks(node->settings->guard))
        asked = rl_node_ask_marker(node, now_ns);
    node->ask_info_ns = asked ? INT64_MAX : now_ns + RL_ASK_AGAIN_NS;
}

bool rl_node_ping(struct rl_node *node, int64_t now_ns, int64_t deadline_ns)
{
    static char ping[] = "*1\r\n$4\r\nPING\r\n";
    struct rl_out out = {.bytes = ping, .size = sizeof(ping) - 1, .len = sizeof(ping) - 1};
    if (rl_node_stalled(node, now_ns) || !rl_node_takes(node, out.len, false))
        return false;
    return rl_node_ask_own(node, RL_REQUEST_PING, NULL, &out, now_ns, deadline_ns);
}

bool rl_node_send_oneway(struct rl_node *node, const void *bytes, size_t len, int64_t now_ns)
{
    return pass(node, RL_REQUEST_ONEWAY, NULL, bytes, len, now_ns);
}

bool rl_node_prove(struct rl_node *node, enum rl_request_type what, const struct rl_out *out,
                   const char nonce[RL_NONCE_LEN], int64_t now_ns)
{
    assert(what == RL_REQUEST_TEACH || what == RL_REQUEST_RECALL);
    assert(!out->overflow);
    return pass(node, what, nonce, out->bytes, out->len, now_ns);
}

void rl_node_greet(struct rl_node *node, int64_t now_ns)
{
    char why[160];
    assert(node->mode == RL_CONNECTING);
    int queued =
        rl_session_login(rl_node_connection(node), now_ns, node->deadline_ns, why, sizeof(why));
    if (queued < 0) {
        rl_node_disconnect(node, node->current, now_ns, "%s", why);
    } else if (queued == 0) {
        say_hello(node, now_ns);
    } else {
        rl_node_set_mode(node, RL_AUTH, now_ns);
        rl_node_flush(node, now_ns);
    }
}

void rl_node_greeted(struct rl_node *node, const struct rl_inflight *inflight,
                     const struct rl_reply *reply, int64_t now_ns)
{
    char text[160];
    bool refused = reply->type == RL_REPLY_ERROR;
    assert(node->mode != RL_DOWN && node->mode != RL_CONNECTING);
    assert((inflight->type == RL_REQUEST_AUTH) == (node->mode == RL_AUTH));
    if (refused)
        rl_error_text(reply, &rl_node_connection(node)->mask, text, sizeof(text));
    else
        snprintf(text, sizeof(text), "answered with %s, neither OK nor an error",
                 rl_reply_kind(reply));
    switch (inflight->type) {
    case RL_REQUEST_AUTH:
        if (rl_login_accepted(reply))
            say_hello(node, now_ns);
        else
            rl_node_disconnect(node, node->current, now_ns, "authentication failed: %s",
                               text);
        break;
    case RL_REQUEST_SELECT:
        if (reply->type != RL_REPLY_STATUS)
            rl_node_disconnect(node, node->current, now_ns, "database %d: %s", node->config->db,
                               text);
        break;
    case RL_REQUEST_SETNAME: /* a name is a courtesy: a refusal does not matter */
        snprintf(rl_node_connection(node)->why, sizeof(text), "%s", refused ? text : "");
        break;
    case RL_REQUEST_INFO:
        if (reply->type == RL_REPLY_BULK) {
            rl_node_watch_clock(node, inflight->sent_ns, now_ns);
            rl_node_met(node, node->met, inflight->sent_ns, now_ns);
        } else {
            rl_node_unmet(node);
        }
        if (rl_node_met_at_address(node) && node->mode != RL_UP &&
            !rl_node_doubtful(node, now_ns))
            rl_node_ask_next_address(node, now_ns);
        else
            rl_node_take_info(node, reply, text, now_ns);
        break;
    case RL_REQUEST_JOIN:
        rl_node_take_marker(node, inflight, reply, text, now_ns);
        break;
    case RL_REQUEST_LISTS:
        rl_node_take_lists(node, inflight, reply, text, now_ns);
        break;
    case RL_REQUEST_FENCE:
        rl_node_take_fence(node, inflight, reply, text, now_ns);
        break;
    case RL_REQUEST_PING:
        node->settings->events->pinged(node->settings->owner, node, now_ns - inflight->sent_ns);
        break;
    case RL_REQUEST_TEACH:
    case RL_REQUEST_RECALL:
        node->settings->events->proved(node->settings->owner, node, inflight, reply, now_ns);
        break;
    case RL_REQUEST_ONEWAY: /* any reply will do */
        break;
    case RL_REQUEST_SUBSCRIBE: /* sent by subscribers only (subscriber.h) */
    case RL_REQUEST_UNSUBSCRIBE:
    case RL_REQUEST_MYID: /* by Sentinels' connections only */
    case RL_REQUEST_MASTER:
    case RL_REQUEST_ADDRESS:
    case RL_REQUEST_VERB: /* a lease's: node_replies.c */
        assert(false);
    }
}
