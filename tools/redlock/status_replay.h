/* status_replay.h - may a master's default user run what scripts wrote? As that user some
 * servers read their append-only file, and drop each block that it may not run. */
#ifndef REDLOCK_STATUS_REPLAY_H
#define REDLOCK_STATUS_REPLAY_H

#include "redlock/status_facts.h"

#include "net/resp.h"

#define STATUS_REPLAYS 5 /* questions */

/* The next question; NULL: there is none, or no need. `number` counts from 0, and names begin
 * so. */
const char *status_replay_request(const struct status_facts *facts, unsigned number,
                                  const char *prefix, char *request, size_t size);

/* Its answer. NULL, or why no more is to be asked. */
const char *status_replay_heard(struct status_facts *facts, unsigned number,
                                const struct rl_reply *reply);

#endif
