/* prepare.h - before and after a run: until all masters vote, and what is left. */
#ifndef CHAOS_PREPARE_H
#define CHAOS_PREPARE_H

#include "chaos/run.h"

/* Wait until every master that can be asked has been up for so long that the restart guard
 * lets it vote, and note the server's version. False: `why`. */
bool chaos_await_votes(struct chaos_run *run, char *why, size_t why_size);

/* End the contenders, and look meanwhile and afterwards which keys of the run's locks the masters
 * have: until there are none, or a max-ttl later. Fills in `left` (where the contenders are ours
 * and end in order: others may be ended amid a try) and `orphans`. */
void chaos_end_contenders(struct chaos_run *run, struct chaos_history *history);

#endif
