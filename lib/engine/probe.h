/* probe.h - what the masters prove when a lock is taken and released on each (probe.c). Mutex
 * held. */
#ifndef RL_PROBE_H
#define RL_PROBE_H

#include "engine/client.h"
#include "engine/status.h"

/* Prove it under the target's name, for the masters that `status` tells of. Blocks. Returns
 * REDLOCK_OK where enough have proven it, REDLOCK_ENOQUORUM, or another error. */
int rl_probe_run(redlock *client, const struct rl_target *target, struct rl_status *status);

/* A message on the client's own channel wakes the waiter of this number. False: it is no
 * probe's. */
bool rl_probe_woken(redlock *client, unsigned node, uint64_t number, int64_t now_ns);

#endif
