/* hold_parts.h - between hold.c, hold_fence.c and hold_replies.c. Core. */
#ifndef RL_HOLD_PARTS_H
#define RL_HOLD_PARTS_H

#include "core/hold.h"

/* Assert what is true of a hold in every phase. Each handler must begin with it. */
void rl_hold_assert(const struct rl_hold *hold);

/* A key of ours may be set, or extended, as late as now. */
void rl_hold_outlast(struct rl_hold *hold, int64_t now_ns);

/* hold_keep.c: it is HELD now; the nodes whose keys are left alone if it ends now. */
void rl_hold_begin_keeping(struct rl_hold *hold);
uint64_t rl_hold_to_keep(const struct rl_hold *hold, int64_t now_ns);
int64_t rl_keep_ttl_ms(int64_t at_least_ms, double drift_factor);

/* ENDING, and this node may have the key: it is told the release, unless its key is left. */
void rl_hold_owe_release(struct rl_hold *hold, uint64_t bit);

/* The only ways into HELD and ENDING. Won, but no time is left: RL_EV_REFUSED. */
unsigned rl_hold_become_held(struct rl_hold *hold, int64_t now_ns);
void rl_hold_end(struct rl_hold *hold, int64_t now_ns);

void rl_hold_begin_extends(struct rl_hold *hold, int64_t t0_ns, int64_t ttl_ns,
                           int64_t node_deadline_ns, uint64_t nodes);

/* A round is over: retake the lock on nodes that came back meanwhile. RL_DO_RETAKE, or 0. */
unsigned rl_hold_retake_back(struct rl_hold *hold);

/* Has a majority the fencing token? It is decided anew, by the grants so far. */
bool rl_hold_has_token(struct rl_hold *hold);

/* Decide the open round by its votes. They return a set, as rl_hold_answer() does. */
unsigned rl_hold_judge_ask(struct rl_hold *hold, int64_t now_ns);
unsigned rl_hold_judge_fence(struct rl_hold *hold, int64_t now_ns);
unsigned rl_hold_judge_extend(struct rl_hold *hold, int64_t now_ns);
unsigned rl_hold_check_release(struct rl_hold *hold);

#endif
