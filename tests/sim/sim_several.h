/* sim_several.h - between the files of the scripts for several names. */
#ifndef SIM_SEVERAL_H
#define SIM_SEVERAL_H

#include "sim_plain.h"

enum { SIM_SHOWN_MAX = 512 /* of what stands under a name */ };

/* What GET says of a name: nothing, a value, or that it can't be had. */
enum sim_seen { SIM_NOBODY, SIM_SOMEBODY, SIM_NO_STRING };
enum sim_seen sim_several_look(struct sim_run *run, const struct sim_word *lock,
                               const struct sim_key **ret_key, const char **ret_error);

/* How many names there are, where there are as many queues behind them; KEYS[count + i]. */
unsigned sim_several_names(const struct sim_run *run);
const struct sim_word *sim_several_queue(const struct sim_run *run, unsigned i);

/* Parts of scripts. False: it has failed. */
bool sim_several_takes(struct sim_run *run, const struct sim_word *lock);
bool sim_several_left(struct sim_run *run, const struct sim_word *lock, int64_t *ret_left_ms);
bool sim_several_waiter(struct sim_run *run, const struct sim_word *waiter);

/* several_blocked.lua of what is no string: answered, or failed. */
void sim_several_foreign_data(struct sim_run *run, const struct sim_word *lock,
                              const char *error, int64_t left_ms, const int64_t *place);

sim_script_fn sim_several_wait;

#endif
