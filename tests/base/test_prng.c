/* test_prng.c - the generator is the published one, and evenly spread below any limit. */
#include "config_auto.h"

#include "base/prng.h"
#include "suite.h"

#include <signal.h>

/* splitmix64's published numbers for this seed. */
TEST(prng, it_is_splitmix64)
{
    static const uint64_t published[] = {
        UINT64_C(6457827717110365317),  UINT64_C(3203168211198807973),
        UINT64_C(9817491932198370423),  UINT64_C(4593380528125082431),
        UINT64_C(16408922859458223821),
    };
    struct rl_prng prng;
    rl_prng_seed(&prng, 1234567);
    for (unsigned i = 0; i < sizeof(published) / sizeof(published[0]); i++)
        ck_assert_uint_eq(rl_prng_next(&prng), published[i]);
}

TEST(prng, it_stays_below_every_limit)
{
    static const uint64_t limits[] = {1,
                                      2,
                                      3,
                                      1000,
                                      UINT64_C(1) << 32,
                                      (UINT64_C(1) << 63) + 1,
                                      UINT64_MAX};
    struct rl_prng prng;
    rl_prng_seed(&prng, 0);
    for (unsigned k = 0; k < sizeof(limits) / sizeof(limits[0]); k++) {
        for (int i = 0; i < 20000; i++)
            ck_assert_uint_lt(rl_prng_below(&prng, limits[k]), limits[k]);
    }
    ck_assert_uint_eq(rl_prng_below(&prng, 1), 0);
}

TEST(prng, every_result_comes_equally_often)
{
    enum { TRIES = 60000 };
    unsigned seen[6] = {0};
    struct rl_prng prng;
    rl_prng_seed(&prng, 42);
    for (int i = 0; i < TRIES; i++)
        seen[rl_prng_below(&prng, 6)]++;
    for (int i = 0; i < 6; i++) {
        ck_assert_uint_gt(seen[i], TRIES / 6 - 500);
        ck_assert_uint_lt(seen[i], TRIES / 6 + 500);
    }
}

/* Where the limit is three quarters of all numbers, a bare remainder would give the low
 * third half of the results. */
TEST(prng, large_limits_have_no_favourites)
{
    enum { TRIES = 60000 };
    const uint64_t limit = UINT64_C(3) << 62;
    unsigned low = 0;
    struct rl_prng prng;
    rl_prng_seed(&prng, 43);
    for (int i = 0; i < TRIES; i++)
        low += rl_prng_below(&prng, limit) < limit / 3;
    ck_assert_uint_gt(low, TRIES / 3 - 900);
    ck_assert_uint_lt(low, TRIES / 3 + 900);
}

TEST(prng, below_nothing, .signal = SIGABRT)
{
    struct rl_prng prng;
    rl_prng_seed(&prng, 1);
    rl_prng_below(&prng, 0);
}
