/* node_named.c - what Sentinels' word is for a node: see node_named.h. */
#include "config_auto.h"

#include "node/node.h"

#include "base/clock.h"

#include <assert.h>
#include <string.h>

bool rl_node_named(const struct rl_node *node, int64_t now_ns, struct rl_master_at *ret_at)
{
    return rl_witnesses_name(&node->named->witnesses, now_ns - RL_WITNESS_D_NS,
                             rl_clock_epoch(node->settings->clock), ret_at);
}

/* R22: The word for one server and term counts for no other. This connection looked at that one. */
bool rl_node_vouched(const struct rl_node *node, int64_t t0_ns)
{
    const struct rl_named *named = node->named;
    if (!named)
        return true;
    struct rl_master_at at = named->at;
    _Static_assert(sizeof(at.run_id) == sizeof(node->info.run_id), "run_id");
    memcpy(at.run_id, node->info.run_id, sizeof(at.run_id));
    assert(node->mode != RL_UP || at.port > 0);
    return node->mode == RL_UP &&
           rl_witnesses_vouch(&named->witnesses, &at, t0_ns - RL_WITNESS_D_NS,
                              rl_clock_epoch(node->settings->clock));
}

/* R22: Nothing that writes is sent to a server before a majority has named it. */
bool rl_node_lacks_word(struct rl_node *node, int64_t now_ns)
{
    struct rl_master_at at;
    struct rl_named *named = node->named;
    if (!named)
        return false;
    named->lacks = !rl_node_named(node, now_ns, &at) || !rl_master_same(&at, &named->at);
    return named->lacks;
}

bool rl_node_awaits_word(const struct rl_node *node, int64_t now_ns)
{
    const struct rl_named *named = node->named;
    return named && (node->mode != RL_UP || named->lacks || rl_node_is_fit(node)) &&
           (named->hopeful || now_ns - named->told_ns > RL_WITNESS_D_NS) &&
           !rl_node_vouched(node, now_ns);
}

const char *rl_node_word(struct rl_node *node)
{
    struct rl_named *named = node->named;
    rl_witnesses_tell(&named->witnesses, named->why, sizeof(named->why));
    return named->why[0] ? named->why : "its Sentinels are asked anew";
}
