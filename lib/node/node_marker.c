/* node_marker.c - a master's marker, as it is asked for and read. With `durable on` it also
 * asks whether the master writes all that it answers to its disk first. A client asks for that
 * at each look at the marker, and leaves a stamp there or withdraws it. The stamp tells a
 * master that was restarted from one that may have lost keys (marker_join.lua). */
#include "config_auto.h"

#include "node/node.h"

#include "base/prng.h"
#include "base/times.h"
#include "kinds/marker.h"

#include <assert.h>
#include <string.h>

#define REQUEST_MAX 4096

static bool ask(struct rl_node *node, enum rl_request_type type, const char *nonce,
                const struct rl_out *out, int64_t now_ns)
{
    struct rl_inflight inflight = {
        .type = type,
        .sent_ns = now_ns,
        .deadline_ns = now_ns + node->settings->connect_timeout_ns,
    };
    assert(!out->overflow);
    if (!rl_connection_room(rl_node_connection(node), out->len, true))
        return false;
    if (nonce)
        memcpy(inflight.nonce, nonce, RL_NONCE_LEN);
    rl_node_put(node, out->bytes, out->len, &inflight);
    return true;
}

bool rl_node_ask_marker(struct rl_node *node, int64_t now_ns)
{
    char bytes[REQUEST_MAX], nonce[RL_NONCE_LEN];
    struct rl_out out;
    bool durable = node->settings->durable;
    rl_nonce_text(rl_prng_next(node->settings->prng), nonce);
    rl_out_init(&out, bytes, sizeof(bytes));
    rl_put_array(&out, 8u + durable);
    rl_put_text(&out, "EVAL");
    rl_put_text(&out, rl_marker_join);
    rl_put_text(&out, durable ? "3" : "2");
    rl_put_text(&out, RL_MARKER_KEY);
    rl_put_text(&out, RL_QUARANTINE_KEY);
    if (durable)
        rl_put_text(&out, RL_DURABLE_KEY);
    rl_put_bulk(&out, nonce, sizeof(nonce));
    rl_put_number(&out, node->config->db);
    rl_put_number(&out, (node->settings->guard_window_ns + RL_NS_PER_MS - 1) / RL_NS_PER_MS);
    return ask(node, RL_REQUEST_JOIN, nonce, &out, now_ns);
}

/* The reply of marker_join.lua: nonce, run id, reason, remaining ms, the marker. */
bool rl_node_read_marker(struct rl_node *node, const struct rl_inflight *inflight,
                         const struct rl_reply *reply, struct rl_marker_reading *ret_reading)
{
    *ret_reading = (struct rl_marker_reading){.left_ms = 0};
    if (reply->type != RL_REPLY_ARRAY || reply->count != 5 ||
        !rl_part_is(reply, 0, inflight->nonce, RL_NONCE_LEN) ||
        reply->part[1].type != RL_REPLY_BULK || reply->part[2].type != RL_REPLY_BULK ||
        reply->part[3].type != RL_REPLY_INTEGER || reply->part[3].integer < -1 ||
        reply->part[4].type != RL_REPLY_BULK)
        return false;
    const struct rl_element *run_id = &reply->part[1], *why = &reply->part[2];
    const struct rl_element *text = &reply->part[4];
    if (run_id->len >= sizeof(ret_reading->run_id) || why->len >= sizeof(ret_reading->why) ||
        text->len >= sizeof(ret_reading->text))
        return false;
    memcpy(ret_reading->run_id, reply->text + run_id->start, run_id->len);
    memcpy(ret_reading->why, reply->text + why->start, why->len);
    memcpy(ret_reading->text, reply->text + text->start, text->len);
    rl_mask_field(&rl_node_connection(node)->mask, ret_reading->run_id); /* as INFO's is */
    ret_reading->left_ms = reply->part[3].integer;
    return true;
}

/* ---- durable ----------------------------------------------------------------------------- */

void rl_node_ask_fsync(struct rl_node *node, int64_t now_ns)
{
    char bytes[128];
    struct rl_out out;
    rl_out_init(&out, bytes, sizeof(bytes));
    rl_put_array(&out, 3);
    rl_put_text(&out, "CONFIG");
    rl_put_text(&out, "GET");
    rl_put_text(&out, "*appendfsync*");
    node->fsync_wrong = "denied"; /* until it is told */
    ask(node, RL_REQUEST_FSYNC, NULL, &out, now_ns);
}

/* The value of a setting in a reply of names and values. */
static bool says(const struct rl_reply *reply, const char *name, const char *value)
{
    for (unsigned i = 0; i + 1 < reply->count; i += 2) {
        if (rl_part_is(reply, i, name, strlen(name)))
            return rl_part_is(reply, i + 1, value, strlen(value));
    }
    return false;
}

void rl_node_take_fsync(struct rl_node *node, const struct rl_reply *reply)
{
    assert(node->settings->durable);
    node->fsync_wrong = "";
    if (reply->type != RL_REPLY_ARRAY || reply->count == 0)
        node->fsync_wrong = "denied";
    else if (!says(reply, "appendfsync", "always"))
        node->fsync_wrong = "fsync";
    else if (!says(reply, "no-appendfsync-on-rewrite", "no"))
        node->fsync_wrong = "unsynced";
}

bool rl_node_ask_stamp(struct rl_node *node, int64_t now_ns)
{
    char bytes[REQUEST_MAX], nonce[RL_NONCE_LEN];
    struct rl_out out;
    assert(node->fsync_wrong); /* it was asked before the marker */
    if (node->mode != RL_UP)
        return false;
    rl_nonce_text(rl_prng_next(node->settings->prng), nonce);
    rl_out_init(&out, bytes, sizeof(bytes));
    rl_put_array(&out, 8);
    rl_put_text(&out, "EVAL");
    rl_put_text(&out, rl_marker_stamp);
    rl_put_text(&out, "2");
    rl_put_text(&out, RL_MARKER_KEY);
    rl_put_text(&out, RL_DURABLE_KEY);
    rl_put_bulk(&out, nonce, sizeof(nonce));
    rl_put_text(&out, node->info.run_id);
    rl_put_text(&out, node->fsync_wrong);
    return ask(node, RL_REQUEST_STAMP, nonce, &out, now_ns);
}

static const char *text_of(const struct rl_reply *reply)
{
    static const struct {
        const char *word, *text;
    } table[] = {
        {"", NULL},
        {"another", "not durable: another server has answered, or the marker is another's"},
        {"denied", "not durable: CONFIG GET was refused (a right to +config|get is needed)"},
        {"failed", "not durable: its append-only file could not be written"},
        {"fsync", "not durable: appendfsync is not always"},
        {"off", "not durable: appendonly is not yes"},
        {"rewriting", "not durable now: its append-only file is being rewritten"},
        {"unsynced", "not durable: no-appendfsync-on-rewrite is not no"},
    };
    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (rl_part_is(reply, 1, table[i].word, strlen(table[i].word)))
            return table[i].text;
    }
    return "not durable: its answer is not known";
}

void rl_node_take_stamp(struct rl_node *node, const struct rl_inflight *inflight,
                        const struct rl_reply *reply, int64_t now_ns)
{
    const char *before = node->durable_why;
    if (reply->type == RL_REPLY_ERROR)
        node->durable_why = "not durable: " RL_DURABLE_KEY " can't be written";
    else if (reply->type == RL_REPLY_ARRAY && reply->count == 2 &&
             rl_part_is(reply, 0, inflight->nonce, RL_NONCE_LEN))
        node->durable_why = text_of(reply);
    else
        rl_node_disconnect(node, node->current, now_ns,
                           "answered something that was not asked for");
    /* A stamp that is there can't be withdrawn where nothing can be written. */
    const char *then = reply->type == RL_REPLY_ERROR
                           ? "a stamp there may stay: set this right, or empty its directory"
                           : "after a restart it will wait for max-ttl";
    if (node->durable_why && node->durable_why != before)
        node->settings->events->log(node->settings->owner, REDLOCK_LOG_WARNING, "%s: %s: %s",
                                    node->config->label, node->durable_why, then);
}
