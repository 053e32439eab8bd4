/* sim_blocks.c - see sim_blocks.h. Open addressing, linear probing; what is taken out leaves
 * no gap. */
#include "config_auto.h"

#include "sim_blocks.h"

#include "sim_parts.h"
#include "sim_real.h"

#include <assert.h>

enum { FIRST_BITS = 10 };

static struct {
    struct sim_block *slot;
    unsigned bits;
    size_t used;
} table;

static size_t last_slot(void)
{
    return ((size_t)1 << table.bits) - 1;
}

/* Where it would be in an empty table. */
static size_t home_of(const void *at)
{
    uint64_t spread = (uint64_t)(uintptr_t)at * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(spread >> (64 - table.bits));
}

static void put(const struct sim_block *block)
{
    size_t i = home_of(block->at);
    while (table.slot[i].at)
        i = (i + 1) & last_slot();
    table.slot[i] = *block;
}

static void grow(void)
{
    struct sim_block *old = table.slot;
    size_t old_count = old ? last_slot() + 1 : 0;

    table.bits = old ? table.bits + 1 : FIRST_BITS;
    table.slot = sim_real_calloc(last_slot() + 1, sizeof(*table.slot));
    if (!table.slot)
        sim_die("no memory for the list of %zu blocks", old_count);
    for (size_t i = 0; i < old_count; i++) {
        if (old[i].at)
            put(&old[i]);
    }
    sim_real_free(old);
}

void sim_blocks_add(void *at, size_t size, unsigned proc)
{
    if (!table.slot || 2 * table.used > last_slot())
        grow();
    assert(size <= UINT32_MAX);
    put(&(struct sim_block){.at = at, .size = (uint32_t)size, .proc = proc});
    table.used++;
}

/* Those that follow move up, unless they would come to stand before their home. */
static void close_gap(size_t gap)
{
    size_t i = gap;

    for (;;) {
        i = (i + 1) & last_slot();
        if (!table.slot[i].at)
            break;
        size_t home = home_of(table.slot[i].at);
        if (((i - home) & last_slot()) >= ((i - gap) & last_slot())) {
            table.slot[gap] = table.slot[i];
            gap = i;
        }
    }
    table.slot[gap].at = NULL;
}

bool sim_blocks_take(void *at, struct sim_block *ret_block)
{
    if (table.used == 0)
        return false;
    for (size_t i = home_of(at); table.slot[i].at; i = (i + 1) & last_slot()) {
        if (table.slot[i].at == at) {
            *ret_block = table.slot[i];
            close_gap(i);
            table.used--;
            return true;
        }
    }
    return false;
}

void sim_blocks_end(void)
{
    for (size_t i = 0; table.used > 0 && i <= last_slot(); i++) {
        if (table.slot[i].at) {
            sim_real_free(table.slot[i].at);
            table.slot[i].at = NULL;
            table.used--;
        }
    }
}
