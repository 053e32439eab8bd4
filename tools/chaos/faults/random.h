/* random.h - numbers, sets and orders, drawn from the seed of a run. A set has a bit for each
 * master, or each contender. */
#ifndef CHAOS_RANDOM_H
#define CHAOS_RANDOM_H

#include "chaos/chaos.h"

#include "base/prng.h"

/* From `min` to `max`, both included. */
int64_t chaos_random_between(struct rl_prng *prng, int64_t min, int64_t max);

/* True once in `of` times. */
bool chaos_random_one_in(struct rl_prng *prng, unsigned of);

/* `count` of the first `of` that are in `from`. */
uint64_t chaos_random_set(struct rl_prng *prng, uint64_t from, unsigned of, unsigned count);

/* Put the kinds into another order. */
void chaos_random_order(struct rl_prng *prng, enum chaos_fault_kind *kind, unsigned count);

#endif
