/* node_presence.c - since when a node does not vote, and why: kept for those who ask why a lock
 * was lost, and told in the log (presence.h). */
#include "config_auto.h"

#include "base/duration.h"
#include "base/times.h"
#include "node/node.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static void tell(const struct rl_node *node, bool gone, int64_t for_ns)
{
    char time[RL_DURATION_TEXT_MAX];
    const struct rl_node_settings *settings = node->settings;
    assert(for_ns >= 0);
    rl_duration_about(for_ns / RL_NS_PER_MS, time);
    if (gone)
        settings->events->log(settings->owner, REDLOCK_LOG_WARNING,
                              "%s: has not voted for %s: %s", node->config->label, time,
                              node->away_why);
    else
        settings->events->log(settings->owner, REDLOCK_LOG_WARNING,
                              "%s: votes again, after %s (%s)", node->config->label, time,
                              node->away_why);
}

/* Why it does not vote; NULL: it votes. A server that refuses every request to take or extend a
 * lock does not vote either, though it is asked. */
static const char *away(struct rl_node *node, int64_t now_ns, int64_t *ret_since_ns)
{
    enum rl_standing standing = rl_node_standing(node, now_ns);
    *ret_since_ns = now_ns;
    if (standing == RL_STANDING_UNNAMED) /* their word is asked for when a vote is wanted */
        return NULL;
    if (standing == RL_STANDING_STALLED)
        *ret_since_ns = rl_connection_oldest(rl_node_connection(node))->sent_ns;
    if (standing <= RL_STANDING_STALLED)
        return rl_node_why(node, now_ns);
    if (node->refuses_since_ns > 0) {
        *ret_since_ns = rl_earlier_ns(node->refuses_since_ns, now_ns);
        return node->refusal;
    }
    return NULL;
}

/* Each turn of the loop looks at each node, and mostly it votes as before. */
static bool votes_as_before(struct rl_node *node, int64_t now_ns)
{
    return node->mode == RL_UP && !node->presence.away && !node->presence.told_away &&
           node->refuses_since_ns == 0 && rl_node_is_fit(node) &&
           !rl_node_stalled(node, now_ns);
}

void rl_node_look(struct rl_node *node, int64_t now_ns)
{
    struct rl_presence *presence = &node->presence;
    int64_t since_ns;
    if (votes_as_before(node, now_ns))
        return;
    const char *why = away(node, now_ns, &since_ns);
    if (!why)
        rl_presence_votes(presence, now_ns);
    else
        rl_presence_away(presence, since_ns, now_ns);
    if (why && strcmp(why, node->away_why) != 0)
        snprintf(node->away_why, sizeof(node->away_why), "%s", why);
    switch (rl_presence_tell(presence, now_ns)) {
    case RL_PRESENCE_NONE:
        break;
    case RL_PRESENCE_GONE:
        tell(node, true, now_ns - presence->since_ns);
        break;
    case RL_PRESENCE_BACK:
        tell(node, false, presence->back_ns - presence->since_ns);
        break;
    }
}
