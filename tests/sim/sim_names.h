/* sim_names.h - several names at once: to the simulator one text, "lock-b+lock-a", in the order
 * in which they are asked for. */
#ifndef SIM_NAMES_H
#define SIM_NAMES_H

#include <redlock.h>
#include <stdbool.h>

bool sim_names_several(const char *names);

/* Is one of them among those others? Both may be one name. */
bool sim_names_meet(const char *names, const char *others);

unsigned sim_names_count(const char *names); /* different ones */

/* redlock_try() or redlock_try_async(), or those for several names where there is a plus. */
int sim_names_try(redlock *client, const char *names, const redlock_options *options,
                  redlock_lock **ret_lock);
int sim_names_try_async(redlock *client, const char *names, const redlock_options *options,
                        redlock_done_fn *done, void *context, uint64_t *ret_id);

#endif
