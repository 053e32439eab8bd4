/* name_set.h - packs several names into the one name of a lease of all of them. The names are
 * sorted, each once, so that the same names in any order give the same bytes. Core.
 *
 *   for each name: its length (2 bytes, big-endian), the name, a NUL
 */
#ifndef RL_NAME_SET_H
#define RL_NAME_SET_H

#include "kinds/kind.h"
#include "base/limits.h"

#define RL_NAMES_BYTES_MAX (REDLOCK_NAME_MAX + 3 * REDLOCK_NAMES_MAX)

/* May a lock have this name? Else `why` is filled in. */
bool rl_name_allowed(const void *name, size_t len, char *why, size_t why_size);

/* May a lock have all the names of this target? */
bool rl_names_allowed(const struct rl_target *target, char *why, size_t why_size);

/* Room for the longest `why` of these. */
#define RL_NAME_WHY_MAX 224

/* Returns the number of bytes, or 0 with `why` filled in: no names, too many, too long, or one
 * that no lock may have. */
size_t rl_names_pack(const redlock_bytes *names, size_t count,
                     char ret_bytes[RL_NAMES_BYTES_MAX], char *why, size_t why_size);

/* Could rl_names_pack() have made these bytes? */
bool rl_names_fit(const void *bytes, size_t len);

/* The names of a target of any kind, one after the other: `at` begins at 0. False: no more. A
 * NUL follows each one of several. */
bool rl_names_next(const struct rl_target *target, size_t *at, redlock_bytes *ret_name);

size_t rl_names_count(const struct rl_target *target);

#endif
