/* hold_count.c - redlock_hold_count(): has its owner a lock, how often, for how long? */
#include "config_auto.h"

#include "api/inspect.h"
#include "core/quorum_value.h"
#include "engine/owner.h"

#include <stdlib.h>
#include <string.h>

/* What is there has some time left, if less than a millisecond. */
static int64_t time_left(int64_t ms)
{
    return ms == 0 ? 1 : ms;
}

static unsigned holds_of(const struct rl_held_by *node, int kind)
{
    if (kind == REDLOCK_READ)
        return node->own_reads;
    return kind == REDLOCK_WRITE ? node->own_writes : node->own_exclusive;
}

/* What a majority of all masters says at least; and it is held where so many of them have it
 * that the others are no majority. */
static void sum_up(const struct rl_held_by_all *all, int kind, redlock_holds *ret)
{
    struct rl_quorum_values counts = {0}, own_ms = {0}, held_ms = {0};
    for (unsigned i = 0; i < all->nodes; i++) {
        const struct rl_held_by *node = &all->node[i];
        if (!node->answered || !node->held)
            continue;
        unsigned holds = holds_of(node, kind);
        rl_quorum_value_add(&held_ms, time_left(node->ttl_ms));
        rl_quorum_value_add(&counts, holds);
        rl_quorum_value_add(&own_ms, holds > 0 ? time_left(node->own_ttl_ms) : 0);
    }
    ret->count = (unsigned)rl_quorum_value_reached(&counts, all->needed);
    ret->ttl_ms = rl_quorum_value_reached(&own_ms, all->needed);
    ret->held_ms = rl_quorum_value_reached(&held_ms, all->nodes - all->needed + 1);
    ret->held = ret->held_ms != 0;
}

/* What is wrong with what the caller says; NULL: nothing. */
static const char *why_not(const redlock_options *options, const redlock_holds *holds)
{
    const char *why;
    if (!options || options->size != sizeof(*options) || !holds ||
        holds->size != sizeof(*holds))
        return "to count holds needs REDLOCK_OPTIONS_INIT and REDLOCK_HOLDS_INIT";
    if (options->kind <= REDLOCK_PLAIN || options->kind > REDLOCK_WRITE)
        return "kind must be one of enum redlock_kind, and not plain: a plain lock has no "
               "owner";
    return options->owner && !rl_owner_allowed(options->owner, &why) ? why : NULL;
}

int redlock_hold_count(redlock *client, const void *name, size_t name_len,
                       const redlock_options *options, redlock_holds *ret_holds)
{
    char owner[RL_OWNER_MAX + 1];
    if (!client)
        return REDLOCK_EINVAL;
    const char *why = why_not(options, ret_holds);
    if (why)
        return rl_client_refuse(client, why);
    size_t owner_len = options->owner ? strlen(options->owner) : rl_owner_text(client, owner);
    struct rl_held_by_all *all = calloc(1, sizeof(*all));
    if (!all)
        return REDLOCK_ENOMEM;
    int result = rl_ask_held_by(client, name, name_len, options->owner ? options->owner : owner,
                                owner_len, all);
    if (result == REDLOCK_OK || result == REDLOCK_ENOQUORUM)
        sum_up(all, options->kind, ret_holds);
    free(all);
    return result;
}
