/* hold_parts.h - between hold.c and hold_replies.c. Core. */
#ifndef RL_HOLD_PARTS_H
#define RL_HOLD_PARTS_H

#include "core/hold.h"

/* At each handler's door: what is true of a hold in every phase. */
void rl_hold_assert(const struct rl_hold *hold);

/* A key of ours may be made, or made to last, as late as now. */
void rl_hold_outlast(struct rl_hold *hold, int64_t now_ns);

/* What the votes of the open round have come to: a set, as rl_hold_answer() returns it. */
unsigned rl_hold_judge_ask(struct rl_hold *hold, int64_t now_ns);
unsigned rl_hold_judge_extend(struct rl_hold *hold, int64_t now_ns);
unsigned rl_hold_check_release(struct rl_hold *hold);

#endif
