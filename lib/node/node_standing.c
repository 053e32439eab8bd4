/* node_standing.c - may a node be asked for its vote now, and if not, why? The one place that
 * decides this. */
#include "config_auto.h"

#include "node/node.h"

#include "base/clock.h"
#include "kinds/marker.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#define LAG_ROUND_TRIPS 8
#define LAG_MIN_NS (20 * RL_NS_PER_MS)

static int64_t stall_ns(struct rl_node *node)
{
    const struct rl_inflight *oldest = rl_connection_oldest(rl_node_connection(node));
    return node->mode == RL_UP && oldest ? oldest->deadline_ns : INT64_MAX;
}

bool rl_node_stalled(struct rl_node *node, int64_t now_ns)
{
    return now_ns >= stall_ns(node);
}

int64_t rl_node_silent_ns(struct rl_node *node, int64_t now_ns)
{
    const struct rl_inflight *oldest = rl_connection_oldest(rl_node_connection(node));
    return oldest ? now_ns - oldest->sent_ns : 0;
}

/* Do many requests wait behind one that has waited for many round trips? Further requests would
 * not help, whatever the cause. */
static bool is_slow(struct rl_node *node, int64_t now_ns)
{
    struct rl_connection *connection = rl_node_connection(node);
    if (connection->fifo_count < rl_limits.slow_requests)
        return false;
    assert(node->round_trip_ns >= 0);
    int64_t patience = LAG_ROUND_TRIPS * node->round_trip_ns;
    if (patience < LAG_MIN_NS)
        patience = LAG_MIN_NS;
    return now_ns - rl_connection_oldest(connection)->sent_ns > patience;
}

static bool is_full(struct rl_node *node)
{
    return rl_node_connection(node)->fifo_count >= rl_limits.backlog ||
           rl_link_blocked(rl_node_connection(node)->link);
}

/* The standing by what is known of the server alone; READY: its vote counts. */
static enum rl_standing server_standing(const struct rl_node *node)
{
    if (node->duplicate_of >= 0)
        return RL_STANDING_DUPLICATE;
    switch (node->fitness) {
    case RL_FIT:
        break;
    case RL_GUARDED:
        return RL_STANDING_GUARDED;
    case RL_UNFIT:
        return RL_STANDING_UNFIT;
    }
    return RL_STANDING_READY;
}

/* A failure that is excused (driven.h) is no failure. But a whole connect-timeout is. */
static bool is_connecting(const struct rl_node *node, int64_t now_ns)
{
    return node->retry.failures == 0 &&
           (node->tried_ns == 0 ||
            now_ns - node->tried_ns < node->settings->connect_timeout_ns);
}

enum rl_standing rl_node_standing(struct rl_node *node, int64_t now_ns)
{
    if (node->mode != RL_UP)
        return is_connecting(node, now_ns) ? RL_STANDING_CONNECTING : RL_STANDING_DOWN;
    enum rl_standing standing = server_standing(node);
    if (standing != RL_STANDING_READY)
        return standing;
    if (!rl_node_vouched(node, now_ns))
        return RL_STANDING_UNNAMED;
    if (rl_node_stalled(node, now_ns))
        return RL_STANDING_STALLED;
    if (is_full(node))
        return RL_STANDING_SATURATED;
    return is_slow(node, now_ns) ? RL_STANDING_SLOW : RL_STANDING_READY;
}

bool rl_node_is_fit(const struct rl_node *node)
{
    return server_standing(node) == RL_STANDING_READY;
}

bool rl_node_pending(const struct rl_node *node)
{
    int64_t now_ns = node->named ? rl_clock_steady_ns(node->settings->clock) : 0;
    if (node->mode == RL_UP)
        return node->asked_late || node->proving || rl_node_awaits_word(node, now_ns);
    if (node->named && node->named->lacks)
        return rl_node_awaits_word(node, now_ns);
    return node->retry.failures == 0;
}

/* The time that is left is told anew each time. */
static const char *guarded_why(struct rl_node *node, int64_t now_ns)
{
    int64_t left_ns = node->guard_until_ns - now_ns;
    if (node->marker_says != RL_MARKER_QUARANTINED || left_ns <= 0)
        return node->why;
    if (node->guard_until_ns == INT64_MAX)
        snprintf(node->waits, sizeof(node->waits),
                 "quarantined until somebody deletes %s, because %s", node->keys->quarantine,
                 node->marker.why);
    else
        snprintf(node->waits, sizeof(node->waits),
                 node->marker.text[0]
                     ? "quarantined, votes in %" PRId64 " s, because %s"
                     : "votes %" PRId64 " s after the first client that wants a lock, because %s",
                 (left_ns + RL_NS_PER_S - 1) / RL_NS_PER_S, node->marker.why);
    return node->waits;
}

/* The warning about a node that votes, or "". */
static const char *ready_why(struct rl_node *node, int64_t now_ns)
{
    if (node->why[0])
        return node->why;
    return rl_node_clock_why(node, now_ns);
}

const char *rl_node_why(struct rl_node *node, int64_t now_ns)
{
    switch (rl_node_standing(node, now_ns)) {
    case RL_STANDING_DOWN:
    case RL_STANDING_CONNECTING:
        if (node->named && node->named->lacks)
            return rl_node_word(node);
        return node->why[0] ? node->why : "connecting";
    case RL_STANDING_DUPLICATE:
        return rl_trust_words(node->duplicate_proven ? RL_CAUSE_TWIN : RL_CAUSE_MAYBE_TWIN);
    case RL_STANDING_UNNAMED:
        return rl_node_word(node);
    case RL_STANDING_STALLED:
        return "does not answer";
    case RL_STANDING_SATURATED:
        return "takes no more requests";
    case RL_STANDING_SLOW:
        return "lags behind: not asked, since enough others answer at once";
    case RL_STANDING_GUARDED:
        return guarded_why(node, now_ns);
    case RL_STANDING_UNFIT:
        break;
    case RL_STANDING_READY:
        return ready_why(node, now_ns);
    }
    return node->why;
}

/* Measure the round trip, smoothed upwards only: it shall be the usual time of a reply, not the
 * worst. A reply that lay unread in the socket, or that came after its deadline, says nothing
 * about it. */
void rl_node_measure(struct rl_node *node, const struct rl_inflight *inflight, int64_t now_ns)
{
    int64_t round_trip_ns = now_ns - inflight->sent_ns;
    assert(round_trip_ns >= 0);
    if (inflight->sent_ns < node->settings->driven->since_ns || now_ns > inflight->deadline_ns)
        return;
    if (node->round_trip_ns == 0 || round_trip_ns < node->round_trip_ns)
        node->round_trip_ns = round_trip_ns;
    else
        node->round_trip_ns += (round_trip_ns - node->round_trip_ns) / 8;
}
