/* confirm.h - may faults be done to masters that were not started here? */
#ifndef CHAOS_CONFIRM_H
#define CHAOS_CONFIRM_H

#include "chaos/run.h"

/* If these masters need a yes, --yes is not given and a user is at the terminal: list the
 * faults, and ask. `named`: the faults named one by one. A yes acts as --yes would; otherwise
 * nothing changes. */
void chaos_confirm_faults(const struct chaos_run *run, struct chaos_options *options,
                          uint64_t named);

#endif
