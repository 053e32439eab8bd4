/* prng.c - splitmix64: one word of state, passes BigCrush, and any seed will do. Core. */
#include "config_auto.h"

#include "base/prng.h"

#include <assert.h>

void rl_prng_seed(struct rl_prng *prng, uint64_t seed)
{
    prng->state = seed;
}

uint64_t rl_prng_next(struct rl_prng *prng)
{
    prng->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = prng->state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t rl_prng_below(struct rl_prng *prng, uint64_t limit)
{
    assert(limit > 0);
    /* Reject the few values that would make the low results likelier. */
    uint64_t reject_below = (0 - limit) % limit;
    uint64_t value;
    do {
        value = rl_prng_next(prng);
    } while (value < reject_below);
    return value % limit;
}
