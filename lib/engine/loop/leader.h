/* leader.h - one thread runs the loop, the others sleep (leader.c). The mutex must be held. */
#ifndef RL_LEADER_H
#define RL_LEADER_H

#include <redlock.h>
#include <stdint.h>

struct rl_call;

/* Send what it has queued; lead, or sleep, until it is done. */
void rl_loop_wait(redlock *client, struct rl_call *call, int64_t now_ns);

#endif
