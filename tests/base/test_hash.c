/* test_hash.c - the hash table: whatever was added and not removed is found by its hash,
 * however many share it, however often the table grew; and adding never fails where room was
 * made. */
#include "config_auto.h"

#include "base/hash.h"

#include "alloc.h"
#include "base/prng.h"
#include "redlock.h"
#include "suite.h"

#include <signal.h>

enum { ITEMS = 300, HASHES = 100 };

struct item {
    struct rl_hashed entry;
    uint64_t hash;
    bool in, seen;
};

/* Those of one hash, each once, and no other. */
static void check(const struct rl_hash_table *table, struct item *items, uint64_t hash)
{
    for (unsigned i = 0; i < ITEMS; i++)
        items[i].seen = false;
    struct rl_hashed *entry = rl_hash_find(table, hash);
    for (; entry; entry = rl_hash_next(entry)) {
        struct item *item = (struct item *)entry;
        ck_assert_uint_eq(item->hash, hash);
        ck_assert(!item->seen);
        item->seen = true;
    }
    unsigned wrong = 0;
    for (unsigned i = 0; i < ITEMS; i++)
        wrong += items[i].seen != (items[i].in && items[i].hash == hash);
    ck_assert_uint_eq(wrong, 0);
}

START_TEST(zero_is_empty_table)
{
    struct rl_hash_table table = {0};
    ck_assert_ptr_null(rl_hash_find(&table, 0));
    rl_hash_free(&table);
}
END_TEST

START_TEST(entry_in_table_is_found)
{
    static struct item items[ITEMS];
    struct rl_hash_table table = {0};
    struct rl_prng prng;
    size_t count = 0;
    rl_prng_seed(&prng, 11);
    /* Many in the same bucket, three on average of the same hash. */
    for (unsigned i = 0; i < ITEMS; i++)
        items[i].hash = (i % HASHES) << 3;
    for (unsigned turn = 0; turn < 4000; turn++) {
        struct item *item = &items[rl_prng_next(&prng) % ITEMS];
        if (item->in) {
            rl_hash_remove(&table, &item->entry);
            count--;
        } else {
            ck_assert_int_eq(rl_hash_reserve(&table), 0);
            rl_hash_add(&table, &item->entry, item->hash);
            count++;
        }
        item->in = !item->in;
        ck_assert_uint_eq(table.count, count);
        check(&table, items, item->hash);
    }
    for (unsigned i = 0; i < HASHES; i++)
        check(&table, items, i << 3);
    rl_hash_free(&table);
    ck_assert_ptr_null(rl_hash_find(&table, 0));
}
END_TEST

START_TEST(it_grows_with_its_items)
{
    static struct item items[ITEMS];
    struct rl_hash_table table = {0};
    for (unsigned i = 0; i < ITEMS; i++) {
        items[i].in = true;
        items[i].hash = i;
        ck_assert_int_eq(rl_hash_reserve(&table), 0);
        rl_hash_add(&table, &items[i].entry, i);
        ck_assert_uint_ge(table.size, table.count);
        ck_assert_uint_le(table.size, 16 > 2 * table.count ? 16 : 2 * table.count);
    }
    for (unsigned i = 0; i < ITEMS; i++)
        check(&table, items, i);
    rl_hash_free(&table);
}
END_TEST

START_TEST(entry_not_in_table_is_not_removed)
{
    struct rl_hash_table table = {0};
    struct rl_hashed in, out = {.hash = 3};
    ck_assert_int_eq(rl_hash_reserve(&table), 0);
    rl_hash_add(&table, &in, 3);
    rl_hash_remove(&table, &out);
}
END_TEST

START_TEST(nothing_is_added_where_no_room_was_made)
{
    struct rl_hash_table table = {0};
    struct rl_hashed entry;
    rl_hash_add(&table, &entry, 1);
}
END_TEST

/* Room fails where memory does, and leaves what there was; to add one allocates nothing. */
START_TEST(without_memory_it_stays_as_it_is)
{
    static struct item items[ITEMS];
    struct rl_hash_table table = {0};
    size_t failures = 0;
    if (!alloc_works())
        return;
    for (unsigned i = 0; i < ITEMS; i++) {
        items[i].hash = i;
        alloc_fail_at(1);
        int code = rl_hash_reserve(&table);
        alloc_fail_at(0);
        if (code != 0) {
            failures++;
            ck_assert_int_eq(code, REDLOCK_ENOMEM);
            ck_assert_uint_eq(table.count, i);
            check(&table, items, i / 2);
            ck_assert_int_eq(rl_hash_reserve(&table), 0);
        }
        alloc_fail_at(1);
        rl_hash_add(&table, &items[i].entry, i);
        long allocated = alloc_count();
        alloc_fail_at(0);
        ck_assert_int_eq(allocated, 0);
        items[i].in = true;
    }
    ck_assert_uint_ge(failures, 2);
    ck_assert_uint_le(failures, 10); /* by doubling */
    rl_hash_free(&table);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hash");
    TCase *tcase = tcase_create("hash");
    tcase_add_test(tcase, zero_is_empty_table);
    tcase_add_test(tcase, entry_in_table_is_found);
    tcase_add_test(tcase, it_grows_with_its_items);
    tcase_add_test(tcase, without_memory_it_stays_as_it_is);
    tcase_add_test_raise_signal(tcase, entry_not_in_table_is_not_removed, SIGABRT);
    tcase_add_test_raise_signal(tcase, nothing_is_added_where_no_room_was_made, SIGABRT);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
