/* status.h - checks every master, as a part of a blocking call. */
#ifndef RL_API_STATUS_H
#define RL_API_STATUS_H

#include "engine/status.h"

/* Wait until the masters are known, send each a PING, and write the state of each. The caller
 * must have entered the client for a call that blocks. As redlock_get_status(). */
int rl_status_check(redlock *client, redlock_status_report *to, struct rl_status *ret_status);

#endif
