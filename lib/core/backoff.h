/* backoff.h - how long to wait before the next attempt: growing, with full jitter. Core. */
#ifndef RL_BACKOFF_H
#define RL_BACKOFF_H

#include "base/prng.h"

#include <stdint.h>

struct rl_backoff {
    int64_t first_ns;
    int64_t max_ns;
    unsigned failures; /* in a row */
};

void rl_backoff_init(struct rl_backoff *backoff, int64_t first_ns, int64_t max_ns);
void rl_backoff_reset(struct rl_backoff *backoff);

/* Count one more failure; the time to wait: evenly from 1 ns to min(max, first * 2^failures).
 * The jitter is full, because contenders that lost the same round are in step. */
int64_t rl_backoff_next_ns(struct rl_backoff *backoff, struct rl_prng *prng);

/* The same, but never less than half of that bound. Use it for attempts that load a server: it
 * also bounds their number. */
int64_t rl_backoff_calm_ns(struct rl_backoff *backoff, struct rl_prng *prng);

#endif
