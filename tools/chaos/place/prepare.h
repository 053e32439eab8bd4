/* prepare.h - before a run: waits until all masters vote. After a run: looks for keys that are
 * left. */
#ifndef CHAOS_PREPARE_H
#define CHAOS_PREPARE_H

#include "chaos/run.h"

/* Wait until the restart guard lets every master vote that can be asked, and note the server's
 * version. False: `why`. */
bool chaos_await_votes(struct chaos_run *run, char *why, size_t why_size);

/* End the contenders. Meanwhile and afterwards, look for keys of the run's locks on the
 * masters, until there are none, or for a max-ttl. Fills in `orphans` and `left`. `left` is
 * filled in only for our own contenders, which end in order; others may be ended amid a try. */
void chaos_end_contenders(struct chaos_run *run, struct chaos_history *history);

#endif
