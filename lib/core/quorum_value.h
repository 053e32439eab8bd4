/* quorum_value.h - the largest value that a majority of masters reaches. If three masters report
 * 2, 1 and 3 holds, that is 2. A hold counts exactly if a majority has it. Core.
 */
#ifndef RL_QUORUM_VALUE_H
#define RL_QUORUM_VALUE_H

#include "redlock.h"

#include <stdint.h>

struct rl_quorum_values {
    unsigned count;
    int64_t number[REDLOCK_NODES_MAX];
};

/* Add one master's value; -1 is for ever. */
void rl_quorum_value_add(struct rl_quorum_values *values, int64_t number);

/* The largest value that at least `needed` masters reach; 0: too few masters have reported. For
 * ever is above all numbers. */
int64_t rl_quorum_value_reached(struct rl_quorum_values *values, unsigned needed);

#endif
