/* backoff.c - see backoff.h. Core. */
#include "config_auto.h"

#include "core/backoff.h"

#include <assert.h>

void rl_backoff_init(struct rl_backoff *backoff, int64_t first_ns, int64_t max_ns)
{
    assert(first_ns > 0 && first_ns <= max_ns);
    assert(max_ns <= INT64_MAX / 2); /* it grows by doubling */
    backoff->first_ns = first_ns;
    backoff->max_ns = max_ns;
    backoff->failures = 0;
}

void rl_backoff_reset(struct rl_backoff *backoff)
{
    assert(backoff->first_ns > 0);
    backoff->failures = 0;
}

/* One more failure: the longest wait after it. */
static int64_t raise_ceiling(struct rl_backoff *backoff)
{
    int64_t ceiling = backoff->first_ns;
    assert(backoff->first_ns > 0 && backoff->first_ns <= backoff->max_ns);
    assert(backoff->failures <= 62);
    for (unsigned i = 0; i < backoff->failures && ceiling < backoff->max_ns; i++)
        ceiling *= 2;
    if (ceiling > backoff->max_ns)
        ceiling = backoff->max_ns;
    if (backoff->failures < 62)
        backoff->failures++;
    assert(ceiling >= backoff->first_ns);
    return ceiling;
}

int64_t rl_backoff_next_ns(struct rl_backoff *backoff, struct rl_prng *prng)
{
    int64_t wait = 1 + (int64_t)rl_prng_below(prng, (uint64_t)raise_ceiling(backoff));
    assert(wait >= 1 && wait <= backoff->max_ns);
    return wait;
}

int64_t rl_backoff_calm_ns(struct rl_backoff *backoff, struct rl_prng *prng)
{
    int64_t ceiling = raise_ceiling(backoff);
    int64_t wait = ceiling - (int64_t)rl_prng_below(prng, (uint64_t)ceiling / 2 + 1);
    assert(wait >= 1 && wait >= ceiling / 2);
    assert(wait <= backoff->max_ns);
    return wait;
}
