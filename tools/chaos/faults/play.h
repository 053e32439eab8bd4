/* play.h - the schedule, played: faults begun, looked at and undone in their time. */
#ifndef CHAOS_PLAY_H
#define CHAOS_PLAY_H

#include "chaos/run.h"

/* Take out of `faults` what can't be done here. What `named` has of it is refused: false, with
 * `why`. What is left out besides is told on stdout. */
bool chaos_play_possible(struct chaos_run *run, uint64_t named, uint64_t *faults, char *why,
                         size_t why_size);

/* Until the duration is over, a signal has come, or something has failed; nothing is in force
 * when it returns. */
void chaos_play(struct chaos_run *run);

#endif
