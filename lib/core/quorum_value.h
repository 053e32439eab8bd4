/* quorum_value.h - numbers that masters tell, of which a majority's is wanted: the largest that
 * a majority reaches, of 2, 1 and 3 holds on three masters 2. So a hold that is on a majority
 * is counted, and one that is not, is not. Core.
 */
#ifndef RL_QUORUM_VALUE_H
#define RL_QUORUM_VALUE_H

#include "redlock.h"

#include <stdint.h>

struct rl_quorum_values {
    unsigned count;
    int64_t number[REDLOCK_NODES_MAX];
};

/* One master's; -1 is for ever. */
void rl_quorum_value_add(struct rl_quorum_values *values, int64_t number);

/* What at least `needed` of them reach; 0 where they are too few. For ever is the most. */
int64_t rl_quorum_value_reached(struct rl_quorum_values *values, unsigned needed);

#endif
