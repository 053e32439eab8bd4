/* lists_told.h - the node lists of other clients that this client has met so far. */
#ifndef RL_LISTS_TOLD_H
#define RL_LISTS_TOLD_H

#include "config/list_mark.h"

#include <stdint.h>

struct rl_node;

#define RL_LISTS_TOLD_MAX 16
struct rl_lists_told {
    unsigned count;
    char mark[RL_LISTS_TOLD_MAX][RL_LIST_MARK_MAX + 1];
};

/* A node has shown this list, which is not ours: count it and log it, if it is new. */
void rl_lists_disagree(struct rl_lists_told *told, const struct rl_node *node,
                       const struct rl_list_mark *other);

#endif
