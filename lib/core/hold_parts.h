/* hold_parts.h - between hold.c and hold_replies.c. Core. */
#ifndef RL_HOLD_PARTS_H
#define RL_HOLD_PARTS_H

#include "core/hold.h"

/* Assert what is true of a hold in every phase. Each handler must begin with it. */
void rl_hold_assert(const struct rl_hold *hold);

/* A key of ours may be set, or extended, as late as now. */
void rl_hold_outlast(struct rl_hold *hold, int64_t now_ns);

/* Decide the open round by its votes. They return a set, as rl_hold_answer() does. */
unsigned rl_hold_judge_ask(struct rl_hold *hold, int64_t now_ns);
unsigned rl_hold_judge_fence(struct rl_hold *hold, int64_t now_ns);
unsigned rl_hold_judge_extend(struct rl_hold *hold, int64_t now_ns);
unsigned rl_hold_check_release(struct rl_hold *hold);

#endif
