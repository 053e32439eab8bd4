/* status.h - a look at every master, as a part of a blocking call. */
#ifndef RL_API_STATUS_H
#define RL_API_STATUS_H

#include "engine/status.h"

/* Wait for the masters to be known, ask each for a PING, and write what each is worth. The
 * caller has entered the client for a call that blocks. As redlock_get_status(). */
int rl_status_check(redlock *client, redlock_status_report *to, struct rl_status *ret_status);

#endif
