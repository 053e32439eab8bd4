/* multi_items.h - the items of a call for several locks. Between multi_items.c and
 * multi_lock.c. */
#ifndef RL_MULTI_ITEMS_H
#define RL_MULTI_ITEMS_H

#include "base/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A call for several locks. multi_items.c fills in the first four. */
struct rl_multi {
    redlock_item items[REDLOCK_ITEMS_MAX]; /* in this library's layout */
    redlock_options options[REDLOCK_ITEMS_MAX];
    redlock *clients[REDLOCK_ITEMS_MAX];
    size_t count;
    int64_t wait_ms;
    int64_t end_ns; /* the end of the wait, by the clock of the first item's client */
    size_t held;    /* the item that another holder had when it was asked last; `count`: none */
};

/* One of the caller's items, which are as far apart as they are large there. */
redlock_item *rl_multi_item(const redlock_item *items, size_t index);

/* Write an item's result. Every version has these members. */
void rl_multi_put(redlock_item *item, redlock_lock *lock, int result);
void rl_multi_put_all(const struct rl_multi *taking, redlock_item *items);

/* Are there some, not too many, and all of one size that a version has? */
bool rl_multi_sized(const redlock_item *items, size_t count);

/* EINVAL of items that are not. The log of the first one's client says why, if it is known. */
int rl_multi_refuse(const redlock_item *items, size_t count);

/* Take over the caller's items, which must be sized. 0, or the call's result. */
int rl_multi_take(struct rl_multi *taking, const redlock_item *items, size_t count);

/* Can the items be held together, and is the wait allowed? 0, or the call's result. */
int rl_multi_check(const struct rl_multi *taking);

#endif
