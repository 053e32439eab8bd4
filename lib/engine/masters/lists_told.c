/* lists_told.c - see lists_told.h. Each list is counted and told once, however many masters
 * show it. */
#include "config_auto.h"

#include "engine/masters/lists_told.h"

#include "node/node.h"

#include <assert.h>
#include <string.h>

/* Is it new, and is there room for it? Those beyond the room are told by no log: something
 * else is wrong where there are so many. */
static bool is_new(const struct rl_lists_told *told, const char *mark)
{
    for (unsigned i = 0; i < told->count; i++) {
        if (strcmp(told->mark[i], mark) == 0)
            return false;
    }
    return told->count < RL_LISTS_TOLD_MAX;
}

/* R17: Each other list is told once. */
void rl_lists_disagree(struct rl_lists_told *told, const struct rl_node *node,
                       const struct rl_list_mark *other)
{
    const struct rl_node_settings *settings = node->settings;
    char mark[RL_LIST_MARK_MAX + 1], difference[RL_LIST_DIFFERENCE_MAX];
    assert(told->count <= RL_LISTS_TOLD_MAX);
    rl_list_mark_write(other, mark);
    if (!is_new(told, mark))
        return;
    memcpy(told->mark[told->count++], mark, sizeof(mark));
    rl_list_mark_compare(other, &settings->lists.own, difference);
    settings->events->log(settings->owner, REDLOCK_LOG_WARNING,
                          "%s: some of its clients have another list of nodes, %s: %s",
                          node->config->label, mark, difference);
}
