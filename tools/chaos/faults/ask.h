/* ask.h - may faults be done to masters that were not started here? */
#ifndef CHAOS_ASK_H
#define CHAOS_ASK_H

#include "chaos/run.h"

/* If these masters need a yes, --yes is not given and a user is at the terminal: list the
 * faults, and ask. `named`: the faults named one by one. A yes acts as --yes would; otherwise
 * nothing changes. */
void chaos_ask_leave(const struct chaos_run *run, struct chaos_options *options,
                     uint64_t named);

#endif
