/* test_hash.c - the hash table: whatever was added and not removed is found by its hash,
 * however many share it, however often the table grew; and adding never fails where room was
 * made. */
#include "config_auto.h"

#include "base/hash.h"

#include "alloc.h"
#include "base/prng.h"
#include "base/text.h"
#include "redlock.h"
#include "suite.h"

#include <signal.h>

enum { ITEMS = 300, HASHES = 100, NAMES = 1024 };

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

TEST(hash, zero_is_empty_table)
{
    struct rl_hash_table table = {0};
    ck_assert_ptr_null(rl_hash_find(&table, 0));
    rl_hash_free(&table);
}

TEST(hash, entry_in_table_is_found)
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

TEST(hash, it_grows_with_its_items)
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

TEST(hash, entry_not_in_table_is_not_removed, .signal = SIGABRT)
{
    struct rl_hash_table table = {0};
    struct rl_hashed in, out = {.hash = 3};
    ck_assert_int_eq(rl_hash_reserve(&table), 0);
    rl_hash_add(&table, &in, 3);
    rl_hash_remove(&table, &out);
}

TEST(hash, nothing_is_added_where_no_room_was_made, .signal = SIGABRT)
{
    struct rl_hash_table table = {0};
    struct rl_hashed entry;
    rl_hash_add(&table, &entry, 1);
}

/* The published vectors: the key is 00 01 ... 0f, and the bytes 00 01 ... up to their number. */
TEST(hash, hashes_are_those_of_siphash_2_4)
{
    static const struct {
        size_t len;
        uint64_t hash;
    } vectors[] = {
        {0, UINT64_C(0x726fdb47dd0e0e31)},  {1, UINT64_C(0x74f839c593dc67fd)},
        {7, UINT64_C(0xab0200f58b01d137)},  {8, UINT64_C(0x93f5f5799a932462)},
        {15, UINT64_C(0xa129ca6149be45e5)}, {16, UINT64_C(0x3f2acc7f57c29bdb)},
        {63, UINT64_C(0x958a324ceb064572)},
    };
    static const struct rl_sip_key key = {
        {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)}};
    unsigned char bytes[64];
    for (unsigned i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)i;
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
        ck_assert_uint_eq(rl_siphash(&key, bytes, vectors[i].len), vectors[i].hash);
}

/* Entries that a look into the fullest bucket has to pass. */
static unsigned longest(const struct rl_hash_table *table)
{
    unsigned most = 0;
    for (size_t i = 0; i < table->size; i++) {
        unsigned passed = 0;
        for (const struct rl_hashed *entry = table->bucket[i]; entry; entry = entry->next)
            passed++;
        most = passed > most ? passed : most;
    }
    return most;
}

/* Names that share a bucket in every table whose hash has no key, or a key that is known. */
TEST(hash, names_that_were_chosen_to_collide_do_not, .rows = 2)
{
    static struct rl_hashed entries[NAMES], known[NAMES];
    struct rl_hash_table table = {.key = {{11, 12}}}, open = {0};
    unsigned found = 0;
    for (uint64_t name = 0; found < NAMES; name++) {
        uint64_t fixed = rl_hash(&name, sizeof(name));
        if (_i > 0)
            fixed = rl_hash_of(&open, &name, sizeof(name));
        if (fixed & (NAMES - 1))
            continue;
        ck_assert_int_eq(rl_hash_reserve(&table), 0);
        ck_assert_int_eq(rl_hash_reserve(&open), 0);
        rl_hash_add(&table, &entries[found], rl_hash_of(&table, &name, sizeof(name)));
        rl_hash_add(&open, &known[found++], fixed);
    }
    ck_assert_uint_eq(longest(&open), NAMES); /* so they were well chosen */
    ck_assert_uint_le(longest(&table), 16);
    rl_hash_free(&table);
    rl_hash_free(&open);
    ck_assert_uint_eq(table.key.half[0], 11); /* one key for its whole life */
}

/* Room fails where memory does, and leaves what there was; to add one allocates nothing. */
TEST(hash, without_memory_it_stays_as_it_is)
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
