/* store.c - see store.h. */
#include "config_auto.h"

#include "chaos/check/store.h"

#include "base/clock.h"

#include <assert.h>

/* In one word, so that both change at once: 12 days of microseconds, and 16 million writes. */
#define VALUE_BITS CHAOS_STORE_VALUE_BITS
#define VALUE_MASK (CHAOS_STORE_VALUES - 1)
#define AGES_MAX (UINT64_C(1) << (64 - VALUE_BITS))

/* Tokens are times or above: earlier ones by the clocks of other hosts have room below. */
#define ROOM_US (UINT64_C(86400) * 1000000)

void chaos_store_begin(struct chaos_store *store, bool fenced)
{
    store->fenced = fenced;
    store->base = rl_clock_wall_us() - ROOM_US;
}

static uint64_t age_of(const struct chaos_store *store, uint64_t token)
{
    assert(token > store->base && token - store->base < AGES_MAX);
    return token - store->base;
}

/* Both may change as long as nobody with a higher token was here. */
static bool change(struct chaos_store *store, unsigned name, uint64_t token, bool writes,
                   uint64_t *value)
{
    uint64_t age = age_of(store, token);
    uint64_t before = atomic_load(&store->checked[name]), after;
    do {
        if (before >> VALUE_BITS > age)
            return false;
        after = age << VALUE_BITS | (writes ? *value : before & VALUE_MASK);
    } while (!atomic_compare_exchange_weak(&store->checked[name], &before, after));
    *value = after & VALUE_MASK;
    return true;
}

bool chaos_store_read(struct chaos_store *store, unsigned name, uint64_t token,
                      uint64_t *ret_value)
{
    assert(name < CHAOS_NAMES_MAX);
    if (store->fenced && token > 0)
        return change(store, name, token, false, ret_value);
    *ret_value = chaos_store_value(store, name);
    return true;
}

bool chaos_store_write(struct chaos_store *store, unsigned name, uint64_t token, uint64_t value)
{
    assert(name < CHAOS_NAMES_MAX);
    assert(value <= VALUE_MASK || !store->fenced);
    if (store->fenced)
        return change(store, name, token, true, &value);
    store->value[name] = value;
    return true;
}

uint64_t chaos_store_value(const struct chaos_store *store, unsigned name)
{
    return store->fenced ? atomic_load(&store->checked[name]) & VALUE_MASK : store->value[name];
}
