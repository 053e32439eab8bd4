/* node_fence.c - see node_fence.h. */
#include "config_auto.h"

#include "node/node.h"

#include "base/prng.h"
#include "net/fence_certificate.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define REQUEST_MAX 4096

bool rl_node_ask_fence(struct rl_node *node, const char *what, const char *loss,
                       uint64_t number, int64_t now_ns)
{
    char bytes[REQUEST_MAX], nonce[RL_NONCE_LEN];
    struct rl_out out;
    assert(node->settings->fencing_strict);
    rl_nonce_text(rl_prng_next(node->settings->prng), nonce);
    rl_out_init(&out, bytes, sizeof(bytes));
    rl_certificate_request(&out, node->keys->fencing, nonce, what, loss, number);
    if (!rl_node_ask_own(node, RL_REQUEST_FENCE, nonce, &out, now_ns,
                         now_ns + node->settings->connect_timeout_ns))
        return false;
    node->fence.asked = true;
    node->fence.looks = strcmp(what, "look") == 0;
    return true;
}

/* R11: Who only looks gives no loss an id. */
bool rl_node_look_fence(struct rl_node *node, int64_t now_ns)
{
    return rl_node_ask_fence(node, node->settings->wanted ? "lose" : "look", "", 0, now_ns);
}

void rl_node_fence_again(struct rl_node *node, const char *what, const char *loss,
                         uint64_t number, int64_t now_ns)
{
    if (node->mode == RL_UP && rl_link_state(rl_node_connection(node)->link) == RL_LINK_OPEN)
        rl_node_ask_fence(node, what, loss, number, now_ns);
}

void rl_node_fence_wanted(struct rl_node *node, int64_t now_ns)
{
    if (node->settings->fencing_strict && node->fence.looks && !node->fence.asked &&
        !rl_is_certified(&node->fence.certificate))
        rl_node_fence_again(node, "lose", "", 0, now_ns);
}

void rl_node_take_fence(struct rl_node *node, const struct rl_inflight *inflight,
                        const struct rl_reply *reply, const char *error, int64_t now_ns)
{
    const struct rl_node_settings *settings = node->settings;
    struct rl_certificate told = {.change = 0};
    assert(node->mode == RL_GREETING || node->mode == RL_UP);
    node->fence.asked = false;
    node->fence.why[0] = '\0';
    if (reply->type == RL_REPLY_ERROR) {
        snprintf(node->fence.why, sizeof(node->fence.why),
                 "its certificate for fencing tokens can't be read (%.120s)", error);
    } else if (!rl_certificate_read(reply, inflight->nonce, &told)) {
        rl_node_disconnect(node, node->current, now_ns,
                           "answered something that was not asked for");
        return;
    }
    settings->events->certified(settings->owner, node, &told, now_ns);
    if (settings->wanted) /* since it was asked */
        rl_node_fence_wanted(node, now_ns);
}

const char *rl_node_fence_why(const struct rl_node *node)
{
    return node->fence.why[0] ? node->fence.why : rl_uncertified_why(&node->fence.certificate);
}
