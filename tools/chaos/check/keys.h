/* keys.h - the locks' keys on the masters, looked at during the whole run without the
 * contenders. A key that stays too long is a fault that no contender would report. */
#ifndef CHAOS_KEYS_H
#define CHAOS_KEYS_H

#include "chaos/run.h"

/* The number logged for the value of a key, to recognise the key on masters. Never 0. */
uint64_t chaos_key_of(const char *value, size_t len);

/* Begin to look, with a process for each master that can be asked. Does nothing if this run's
 * locks have values that can't be told apart. False: `why`. */
struct chaos_keys *chaos_keys_start(struct chaos_run *run, char *why, size_t why_size);

/* Stop looking; the results may then be read. NULL is allowed, also for the next. */
void chaos_keys_stop(struct chaos_keys *keys);

/* All that stayed longer than half a ttl, in new memory; NULL: errno. */
struct chaos_stay *chaos_keys_stays(const struct chaos_keys *keys, size_t *ret_count);

/* The times at which this master took long to answer. NULL: it was not looked at. */
const struct chaos_stall_log *chaos_keys_silences(const struct chaos_keys *keys, unsigned node);
void chaos_keys_free(struct chaos_keys *keys);

#endif
