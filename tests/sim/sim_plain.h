/* sim_plain.h - the keys of plain locks, as the scripts for one name and for several see them.
 */
#ifndef SIM_PLAIN_H
#define SIM_PLAIN_H

#include "sim_script_parts.h"

bool sim_value_is(const struct sim_key *key, const struct sim_word *word);

/* Is the lock kept for that waiter? */
bool sim_kept_for(const struct sim_key *key, const struct sim_word *waiter);

/* As much of it as a refusal tells. */
struct sim_word sim_value_of(const struct sim_key *key);

/* holder_text.lua: NULL: nobody. False: the script has failed. */
bool sim_holder_of(struct sim_run *run, const struct sim_word *lock,
                   const struct sim_key **ret_key);

/* waiters.lua: is it a waiter's name; is the queue empty, or ours? */
bool sim_is_waiter(const char *name, size_t len);
bool sim_is_free_or_ours(struct sim_run *run, const struct sim_word *queue);

/* wake_next.lua. False: the script has failed. */
bool sim_wake_next(struct sim_run *run, const struct sim_word *lock,
                   const struct sim_word *queue, const struct sim_word *ms);

/* Since when somebody waits, by the server's clock, who has waited for `age` us. False: the
 * script has failed. */
bool sim_waits_since(struct sim_run *run, const struct sim_word *age, double *ret_since);

#endif
