/* chaos_prepare.h - before and after a run: until all masters vote, and what is left. */
#ifndef CHAOS_PREPARE_H
#define CHAOS_PREPARE_H

#include "chaos_run.h"

/* Wait until every master that can be asked has been up for so long that the restart guard
 * lets it vote, and note the server's version. False: `why`. */
bool chaos_await_votes(struct chaos_run *run, char *why, size_t why_size);

/* Keys of the run's locks that each master still has a max-ttl after its end. */
void chaos_count_orphans(struct chaos_run *run, unsigned ret_keys[REDLOCK_NODES_MAX]);

#endif
