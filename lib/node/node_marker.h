/* node_marker.h - a master's marker, as it is asked for and read; and the term of one that can fail
 * over. */
#ifndef RL_NODE_MARKER_H
#define RL_NODE_MARKER_H

#include "core/marker.h"
#include "core/witness.h"
#include "net/connection.h"

struct rl_node;
struct rl_node_settings;

/* Of a master that can fail over, by the word of its line's Sentinels. All zeroes: it can't. */
struct rl_node_term {
    bool has;
    uint64_t term; /* in which its server was named: each look at the marker carries it */
    bool voted;    /* it has had a vote in that term */
    bool forgot;   /* the Sentinels have forgotten: the next look begins a quarantine */
    bool wanted;   /* the look that is under way sets what it finds lost */
    struct rl_look look; /* the last one that set, or found, a marker */
};

/* Before a connection: its server was named in that term. In another one nothing that was known of
 * the former server counts, but what identity.h keeps. No link of the node may lead to that one. */
void rl_node_set_term(struct rl_node *node, uint64_t term);

/* It is GREETING or UP, and no majority of its Sentinels names it (`why`: what they say): no vote,
 * until INFO is told again. */
void rl_node_unnamed(struct rl_node *node, const char *why, int64_t now_ns);

/* Every lease of a former server is over: max-ttl and its drift, and D where it can fail over. */
int64_t rl_node_window_ns(const struct rl_node *node);
/* Both windows, by the drift that is set already. */
void rl_node_set_windows(struct rl_node_settings *settings, int64_t max_ttl_ns);

/* Ask for the marker, behind INFO; false: there is no room. And read the reply; false: it is
 * none. */
bool rl_node_ask_marker(struct rl_node *node, int64_t now_ns);
bool rl_node_read_marker(const struct rl_inflight *inflight, const struct rl_reply *reply,
                         struct rl_marker_reading *ret_reading);
/* What was read of it, by a request that was sent then. */
void rl_node_learn_marker(struct rl_node *node, const struct rl_marker_reading *reading,
                          int64_t sent_ns, int64_t now_ns);

/* Has nobody set what was found missing? A vote is wanted: it is set now. */
bool rl_node_only_looked_at(const struct rl_node *node);
void rl_node_wanted(struct rl_node *node, int64_t now_ns);

/* A strict script found that the marker is not the one which was read: the node votes when it
 * was read again, if ever. The vote of that script has failed. */
void rl_node_unmarked(struct rl_node *node, const struct rl_inflight *inflight, int64_t now_ns);

#endif
