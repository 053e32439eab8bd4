/* list.h - a doubly linked list whose entries are inside its items. A list of zero bytes is
 * empty, and an entry of zero bytes is in no list. Core. */
#ifndef RL_LIST_H
#define RL_LIST_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

struct rl_entry {
    struct rl_entry *prev, *next;
};

struct rl_list {
    struct rl_entry *first, *last;
};

/* The item of that type whose `member` is at `at`; NULL for NULL. */
#define RL_ITEM(at, type, member) ((type *)rl_item(at, offsetof(type, member)))
static inline void *rl_item(void *at, size_t offset)
{
    return at ? (char *)at - offset : NULL;
}

#define RL_FIRST(list, type, member) RL_ITEM((list)->first, type, member)
#define RL_NEXT(item, type, member) RL_ITEM((item)->member.next, type, member)

/* For each item, from the first on. The body may append items, and may not remove this one. */
#define RL_EACH(type, item, list, member)                                                      \
    for (type *item = RL_FIRST(list, type, member); item; item = RL_NEXT(item, type, member))

/* The same, and the body may remove or free this item. Nothing is written and only `next` is
 * followed. So it serves a child of a fork, which may have found the list in the middle of a
 * change. */
#define RL_EACH_FREED(type, item, list, member)                                                \
    for (type *item = RL_FIRST(list, type, member), *item##_next;                              \
         item && (item##_next = RL_NEXT(item, type, member), true); item = item##_next)

/* Is the entry in this list? It must not be in another one. */
static inline bool rl_list_has(const struct rl_list *list, const struct rl_entry *entry)
{
    return entry->prev || list->first == entry;
}

/* Before `next`; NULL: at the end. */
static inline void rl_list_insert(struct rl_list *list, struct rl_entry *entry,
                                  struct rl_entry *next)
{
    struct rl_entry *prev = next ? next->prev : list->last;
    assert(!rl_list_has(list, entry));
    *entry = (struct rl_entry){.prev = prev, .next = next};
    *(prev ? &prev->next : &list->first) = entry;
    *(next ? &next->prev : &list->last) = entry;
}

/* At the end; at the beginning. */
static inline void rl_list_append(struct rl_list *list, struct rl_entry *entry)
{
    rl_list_insert(list, entry, NULL);
}

static inline void rl_list_push(struct rl_list *list, struct rl_entry *entry)
{
    rl_list_insert(list, entry, list->first);
}

static inline void rl_list_remove(struct rl_list *list, struct rl_entry *entry)
{
    assert((list->first == entry) == !entry->prev && (list->last == entry) == !entry->next);
    *(entry->prev ? &entry->prev->next : &list->first) = entry->next;
    *(entry->next ? &entry->next->prev : &list->last) = entry->prev;
    *entry = (struct rl_entry){0};
}

/* The first entry, which is removed; NULL: there is none. */
static inline struct rl_entry *rl_list_pop(struct rl_list *list)
{
    struct rl_entry *first = list->first;
    if (first)
        rl_list_remove(list, first);
    return first;
}

#endif
