/* tags: threads */
/* test_chaos_store.c - the store of redlock-chaos that checks fencing tokens. */
#include "config_auto.h"

#include "chaos/check/store.h"

#include "base/clock.h"
#include "suite.h"

#include <pthread.h>

static struct chaos_store store;
static uint64_t now;

static void begin(bool fenced)
{
    store = (struct chaos_store){.fenced = false};
    chaos_store_begin(&store, fenced);
    now = rl_clock_wall_us();
}

TEST(store, lower_token_is_refused)
{
    uint64_t value = 7;
    begin(true);
    ck_assert(chaos_store_write(&store, 0, now + 1, 1));
    ck_assert(!chaos_store_write(&store, 0, now, 2));
    ck_assert(!chaos_store_read(&store, 0, now, &value));
    ck_assert_uint_eq(chaos_store_value(&store, 0), 1);
    ck_assert(chaos_store_write(&store, 0, now + 1, 2));
    ck_assert(chaos_store_write(&store, 1, now, 9)); /* another's record */
}

TEST(store, read_raises_token_and_readers_do_not)
{
    uint64_t value = 7;
    begin(true);
    ck_assert(chaos_store_read(&store, 0, now + 5, &value));
    ck_assert_uint_eq(value, 0);
    ck_assert(!chaos_store_write(&store, 0, now + 4, 1));
    ck_assert(chaos_store_write(&store, 0, now + 5, 3));
    ck_assert(chaos_store_read(&store, 0, 0, &value));
    ck_assert_uint_eq(value, 3);
    ck_assert(chaos_store_write(&store, 0, now + 5, 4));
}

TEST(store, without_tokens_all_is_taken)
{
    uint64_t value = 7;
    begin(false);
    ck_assert(chaos_store_write(&store, 0, 0, UINT64_MAX));
    ck_assert(chaos_store_read(&store, 0, 0, &value));
    ck_assert_uint_eq(value, UINT64_MAX);
}

enum { THREADS = 4, TURNS = 20000 };

/* Each adds 1 with a token of its own, as often as it is not refused. */
static void *add(void *context)
{
    uint64_t *taken = context, value;
    for (uint64_t i = 0; i < TURNS; i++) {
        uint64_t token =
            now + i * THREADS + (uint64_t)((uintptr_t)taken / sizeof(*taken)) % THREADS;
        if (chaos_store_read(&store, 0, token, &value) &&
            chaos_store_write(&store, 0, token, value + 1))
            (*taken)++;
    }
    return NULL;
}

TEST(store, no_access_gets_between_read_and_write)
{
    pthread_t thread[THREADS];
    uint64_t taken[THREADS] = {0}, all = 0;
    begin(true);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, add, &taken[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        all += taken[i];
    }
    ck_assert_uint_gt(all, 0);
    ck_assert_uint_eq(chaos_store_value(&store, 0), all);
}
