/* inspect.c - redlock_inspect(): the holders of a lock, and its waiters. The caller's structs
 * must be written only as far as they reach: they may be of another version of redlock.h. And
 * redlock_force_release(). */
#include "config_auto.h"

#include "api/query.h"
#include "base/struct_abi.h"
#include "engine/client/owner.h"
#include "engine/enter.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct rl_struct shape =
    RL_STRUCT(redlock_lock_info, "redlock_lock_info", "REDLOCK_LOCK_INFO_INIT", held_ms);
static const struct rl_struct node_shape =
    RL_STRUCT(redlock_node_info, "redlock_lock_info.node_size", "REDLOCK_LOCK_INFO_INIT", text);
static const struct rl_struct holder_shape = RL_STRUCT(
    redlock_holder, "redlock_lock_info.holder_size", "REDLOCK_LOCK_INFO_INIT", ttl_ms);

/* Too large for a stack. */
struct inspection {
    struct rl_views views;
    redlock_node_vote votes[REDLOCK_NODES_MAX]; /* for the reasons of missing answers */
    redlock_report report;
};

static bool fits(const redlock_lock_info *info, char *why, size_t why_size)
{
    return rl_struct_there(&shape, info, why, why_size) &&
           (!info->node || rl_struct_sized(&node_shape, info->node_size, why, why_size)) &&
           (!info->holder || rl_struct_sized(&holder_shape, info->holder_size, why, why_size));
}

static void tell_node(struct inspection *all, unsigned node)
{
    assert(node < all->report.nodes && all->report.nodes <= REDLOCK_NODES_MAX);
    redlock_lock_info *sum = &all->views.sum;
    redlock_node_info *told = &all->views.node[node].told;
    const redlock_node_vote *vote = &all->votes[node];
    _Static_assert(sizeof(told->text) == sizeof(vote->text), "text");
    if (!told->answered) { /* nothing is shown of an answer that can't be parsed */
        *told = (redlock_node_info){.answered = 0};
        memcpy(told->text, vote->text, sizeof(told->text));
    }
    told->node = vote->node;
    void *to = rl_struct_entry(sum->node, sum->node_size, sum->node_count, node);
    if (to)
        rl_struct_copy(to, sum->node_size, told, sizeof(*told));
}

static void tell_holders(redlock_lock_info *sum, int node, struct rl_holders *shown)
{
    assert(node >= -1 && shown->count <= REDLOCK_HOLDERS_SHOWN);
    unsigned room = sum->holder ? sum->holder_max : 0;
    for (unsigned i = 0; i < shown->count; i++) {
        void *to = rl_struct_entry(sum->holder, sum->holder_size, room, sum->holder_count);
        shown->holder[i].node = node;
        if (to)
            rl_struct_copy(to, sum->holder_size, &shown->holder[i], sizeof(redlock_holder));
        *(to ? &sum->holder_count : &sum->holder_left) += 1;
    }
}

static void tell(struct inspection *all, const char *owner, redlock_lock_info *to)
{
    redlock_lock_info *sum = &all->views.sum;
    assert(all->report.nodes > 0); /* it was asked */
    *sum = (redlock_lock_info){
        .node_size = to->node_size,
        .node = to->node,
        .holder_size = to->holder_size,
        .holder = to->holder,
        .node_max = to->node_max,
        .holder_max = to->holder_max,
        .node_count = rl_struct_room(to->node, to->node_max, all->report.nodes),
        .nodes = all->report.nodes,
        .needed = all->report.needed,
    };
    rl_views_sum_up(&all->views, owner, strlen(owner));
    tell_holders(sum, -1, &all->views.agreed);
    for (unsigned i = 0; i < sum->nodes; i++) {
        tell_node(all, i);
        if (all->views.node[i].told.answered)
            tell_holders(sum, (int)i, &all->views.node[i].shown);
    }
    rl_struct_give(&shape, sum, to);
}

int redlock_inspect_n(redlock *client, const void *name, size_t name_len, const char *owner,
                      redlock_lock_info *ret_info)
{
    char thread[RL_OWNER_MAX + 1], wrong[RL_STRUCT_WHY_MAX];
    const char *why = wrong;
    if (!client)
        return REDLOCK_EINVAL;
    if (!fits(ret_info, wrong, sizeof(wrong)) || (owner && !rl_owner_allowed(owner, &why)))
        return rl_client_refuse(client, why);
    if (!owner) {
        rl_owner_text(&client->identity, thread);
        owner = thread;
    }
    struct inspection *all = calloc(1, sizeof(*all));
    if (!all)
        return REDLOCK_ENOMEM;
    const struct rl_question question = {
        .verb = RL_INSPECT,
        .name = name,
        .name_len = name_len,
        .owner = owner,
    };
    all->report = (redlock_report)REDLOCK_REPORT_INIT(all->votes, REDLOCK_NODES_MAX);
    int result = rl_query(client, &question, &all->report, all->views.node);
    if (result == REDLOCK_OK || result == REDLOCK_ENOQUORUM)
        tell(all, owner, ret_info);
    free(all);
    return result;
}

int redlock_inspect(redlock *client, const char *name, const char *owner,
                    redlock_lock_info *ret_info)
{
    return redlock_inspect_n(client, name, name ? strlen(name) : 0, owner, ret_info);
}

/* Delete a lock, held or not. */
int redlock_force_release_n(redlock *client, const void *name, size_t name_len, int endless,
                            redlock_report *report)
{
    const struct rl_question question = {
        .verb = RL_FORCE,
        .endless = endless == REDLOCK_ON,
        .name = name,
        .name_len = name_len,
        .owner = "",
    };
    if (!client)
        return REDLOCK_EINVAL;
    if (endless < REDLOCK_DEFAULT || endless > REDLOCK_OFF)
        return rl_client_refuse(client, "endless must be REDLOCK_ON, REDLOCK_OFF or "
                                        "REDLOCK_DEFAULT (off)");
    return rl_query(client, &question, report, NULL);
}

int redlock_force_release(redlock *client, const char *name, int endless,
                          redlock_report *report)
{
    return redlock_force_release_n(client, name, name ? strlen(name) : 0, endless, report);
}
