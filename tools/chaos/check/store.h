/* store.h - the data that the locks protect, in memory that all contenders share: a number for
 * each lock.
 *
 * Without fencing tokens it is read and written without any atomicity. With them it is what a
 * storage that checks them is: the number and the highest token that it has seen change
 * together, and it refuses who comes with a lower token. A read counts, too: else an earlier
 * holder could write between a later one's read and write. */
#ifndef CHAOS_STORE_H
#define CHAOS_STORE_H

#include "chaos/chaos.h"

#include <stdatomic.h>

/* Numbers are below this where tokens are checked. */
#define CHAOS_STORE_VALUE_BITS 24
#define CHAOS_STORE_VALUES (UINT64_C(1) << CHAOS_STORE_VALUE_BITS)

struct chaos_store {
    bool fenced;
    uint64_t base; /* tokens count from here */
    volatile uint64_t value[CHAOS_NAMES_MAX];
    _Atomic uint64_t
        checked[CHAOS_NAMES_MAX]; /* fenced: the token, less base, and the number */
};

void chaos_store_begin(struct chaos_store *store, bool fenced);

/* Token 0: of a reader, who raises nothing. False: refused, the token is not the highest. */
bool chaos_store_read(struct chaos_store *store, unsigned name, uint64_t token,
                      uint64_t *ret_value);
bool chaos_store_write(struct chaos_store *store, unsigned name, uint64_t token,
                       uint64_t value);

uint64_t chaos_store_value(const struct chaos_store *store, unsigned name);

#endif
