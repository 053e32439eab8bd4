/* sim_reentrant.h - what fair locks share with reentrant ones, as the scripts do: how a token
 * is taken, and given back. */
#ifndef SIM_REENTRANT_H
#define SIM_REENTRANT_H

#include "sim_script_parts.h"

/* What take() returns, in reentrant_take.lua. */
struct sim_taken {
    enum rl_code code;
    int64_t left_ms; /* and who has it, or what stands there; where it was refused */
    size_t len;
    char who[SIM_MEMBER_MAX + 1];
};

/* False: the script has failed, and that has been answered. */
bool sim_reentrant_take(struct sim_run *run, struct sim_taken *ret);
bool sim_reentrant_give(struct sim_run *run, bool *ret_mine);

/* {ARGV[1], 1}, or why not, and `place` where it is not NULL. */
void sim_taken_answer(struct sim_run *run, const struct sim_taken *taken, const int64_t *place);

#endif
