/* close.h - see close.c. */
#ifndef RL_CLOSE_H
#define RL_CLOSE_H

#include <redlock.h>
#include <stdbool.h>

/* Free everything. `in_child`: after a fork, where nothing may be sent. */
void rl_client_destroy(redlock *client, bool in_child);

#endif
