/* test_backoff.c - waits grow, stay below their limit, and are spread over all of it. */
#include "config_auto.h"

#include "core/backoff.h"
#include "base/limits.h"
#include "suite.h"

#include <signal.h>

#define MS RL_NS_PER_MS

/* Failure k waits at most first * 2^k and at most max; never nothing. */
TEST(backoff, waits_grow_to_limit_and_no_further)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct rl_backoff backoff;
        struct rl_prng prng;
        int64_t ceiling = RL_RETRY_MIN_MS * MS;
        rl_prng_seed(&prng, seed);
        rl_backoff_init(&backoff, RL_RETRY_MIN_MS * MS, RL_RETRY_MAX_MS * MS);
        for (int k = 0; k < 100; k++) {
            int64_t wait = rl_backoff_next_ns(&backoff, &prng);
            ck_assert_int_ge(wait, 1);
            ck_assert_int_le(wait, ceiling);
            ceiling = ceiling > RL_RETRY_MAX_MS * MS / 2 ? RL_RETRY_MAX_MS * MS : 2 * ceiling;
        }
    }
}

/* And they do grow: over many contenders, the longest k-th wait is near its own limit. */
TEST(backoff, each_failure_doubles_longest_wait)
{
    int64_t longest[8] = {0};
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct rl_backoff backoff;
        struct rl_prng prng;
        rl_prng_seed(&prng, seed);
        rl_backoff_init(&backoff, 5 * MS, 250 * MS);
        for (int k = 0; k < 8; k++) {
            int64_t wait = rl_backoff_next_ns(&backoff, &prng);
            if (wait > longest[k])
                longest[k] = wait;
        }
    }
    for (int k = 0; k < 8; k++) {
        int64_t limit = 5 * MS << k < 250 * MS ? 5 * MS << k : 250 * MS;
        ck_assert_int_le(longest[k], limit);
        ck_assert_int_gt(longest[k], limit - limit / 50);
    }
}

/* No two in less than half of the longest wait, and they are spread over the other half. */
TEST(backoff, calm_wait_is_half_of_longest_at_least)
{
    for (unsigned k = 0; k < 9; k++) {
        int64_t ceiling = 10 * MS << k < 330 * MS ? 10 * MS << k : 330 * MS;
        int64_t shortest = INT64_MAX, longest = 0;
        for (uint64_t seed = 0; seed < 2000; seed++) {
            struct rl_backoff backoff;
            struct rl_prng prng;
            int64_t wait = 0;
            rl_prng_seed(&prng, seed);
            rl_backoff_init(&backoff, 10 * MS, 330 * MS);
            for (unsigned i = 0; i <= k; i++)
                wait = rl_backoff_calm_ns(&backoff, &prng);
            ck_assert_int_ge(wait, ceiling / 2);
            ck_assert_int_le(wait, ceiling);
            shortest = wait < shortest ? wait : shortest;
            longest = wait > longest ? wait : longest;
        }
        ck_assert_int_lt(shortest, ceiling / 2 + ceiling / 50);
        ck_assert_int_gt(longest, ceiling - ceiling / 50);
    }
}

TEST(backoff, shortest_calm_wait_is_no_less)
{
    struct rl_backoff backoff;
    struct rl_prng prng;
    rl_prng_seed(&prng, 1);
    rl_backoff_init(&backoff, 1, 2);
    ck_assert_int_eq(rl_backoff_calm_ns(&backoff, &prng), 1);
    for (int i = 0; i < 100; i++) {
        int64_t wait = rl_backoff_calm_ns(&backoff, &prng);
        ck_assert(wait == 1 || wait == 2);
    }
}

/* The largest of many waits comes near the ceiling, the smallest near nothing, and every
 * quarter gets its share: contenders in step are thrown apart. */
TEST(backoff, jitter_is_full)
{
    enum { TRIES = 20000 };
    for (unsigned failures = 0; failures < 8; failures++) {
        struct rl_backoff backoff;
        struct rl_prng prng;
        unsigned quarter[4] = {0};
        int64_t ceiling = 5 * MS << failures;
        if (ceiling > 250 * MS)
            ceiling = 250 * MS;
        rl_prng_seed(&prng, failures);
        for (int i = 0; i < TRIES; i++) {
            rl_backoff_init(&backoff, 5 * MS, 250 * MS);
            backoff.failures = failures;
            int64_t wait = rl_backoff_next_ns(&backoff, &prng);
            ck_assert_int_le(wait, ceiling);
            quarter[(wait - 1) * 4 / ceiling]++;
        }
        for (unsigned i = 0; i < 4; i++) {
            ck_assert_uint_gt(quarter[i], TRIES / 4 - TRIES / 40);
            ck_assert_uint_lt(quarter[i], TRIES / 4 + TRIES / 40);
        }
    }
}

TEST(backoff, reset_begins_anew)
{
    struct rl_backoff backoff;
    struct rl_prng prng;
    rl_prng_seed(&prng, 7);
    rl_backoff_init(&backoff, 10, 1000000);
    for (int i = 0; i < 30; i++)
        rl_backoff_next_ns(&backoff, &prng);
    rl_backoff_reset(&backoff);
    for (int i = 0; i < 1000; i++) {
        ck_assert_int_le(rl_backoff_next_ns(&backoff, &prng), 10);
        rl_backoff_reset(&backoff);
    }
}

TEST(backoff, same_seed_waits_same)
{
    struct rl_backoff one, two;
    struct rl_prng prng_one, prng_two;
    rl_prng_seed(&prng_one, 99);
    rl_prng_seed(&prng_two, 99);
    rl_backoff_init(&one, 1, 1 << 20);
    rl_backoff_init(&two, 1, 1 << 20);
    for (int i = 0; i < 50; i++)
        ck_assert_int_eq(rl_backoff_next_ns(&one, &prng_one),
                         rl_backoff_next_ns(&two, &prng_two));
}

/* Neither the number of failures nor the ceiling runs over. */
TEST(backoff, for_ever_and_ever)
{
    struct rl_backoff backoff;
    struct rl_prng prng;
    rl_prng_seed(&prng, 3);
    rl_backoff_init(&backoff, 1, INT64_MAX / 2);
    unsigned before = 0;
    for (int i = 0; i < 1000; i++) {
        int64_t wait = rl_backoff_next_ns(&backoff, &prng);
        ck_assert_int_ge(wait, 1);
        ck_assert_int_le(wait, INT64_MAX / 2);
        ck_assert_uint_ge(backoff.failures, before);
        before = backoff.failures;
    }
    rl_backoff_init(&backoff, 5, 5); /* nothing to grow */
    for (int i = 0; i < 100; i++)
        ck_assert_int_le(rl_backoff_next_ns(&backoff, &prng), 5);
}

TEST(backoff, no_first_wait, .signal = SIGABRT)
{
    struct rl_backoff backoff;
    rl_backoff_init(&backoff, 0, 10);
}

TEST(backoff, limit_below_first, .signal = SIGABRT)
{
    struct rl_backoff backoff;
    rl_backoff_init(&backoff, 11, 10);
}
