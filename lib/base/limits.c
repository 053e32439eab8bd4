/* limits.c - the bounds that programs meet, which the simulator has in other sizes. */
#include "config_auto.h"

#include "base/limits.h"

const struct rl_limits rl_limits = RL_LIMITS;
