/* multi_items.c - the items of a call for several locks: read in the layout of the caller's
 * version, checked as a whole, and given their results. */
#include "config_auto.h"

#include "base/struct_abi.h"
#include "engine/client/client.h"
#include "engine/enter.h"
#include "api/multi_items.h"
#include "api/try.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct rl_struct shape =
    RL_STRUCT(redlock_item, "redlock_item", "REDLOCK_ITEM", name_len);

redlock_item *rl_multi_item(const redlock_item *items, size_t index)
{
    return (redlock_item *)((uintptr_t)items + index * items[0].size);
}

void rl_multi_put(redlock_item *item, redlock_lock *lock, int result)
{
    item->lock = lock;
    item->result = result;
}

void rl_multi_put_all(const struct rl_multi *taking, redlock_item *items)
{
    for (size_t i = 0; i < taking->count; i++)
        rl_multi_put(rl_multi_item(items, i), taking->items[i].lock, taking->items[i].result);
}

bool rl_multi_sized(const redlock_item *items, size_t count)
{
    char why[RL_STRUCT_WHY_MAX];
    if (!items || count == 0 || count > REDLOCK_ITEMS_MAX)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!rl_struct_sized(&shape, items[0].size, why, sizeof(why)) ||
            rl_multi_item(items, i)->size != items[0].size)
            return false;
    }
    return true;
}

int rl_multi_refuse(const redlock_item *items, size_t count)
{
    char why[RL_STRUCT_WHY_MAX];
    assert(!rl_multi_sized(items, count));
    /* Without a size, who knows where the client is? */
    if (!items || count == 0 || !rl_struct_sized(&shape, items[0].size, why, sizeof(why)))
        return REDLOCK_EINVAL;
    if (count > REDLOCK_ITEMS_MAX)
        snprintf(why, sizeof(why), "%zu items are too many: from 1 to %d go together", count,
                 REDLOCK_ITEMS_MAX);
    else
        snprintf(why, sizeof(why),
                 "the items are not of one size; start each one from REDLOCK_ITEM");
    return rl_client_refuse(items[0].client, why);
}

static int refuse(const struct rl_multi *taking, size_t index, const char *why)
{
    assert(index <= taking->count && index < REDLOCK_ITEMS_MAX); /* its client is known */
    return rl_client_refuse(taking->clients[index], why);
}

static int take_item(struct rl_multi *taking, const redlock_item *given, size_t index)
{
    char why[RL_STRUCT_WHY_MAX];
    redlock_item *item = &taking->items[index];
    redlock_options *options = &taking->options[index];
    assert(index == taking->count && index < REDLOCK_ITEMS_MAX);
    if (!given->client)
        return index > 0 ? refuse(taking, index - 1, "the client of an item is NULL")
                         : REDLOCK_EINVAL;
    taking->clients[index] = given->client;
    if (!given->name)
        return refuse(taking, index,
                      "the name of an item is NULL: a lock needs a name of at least one byte");
    *options = (redlock_options)REDLOCK_OPTIONS_INIT;
    *item = (redlock_item)REDLOCK_ITEM(NULL, NULL, NULL);
    if (!rl_struct_take(&shape, given, item, why, sizeof(why)))
        return refuse(taking, index, why);
    if (item->options && !rl_options_take(item->options, options, why, sizeof(why)))
        return refuse(taking, index, why);
    if (options->wait_ms != 0)
        return refuse(taking, index,
                      "the options of an item leave wait_ms at 0: items wait "
                      "together, for the call's wait_ms");
    item->options = options;
    item->name_len = item->name_len ? item->name_len : strlen(item->name);
    rl_multi_put(item, NULL, REDLOCK_OK);
    return REDLOCK_OK;
}

int rl_multi_take(struct rl_multi *taking, const redlock_item *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int result = take_item(taking, rl_multi_item(items, i), i);
        if (result)
            return result;
        taking->count++;
    }
    return REDLOCK_OK;
}

static bool same_owner(const redlock_item *one, const redlock_item *other)
{
    const char *a = one->options->owner;
    const char *b = other->options->owner;
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_name(const redlock_item *one, const redlock_item *other)
{
    return one->client == other->client && one->name_len == other->name_len &&
           memcmp(one->name, other->name, one->name_len) == 0;
}

/* Can both be held under one name, in any order? Readers do not exclude each other, and an
 * owner does not exclude itself; but a reader can't become the writer. */
static bool go_together(const redlock_item *one, const redlock_item *other)
{
    int kind = one->options->kind;
    if (kind != other->options->kind || kind == REDLOCK_PLAIN)
        return false;
    return kind == REDLOCK_READ || same_owner(one, other);
}

int rl_multi_check(const struct rl_multi *taking)
{
    const redlock_item *items = taking->items;
    assert(taking->count > 0); /* rl_multi_take() */
    if (taking->wait_ms < -1)
        return refuse(taking, 0, "wait_ms must be -1 (for ever), 0 (once) or more");
    for (size_t i = 0; i < taking->count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (same_name(&items[i], &items[k]) && !go_together(&items[i], &items[k]))
                return refuse(taking, i,
                              "two items have one name, and can't both be had: only "
                              "readers can, and one kind again for one owner");
        }
    }
    return REDLOCK_OK;
}
