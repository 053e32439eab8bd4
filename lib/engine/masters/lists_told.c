/* lists_told.c - see lists_told.h. Each list is counted and told once, however many masters
 * show it. */
#include "config_auto.h"

#include "engine/client/client.h"

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
void rl_lists_disagree(void *owner, struct rl_node *node, const struct rl_list_mark *other)
{
    redlock *client = owner;
    struct rl_lists_told *told = &client->lists_told;
    char mark[RL_LIST_MARK_MAX + 1], difference[RL_LIST_DIFFERENCE_MAX];
    assert(node->index < client->nodes.n);
    rl_list_mark_write(other, mark);
    if (!is_new(told, mark))
        return;
    memcpy(told->mark[told->count++], mark, sizeof(mark));
    client->stats.other_lists = told->count;
    rl_list_mark_compare(other, &client->node_settings.lists.own, difference);
    rl_client_log(client, REDLOCK_LOG_WARNING,
                  "%s: some of its clients have another list of nodes, %s: %s",
                  node->config->label, mark, difference);
}
