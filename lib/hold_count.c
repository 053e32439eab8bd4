/* hold_count.c - redlock_hold_count(): has its owner a lock, how often, for how long? */
#include "config_auto.h"

#include "look.h"
#include "owner.h"

#include <stdlib.h>
#include <string.h>

/* Of so many numbers that the masters gave, the largest ones first. */
static int descending(const void *one, const void *other)
{
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a < b) - (a > b);
}

static int64_t nth_largest(int64_t numbers[REDLOCK_NODES_MAX], unsigned count, unsigned nth)
{
    qsort(numbers, count, sizeof(numbers[0]), descending);
    return numbers[nth];
}

/* What is there has some time left, if less than a millisecond. */
static int64_t time_or_ever(int64_t ms)
{
    return ms < 0 ? INT64_MAX : ms > 0 ? ms : 1;
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
    int64_t counts[REDLOCK_NODES_MAX] = {0}, own_ms[REDLOCK_NODES_MAX] = {0};
    int64_t held_ms[REDLOCK_NODES_MAX] = {0};
    unsigned majority = all->needed - 1, blocks = all->nodes - all->needed;
    for (unsigned i = 0; i < all->nodes; i++) {
        const struct rl_held_by *node = &all->node[i];
        if (!node->answered || !node->held)
            continue;
        held_ms[i] = time_or_ever(node->ttl_ms);
        counts[i] = holds_of(node, kind);
        own_ms[i] = counts[i] > 0 ? time_or_ever(node->own_ttl_ms) : 0;
    }
    int64_t count = nth_largest(counts, all->nodes, majority);
    int64_t ttl_ms = nth_largest(own_ms, all->nodes, majority);
    int64_t blocked_ms = nth_largest(held_ms, all->nodes, blocks);
    ret->count = (unsigned)count;
    ret->ttl_ms = ttl_ms == INT64_MAX ? -1 : ttl_ms;
    ret->held = blocked_ms > 0;
    ret->held_ms = blocked_ms == INT64_MAX ? -1 : blocked_ms;
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
