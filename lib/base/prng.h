/* prng.h - a small seeded generator for jitter. Core; never for tokens (entropy.h). */
#ifndef RL_PRNG_H
#define RL_PRNG_H

#include <stdint.h>

struct rl_prng {
    uint64_t state;
};

void rl_prng_seed(struct rl_prng *prng, uint64_t seed);
uint64_t rl_prng_next(struct rl_prng *prng);

/* Evenly from 0 to limit - 1; limit must not be 0. */
uint64_t rl_prng_below(struct rl_prng *prng, uint64_t limit);

#endif
