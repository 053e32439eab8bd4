/* random.c - numbers, sets and orders, drawn from the seed of a run. */
#include "config_auto.h"

#include "chaos/faults/random.h"

#include "core/quorum.h"

#include <assert.h>

int64_t chaos_random_between(struct rl_prng *prng, int64_t min, int64_t max)
{
    assert(min >= 0 && min <= max);
    return min + (int64_t)rl_prng_below(prng, (uint64_t)(max - min) + 1);
}

bool chaos_random_one_in(struct rl_prng *prng, unsigned of)
{
    return rl_prng_below(prng, of) == 0;
}

uint64_t chaos_random_set(struct rl_prng *prng, uint64_t from, unsigned of, unsigned count)
{
    uint64_t set = 0;
    unsigned left = rl_count(from & rl_all(of));
    for (unsigned i = 0; i < of && count > 0; i++) {
        if ((from & rl_bit(i)) == 0)
            continue;
        if (rl_prng_below(prng, left) < count) {
            set |= rl_bit(i);
            count--;
        }
        left--;
    }
    return set;
}

void chaos_random_order(struct rl_prng *prng, enum chaos_fault_kind *kind, unsigned count)
{
    for (unsigned i = count; i > 1; i--) {
        unsigned j = (unsigned)rl_prng_below(prng, i);
        enum chaos_fault_kind other = kind[i - 1];
        kind[i - 1] = kind[j];
        kind[j] = other;
    }
}
