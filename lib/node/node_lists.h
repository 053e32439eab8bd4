/* node_lists.h - which node lists the clients of a master have, and what follows for its vote.
 * Clients show each other their marks on the master (kinds/lists/lists_join.lua). Only where
 * config-agreement is not off.
 */
#ifndef RL_NODE_LISTS_H
#define RL_NODE_LISTS_H

#include "config/list_mark.h"

#include <stdbool.h>
#include <stdint.h>

struct rl_node;
struct rl_inflight;
struct rl_reply;

enum rl_lists_say {
    RL_LISTS_ALIKE,  /* no other mark is there, or nobody asked */
    RL_LISTS_OTHERS, /* some clients have another list */
    RL_LISTS_UNTOLD  /* it did not tell them */
};

/* What all nodes of a client share. */
struct rl_lists_settings {
    int agreement; /* enum redlock_agreement */
    struct rl_list_mark own;
};

/* What one node told last. */
struct rl_node_lists {
    enum rl_lists_say say;
    char why[176]; /* OTHERS, UNTOLD */
};

/* Does this client show its list and look at those of others? */
static inline bool rl_lists_wanted(const struct rl_lists_settings *settings)
{
    return settings->agreement == REDLOCK_AGREEMENT_WARN ||
           settings->agreement == REDLOCK_AGREEMENT_REFUSE;
}

/* Queue the question, before INFO: its reply is there when the node is judged. False: there is
 * no room. */
bool rl_node_ask_lists(struct rl_node *node, int64_t now_ns, int64_t deadline_ns);

/* The reply; `error`: its text, if it is one. */
void rl_node_take_lists(struct rl_node *node, const struct rl_inflight *inflight,
                        const struct rl_reply *reply, const char *error, int64_t now_ns);

/* Why the node casts no vote; NULL: it may. */
const char *rl_node_lists_refusal(const struct rl_node *node);

/* What people should know of a node that votes all the same; NULL: nothing. */
const char *rl_node_lists_warning(const struct rl_node *node);

#endif
