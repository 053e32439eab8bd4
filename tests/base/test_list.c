/* test_list.c - the list: an item stands where it was put, leaves its neighbours joined, and
 * is in one list or in none. */
#include "config_auto.h"

#include "base/list.h"

#include "base/prng.h"
#include "suite.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 12 };

struct item {
    char name;
    struct rl_entry entry;
};

/* The names, forwards; each entry knows the one before it. */
static void check(const struct rl_list *list, const char *names)
{
    const struct rl_entry *before = NULL;
    size_t count = 0;
    RL_EACH (const struct item, item, list, entry) {
        ck_assert_int_eq(item->name, names[count++]);
        ck_assert_ptr_eq(item->entry.prev, before);
        ck_assert(rl_list_has(list, &item->entry));
        before = &item->entry;
    }
    ck_assert_uint_eq(count, strlen(names));
    ck_assert_ptr_eq(list->last, before);
}

TEST(list, zero_is_empty_list)
{
    struct rl_list list = {0};
    struct item a = {.name = 'a'};
    check(&list, "");
    ck_assert_ptr_null(rl_list_pop(&list));
    ck_assert_ptr_null(RL_FIRST(&list, struct item, entry));
    ck_assert(!rl_list_has(&list, &a.entry));
}

TEST(list, items_stand_where_they_are_put)
{
    struct rl_list list = {0};
    struct item item[4] = {{.name = 'a'}, {.name = 'b'}, {.name = 'c'}, {.name = 'd'}};
    rl_list_append(&list, &item[1].entry);
    check(&list, "b");
    rl_list_append(&list, &item[3].entry);
    rl_list_push(&list, &item[0].entry);
    check(&list, "abd");
    rl_list_insert(&list, &item[2].entry, &item[3].entry);
    check(&list, "abcd");
    ck_assert_ptr_eq(RL_NEXT(&item[0], struct item, entry), &item[1]);
}

TEST(list, first_entry_is_taken_first)
{
    struct rl_list list = {0};
    struct item item[3] = {{.name = 'a'}, {.name = 'b'}, {.name = 'c'}};
    for (unsigned i = 0; i < 3; i++)
        rl_list_append(&list, &item[i].entry);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_ptr_eq(RL_ITEM(rl_list_pop(&list), struct item, entry), &item[i]);
        ck_assert(!rl_list_has(&list, &item[i].entry));
        check(&list, &"bc"[i < 2 ? i : 2]);
    }
}

TEST(list, items_may_be_freed_while_walking)
{
    struct rl_list list = {0};
    char seen[4] = "";
    for (unsigned i = 0; i < 3; i++) {
        struct item *item = calloc(1, sizeof(*item));
        ck_assert_ptr_nonnull(item);
        item->name = (char)('a' + i);
        rl_list_append(&list, &item->entry);
    }
    RL_EACH_FREED (struct item, item, &list, entry) {
        seen[strlen(seen)] = item->name;
        memset(item, 0, sizeof(*item));
        free(item);
    }
    ck_assert_str_eq(seen, "abc");
}

/* Against a string of the names that are in it. */
TEST(list, any_order_of_changes_leaves_it_whole)
{
    struct rl_list list = {0};
    struct item item[ITEMS] = {{0}};
    char names[ITEMS + 1] = "";
    struct rl_prng prng;
    rl_prng_seed(&prng, 5);
    for (unsigned i = 0; i < ITEMS; i++)
        item[i].name = (char)('a' + i);
    for (unsigned turn = 0; turn < 1000; turn++) {
        struct item *one = &item[rl_prng_next(&prng) % ITEMS];
        char *at = strchr(names, one->name);
        size_t len = strlen(names);
        ck_assert_int_eq(rl_list_has(&list, &one->entry), at != NULL);
        if (at) {
            rl_list_remove(&list, &one->entry);
            memmove(at, at + 1, strlen(at));
            ck_assert(!one->entry.prev && !one->entry.next);
        } else if (turn % 2) {
            rl_list_push(&list, &one->entry);
            memmove(names + 1, names, len + 1);
            names[0] = one->name;
        } else {
            rl_list_append(&list, &one->entry);
            names[len] = one->name;
            names[len + 1] = '\0';
        }
        check(&list, names);
    }
}

TEST(list, entry_in_no_list_is_not_removed, .signal = SIGABRT)
{
    struct rl_list list = {0};
    struct item item[2] = {{.name = 'a'}, {.name = 'b'}};
    rl_list_append(&list, &item[0].entry);
    rl_list_remove(&list, &item[1].entry);
}

TEST(list, entry_in_list_is_not_put_there_again, .signal = SIGABRT)
{
    struct rl_list list = {0};
    struct item a = {.name = 'a'};
    rl_list_append(&list, &a.entry);
    rl_list_push(&list, &a.entry);
}
