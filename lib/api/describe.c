/* describe.c - redlock_describe(), and the question whether an owner has a lock. */
#include "config_auto.h"

#include "api/inspect.h"
#include "engine/owner.h"
#include "kinds/lock_view.h"

#include <stdlib.h>
#include <string.h>

/* Who did not answer, and why; the others are there already. */
static void take_failures(redlock_description *description, const redlock_report *report)
{
    description->nodes = report->nodes;
    description->needed = report->needed;
    for (unsigned i = 0; i < report->nodes; i++) {
        redlock_node_view *node = &description->node[i];
        node->node = report->node[i].node;
        if (!node->answered)
            memcpy(node->text, report->node[i].text, sizeof(node->text));
    }
}

static int describe(redlock *client, const struct rl_target *target,
                    redlock_description *description)
{
    _Static_assert(sizeof(((redlock_node_view *)0)->text) ==
                       sizeof(((redlock_node_vote *)0)->text),
                   "text");
    redlock_node_vote *votes = calloc(REDLOCK_NODES_MAX, sizeof(*votes));
    redlock_report report = REDLOCK_REPORT_INIT(votes, REDLOCK_NODES_MAX);
    if (!votes)
        return REDLOCK_ENOMEM;
    memset(description->node, 0, sizeof(description->node));
    int result = rl_inspect(client, RL_INSPECT, false, target, &report, description->node);
    if (result == REDLOCK_OK || result == REDLOCK_ENOQUORUM) {
        take_failures(description, &report);
        rl_view_merge_majority(description);
    }
    free(votes);
    return result;
}

int redlock_describe(redlock *client, const void *name, size_t name_len, const char *owner,
                     redlock_description *ret_description)
{
    struct rl_target target = {
        .kind = rl_kind(RL_ROW_ANY),
        .name = name,
        .name_len = name_len,
        .owner = owner ? owner : "",
        .owner_len = owner ? strlen(owner) : 0,
    };
    const char *why;
    if (!client)
        return REDLOCK_EINVAL;
    if (!ret_description || ret_description->size != sizeof(*ret_description))
        return rl_client_refuse(client, "set description.size to sizeof(redlock_description)");
    if (owner && !rl_owner_allowed(owner, &why))
        return rl_client_refuse(client, why);
    return describe(client, &target, ret_description);
}

static void look_for(const redlock_node_view *node, const char *owner, size_t owner_len,
                     struct rl_held_by *ret)
{
    const redlock_view *view = &node->view;
    *ret = (struct rl_held_by){
        .answered = node->answered,
        .held = view->form != REDLOCK_FORM_FREE && view->form != REDLOCK_FORM_KEPT,
    };
    if (!ret->answered || !ret->held) {
        ret->held = false;
        return;
    }
    ret->ttl_ms = view->ttl_ms;
    for (unsigned i = 0; i < view->shown; i++) {
        const redlock_holder *holder = &view->holder[i];
        if (holder->owner_len != owner_len || memcmp(holder->owner, owner, owner_len) != 0)
            continue;
        *(holder->mode == REDLOCK_READ    ? &ret->own_reads
          : holder->mode == REDLOCK_WRITE ? &ret->own_writes
                                          : &ret->own_exclusive) = holder->count;
    }
    (void)rl_view_holds(view, owner, owner_len, &ret->own_ttl_ms);
}

int rl_ask_held_by(redlock *client, const void *name, size_t name_len, const char *owner,
                   size_t owner_len, struct rl_held_by_all *ret_all)
{
    struct rl_target target = {
        .kind = rl_kind(RL_ROW_ANY),
        .name = name,
        .name_len = name_len,
        .owner = owner,
        .owner_len = owner_len,
    };
    redlock_description *description = calloc(1, sizeof(*description));
    if (!description)
        return REDLOCK_ENOMEM;
    int result = describe(client, &target, description);
    if (result == REDLOCK_OK || result == REDLOCK_ENOQUORUM) {
        ret_all->nodes = description->nodes;
        ret_all->needed = description->needed;
        for (unsigned i = 0; i < description->nodes; i++)
            look_for(&description->node[i], owner, owner_len, &ret_all->node[i]);
    }
    free(description);
    return result;
}
