/* hash.c - see hash.h. */
#include "config_auto.h"

#include "base/hash.h"

#include "redlock.h"

#include <assert.h>
#include <stdlib.h>

#define SIZE_MIN 16

static struct rl_hashed **bucket_of(const struct rl_hash_table *table, uint64_t hash)
{
    assert(table->size > 0 && (table->size & (table->size - 1)) == 0);
    return &table->bucket[hash & (table->size - 1)];
}

static void put(struct rl_hash_table *table, struct rl_hashed *entry)
{
    struct rl_hashed **at = bucket_of(table, entry->hash);
    entry->next = *at;
    *at = entry;
}

int rl_hash_reserve(struct rl_hash_table *table)
{
    struct rl_hash_table grown = {.size = table->size ? 2 * table->size : SIZE_MIN,
                                  .count = table->count,
                                  .key = table->key};
    if (table->count < table->size)
        return 0;
    grown.bucket = calloc(grown.size, sizeof(struct rl_hashed *));
    if (!grown.bucket)
        return REDLOCK_ENOMEM;
    for (size_t i = 0; i < table->size; i++) {
        for (struct rl_hashed *entry = table->bucket[i], *next; entry; entry = next) {
            next = entry->next;
            put(&grown, entry);
        }
    }
    struct rl_hashed **old = table->bucket;
    *table = grown; /* a child of a fork must not find the old one freed */
    free(old);
    return 0;
}

void rl_hash_add(struct rl_hash_table *table, struct rl_hashed *entry, uint64_t hash)
{
    assert(table->count < table->size);
    entry->hash = hash;
    put(table, entry);
    table->count++;
}

void rl_hash_remove(struct rl_hash_table *table, struct rl_hashed *entry)
{
    struct rl_hashed **at = bucket_of(table, entry->hash);
    while (*at && *at != entry)
        at = &(*at)->next;
    assert(*at && table->count > 0);
    *at = entry->next;
    table->count--;
}

static struct rl_hashed *of_hash(struct rl_hashed *entry, uint64_t hash)
{
    while (entry && entry->hash != hash)
        entry = entry->next;
    return entry;
}

struct rl_hashed *rl_hash_find(const struct rl_hash_table *table, uint64_t hash)
{
    return table->count > 0 ? of_hash(*bucket_of(table, hash), hash) : NULL;
}

struct rl_hashed *rl_hash_next(const struct rl_hashed *entry)
{
    return of_hash(entry->next, entry->hash);
}

void rl_hash_free(struct rl_hash_table *table)
{
    free(table->bucket);
    *table = (struct rl_hash_table){.key = table->key};
}
