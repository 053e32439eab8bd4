/* engine.h - the tables of callbacks through which the loop, nodes and subscribers reach the
 * rest of a client. The parts get these tables when the client is opened. */
#ifndef RL_ENGINE_H
#define RL_ENGINE_H

#include "engine/client/client.h"

extern const struct rl_loop_hooks rl_engine_hooks;
extern const struct rl_node_events rl_engine_node_events;
extern const struct rl_sub_events rl_engine_sub_events;

/* Has the clock gone back? Then every lock that was held is lost. */
void rl_engine_see_to_clock(redlock *client, int64_t now_ns);

#endif
