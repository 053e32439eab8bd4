/* node_lists.c - see node_lists.h. */
#include "config_auto.h"

#include "node/node.h"

#include "base/prng.h"
#include "kinds/lists.h"
#include "net/session.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define REQUEST_MAX 4096

/* R17: A client shows its list whenever it asks for others. */
bool rl_node_ask_lists(struct rl_node *node, int64_t now_ns, int64_t deadline_ns)
{
    char bytes[REQUEST_MAX], mark[RL_LIST_MARK_MAX + 1];
    char nonce[RL_NONCE_LEN];
    struct rl_out out;
    assert(rl_lists_wanted(&node->settings->lists));
    rl_nonce_text(rl_prng_next(node->settings->prng), nonce);
    rl_list_mark_write(&node->settings->lists.own, mark);
    rl_out_init(&out, bytes, sizeof(bytes));
    rl_put_array(&out, 7);
    rl_put_text(&out, "EVAL");
    rl_put_text(&out, rl_lists_join);
    rl_put_text(&out, "1");
    rl_put_text(&out, node->keys->lists);
    rl_put_bulk(&out, nonce, sizeof(nonce));
    rl_put_text(&out, mark);
    rl_put_number(&out, RL_LISTS_MARGIN_MS);
    return rl_node_ask_own(node, RL_REQUEST_LISTS, nonce, &out, now_ns, deadline_ns);
}

/* Tell one mark of another list to the owner, and keep the first one for people. False: it is
 * no mark. */
static bool take_mark(struct rl_node *node, const char *text, size_t len, bool first,
                      int64_t more)
{
    const struct rl_node_settings *settings = node->settings;
    struct rl_list_mark mark;
    char difference[RL_LIST_DIFFERENCE_MAX], others[32] = "";
    if (!rl_list_mark_read(text, len, &mark))
        return false;
    settings->events->disagrees(settings->owner, node, &mark);
    if (!first)
        return true;
    rl_list_mark_compare(&mark, &settings->lists.own, difference);
    if (more > 0)
        snprintf(others, sizeof(others), ", and %" PRId64 " more", more);
    snprintf(node->lists.why, sizeof(node->lists.why),
             "another list of nodes is in use here: %.*s (%s)%s", (int)len, text, difference,
             others);
    return true;
}

/* Read the reply of lists_join.lua: nonce, how many others, the first ones of them. */
static bool read_lists(struct rl_node *node, const struct rl_inflight *inflight,
                       const struct rl_reply *reply)
{
    if (reply->type != RL_REPLY_ARRAY || reply->count != 3 ||
        !rl_part_is(reply, 0, inflight->nonce, RL_NONCE_LEN) ||
        reply->part[1].type != RL_REPLY_INTEGER || reply->part[1].integer < 0 ||
        reply->part[2].type != RL_REPLY_BULK || reply->part[2].kept != reply->part[2].len)
        return false;
    int64_t others = reply->part[1].integer;
    const char *at = reply->text + reply->part[2].start, *end = at + reply->part[2].len;
    if ((others == 0) != (at == end))
        return false;
    node->lists.say = others > 0 ? RL_LISTS_OTHERS : RL_LISTS_ALIKE;
    for (bool first = true; at < end; first = false) {
        const char *blank = memchr(at, ' ', (size_t)(end - at));
        size_t len = (size_t)((blank ? blank : end) - at);
        if (!take_mark(node, at, len, first, others - 1))
            return false;
        at += blank ? len + 1 : len;
    }
    return true;
}

void rl_node_take_lists(struct rl_node *node, const struct rl_inflight *inflight,
                        const struct rl_reply *reply, const char *error, int64_t now_ns)
{
    assert(node->mode == RL_GREETING || node->mode == RL_UP);
    if (reply->type == RL_REPLY_ERROR) {
        node->lists.say = RL_LISTS_UNTOLD;
        snprintf(node->lists.why, sizeof(node->lists.why),
                 "its clients' lists of nodes can't be compared (%.120s)", error);
    } else if (!read_lists(node, inflight, reply)) {
        rl_node_disconnect(node, node->current, now_ns,
                           "answered something that was not asked for");
    }
}

/* R17: No vote where another list, or none, was told. */
const char *rl_node_lists_refusal(const struct rl_node *node)
{
    if (node->lists.say == RL_LISTS_ALIKE ||
        node->settings->lists.agreement != REDLOCK_AGREEMENT_REFUSE)
        return NULL;
    return node->lists.why;
}

/* R17: With `warn` another list is told, and costs no vote. */
const char *rl_node_lists_warning(const struct rl_node *node)
{
    return node->lists.say == RL_LISTS_ALIKE ? NULL : node->lists.why;
}
