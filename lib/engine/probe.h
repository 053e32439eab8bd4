/* probe.h - wake-ups that a probe of the masters (probe.c) waits for. Mutex held. */
#ifndef RL_PROBE_H
#define RL_PROBE_H

#include "engine/client.h"

/* A message on the client's own channel wakes the waiter of this number. False: it is no
 * probe's. */
bool rl_probe_woken(redlock *client, unsigned node, uint64_t number, int64_t now_ns);

#endif
