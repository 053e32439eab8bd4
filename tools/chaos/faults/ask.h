/* ask.h - may faults be done to masters that were not started here? */
#ifndef CHAOS_ASK_H
#define CHAOS_ASK_H

#include "chaos/run.h"

/* Where that is a question, --yes has not answered it, and somebody sits at the terminal: say
 * what would be done, and ask. `named`: faults that were, one by one. A yes is as if --yes had
 * been given; otherwise nothing changes.
 */
void chaos_ask_leave(const struct chaos_run *run, struct chaos_options *options,
                     uint64_t named);

#endif
