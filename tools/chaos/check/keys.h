/* keys.h - the locks' keys as the masters have them, looked at all along behind the
 * contenders' back: what stays longer than it should is a thing that no contender would tell.
 */
#ifndef CHAOS_KEYS_H
#define CHAOS_KEYS_H

#include "chaos/run.h"

/* What is logged of the value under a key, to be found again on masters; never 0. */
uint64_t chaos_key_of(const char *value, size_t len);

/* Begin to look, with a process for each master that can be asked. Nothing where the locks of
 * this run have no values that can be told apart. False: `why`. */
struct chaos_keys *chaos_keys_start(struct chaos_run *run, char *why, size_t why_size);

/* No more looks; what was found may be read. NULL is allowed, also for the next. */
void chaos_keys_stop(struct chaos_keys *keys);

/* All that stayed longer than half a ttl, in new memory; NULL: errno. */
struct chaos_stay *chaos_keys_stays(const struct chaos_keys *keys, size_t *ret_count);

/* When this master took long to answer; NULL: it was not looked at. */
const struct chaos_stall_log *chaos_keys_silences(const struct chaos_keys *keys, unsigned node);
void chaos_keys_free(struct chaos_keys *keys);

#endif
