/* run_schedule.h - the schedule, played: faults begun, looked at and undone in their time. */
#ifndef CHAOS_RUN_SCHEDULE_H
#define CHAOS_RUN_SCHEDULE_H

#include "chaos/run.h"

/* Remove from `faults` the kinds that can't be done here. If one of them is in `named`, returns
 * false with `why`. Other kinds removed are listed on stdout. */
bool chaos_run_schedule_possible(struct chaos_run *run, uint64_t named, uint64_t *faults,
                                 char *why, size_t why_size);

/* Runs until the duration is over, a signal has come, or something has failed. No fault is in
 * force when it returns. */
void chaos_run_schedule(struct chaos_run *run);

#endif
