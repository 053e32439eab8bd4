/* probe.h - a proof that locks work: a lock is taken and released on each master (probe.c). The
 * mutex must be held. */
#ifndef RL_PROBE_H
#define RL_PROBE_H

#include "engine/client/client.h"
#include "api/status_report.h"

/* Take and release a lock of the target's name on the masters of `status`, whose states are
 * known (rl_status_show). Its kind must have a native pair. Blocks. Returns REDLOCK_OK if it
 * worked on enough masters, REDLOCK_ENOQUORUM, or another error. */
int rl_probe_run(redlock *client, const struct rl_target *target, struct rl_status *status);

#endif
