/* node_hear.c - a node hears what its Sentinels say: see node_named.h. */
#include "config_auto.h"

#include "node/node.h"

#include <assert.h>
#include <inttypes.h>

/* R22: Another server, or the same in another term: a new connection, which looks at its marker. */
static void move(struct rl_node *node, const struct rl_master_at *at, int64_t now_ns)
{
    struct rl_named *named = node->named;
    static const char moved[] = "its Sentinels name %s:%d in term %" PRIu64;
    if (node->draining)
        rl_node_disconnect(node, 1 - node->current, now_ns, moved, at->host, at->port, at->term);
    if (node->mode != RL_DOWN)
        rl_node_disconnect(node, node->current, now_ns, moved, at->host, at->port, at->term);
    assert(node->mode == RL_DOWN && !node->draining);
    named->at = *at;
    named->config.host = named->at.host;
    named->config.port = at->port;
    named->moves++;
    rl_node_set_term(node, at->term);
    rl_retry_anew(&node->retry, now_ns);
}

/* Nobody is awaited who could name it: it has no vote, for what they say. */
static void tell_unnamed(struct rl_node *node, bool was_hopeful, int64_t now_ns)
{
    if (node->mode == RL_UP && node->fitness == RL_FIT)
        rl_node_unnamed(node, rl_node_word(node), now_ns);
    if (was_hopeful) /* calls wait for one less */
        node->settings->events->changed(node->settings->owner, node, now_ns);
}

void rl_node_hear(struct rl_node *node, bool vouched, bool hopeful, int64_t now_ns)
{
    struct rl_named *named = node->named;
    struct rl_master_at at;
    assert(named && now_ns > 0);
    bool was_hopeful = named->hopeful;
    named->hopeful = hopeful;
    named->told_ns = now_ns;
    if (!rl_node_named(node, now_ns, &at)) {
        if (!hopeful)
            tell_unnamed(node, was_hopeful, now_ns);
        return;
    }
    if (!rl_master_same(&at, &named->at))
        move(node, &at, now_ns);
    bool lacked = named->lacks;
    named->lacks = false;
    if (lacked && (node->mode == RL_GREETING || node->mode == RL_UP)) {
        rl_node_ask_info(node, now_ns);
        rl_node_flush(node, now_ns);
    } else if (lacked) {
        rl_node_tick(node, now_ns);
    }
    if (!vouched && rl_node_vouched(node, now_ns))
        node->settings->events->changed(node->settings->owner, node, now_ns);
}
