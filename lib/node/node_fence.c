/* node_fence.c - see node_fence.h. */
#include "config_auto.h"

#include "node/node.h"

#include "base/prng.h"
#include "kinds/fencing.h"
#include "net/session.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define REQUEST_MAX 4096

_Static_assert(RL_CERTIFICATE_ROOM > RL_CERTIFICATE_MAX, "an id and its NUL");

bool rl_node_ask_fence(struct rl_node *node, const char *what, const char *loss,
                       uint64_t number, int64_t now_ns)
{
    char bytes[REQUEST_MAX];
    struct rl_out out;
    struct rl_inflight inflight = {.type = RL_REQUEST_FENCE,
                                   .sent_ns = now_ns,
                                   .deadline_ns =
                                       now_ns + node->settings->connect_timeout_ns};
    assert(node->settings->fencing_strict);
    assert(node->mode == RL_GREETING || node->mode == RL_UP);
    rl_nonce_text(rl_prng_next(node->settings->prng), inflight.nonce);
    rl_out_init(&out, bytes, sizeof(bytes));
    rl_put_array(&out, 8);
    rl_put_text(&out, "EVAL");
    rl_put_text(&out, rl_fence_join);
    rl_put_text(&out, "1");
    rl_put_text(&out, RL_FENCING_KEY);
    rl_put_bulk(&out, inflight.nonce, sizeof(inflight.nonce));
    rl_put_text(&out, what);
    rl_put_text(&out, loss);
    rl_put_number(&out, (int64_t)number);
    assert(!out.overflow);
    if (!rl_connection_room(rl_node_connection(node), out.len, true))
        return false;
    rl_node_put(node, out.bytes, out.len, &inflight);
    node->fence.asked = true;
    return true;
}

void rl_node_fence_again(struct rl_node *node, const char *what, const char *loss,
                         uint64_t number, int64_t now_ns)
{
    if (node->mode == RL_UP && rl_link_state(rl_node_connection(node)->link) == RL_LINK_OPEN)
        rl_node_ask_fence(node, what, loss, number, now_ns);
}

/* Copy a word or an id, which fits. */
static bool copy(const struct rl_reply *reply, unsigned part, char *ret_text, size_t size)
{
    const struct rl_element *element = &reply->part[part];
    if (element->type != RL_REPLY_BULK || element->len >= size)
        return false;
    memcpy(ret_text, reply->text + element->start, element->len);
    ret_text[element->len] = '\0';
    return true;
}

/* The reply of fence_join.lua: nonce, word, id, greatest token. */
static bool read_certificate(const struct rl_inflight *inflight, const struct rl_reply *reply,
                             struct rl_certificate *ret_certificate)
{
    *ret_certificate = (struct rl_certificate){.number = 0};
    if (reply->type != RL_REPLY_ARRAY || reply->count != 4 ||
        !rl_part_is(reply, 0, inflight->nonce, RL_NONCE_LEN) ||
        !copy(reply, 1, ret_certificate->word, sizeof(ret_certificate->word)) ||
        !copy(reply, 2, ret_certificate->id, sizeof(ret_certificate->id)) ||
        reply->part[3].type != RL_REPLY_INTEGER || reply->part[3].integer < 0 ||
        (uint64_t)reply->part[3].integer >= RL_FENCE_MAX)
        return false;
    size_t len = strlen(ret_certificate->id);
    ret_certificate->greatest = (uint64_t)reply->part[3].integer;
    return len == 0 ? !rl_is_certified(ret_certificate)
                    : strspn(ret_certificate->id, "0123456789abcdef") == len &&
                          len == (rl_is_certified(ret_certificate) ? RL_CERTIFICATE_MAX
                                                                   : RL_LOSS_LEN);
}

void rl_node_take_fence(struct rl_node *node, const struct rl_inflight *inflight,
                        const struct rl_reply *reply, const char *error, int64_t now_ns)
{
    const struct rl_node_settings *settings = node->settings;
    struct rl_certificate told = {.number = 0};
    assert(node->mode == RL_GREETING || node->mode == RL_UP);
    node->fence.asked = false;
    node->fence.why[0] = '\0';
    if (reply->type == RL_REPLY_ERROR) {
        snprintf(node->fence.why, sizeof(node->fence.why),
                 "its certificate for fencing tokens can't be read (%.120s)", error);
    } else if (!read_certificate(inflight, reply, &told)) {
        rl_node_disconnect(node, node->current, now_ns,
                           "answered something that was not asked for");
        return;
    }
    settings->events->certified(settings->owner, node, &told, now_ns);
}

const char *rl_node_fence_why(const struct rl_node *node)
{
    return node->fence.why[0] ? node->fence.why : rl_uncertified_why(&node->fence.certificate);
}
