/* schedule.h - which fault when: a pure function of the options and their seed. */
#ifndef CHAOS_SCHEDULE_H
#define CHAOS_SCHEDULE_H

#include "chaos/chaos.h"

/* How long a run must last for each requested kind to occur. */
int64_t chaos_schedule_needs_ms(const struct chaos_options *options, unsigned nodes);

/* How long a restarted master does not vote, as contenders see it. */
int64_t chaos_schedule_guard_ms(const struct chaos_options *options);

#endif
