/* hash.h - a hash table whose entries are inside its items: the table grows with them, and knows
 * them by the hash alone (rl_hash_of()). A table of zero bytes is empty. */
#ifndef RL_HASH_H
#define RL_HASH_H

#include "base/siphash.h"

#include <stddef.h>
#include <stdint.h>

struct rl_hashed {
    struct rl_hashed *next; /* in its bucket */
    uint64_t hash;
};

struct rl_hash_table {
    struct rl_hashed **bucket;
    size_t size; /* a power of 2, or 0 */
    size_t count;
    struct rl_sip_key key; /* set while it is empty, or never; no one else may know it */
};

/* The hash of a name. Names are the users', and through them often those of strangers. */
static inline uint64_t rl_hash_of(const struct rl_hash_table *table, const void *bytes,
                                  size_t len)
{
    return rl_siphash(&table->key, bytes, len);
}

/* Make room for one more, so that adding it can't fail. 0 or REDLOCK_ENOMEM. */
int rl_hash_reserve(struct rl_hash_table *table);

/* The caller must have reserved room for it. */
void rl_hash_add(struct rl_hash_table *table, struct rl_hashed *entry, uint64_t hash);
void rl_hash_remove(struct rl_hash_table *table, struct rl_hashed *entry);

/* An entry of that hash, and the next one of the same; NULL: there is none. */
struct rl_hashed *rl_hash_find(const struct rl_hash_table *table, uint64_t hash);
struct rl_hashed *rl_hash_next(const struct rl_hashed *entry);

/* Free the room. The entries are not touched; the table is empty, as from the beginning, but
 * for its key. */
void rl_hash_free(struct rl_hash_table *table);

#endif
