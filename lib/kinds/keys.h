/* keys.h - the keys and channels of a lock, made of its name and owner. Core.
 *
 * A letter each, as the table of kinds (kind.c) has them:
 *   n  NAME                              the lock
 *   q  NAME:redlock:queue                the waiters of a plain lock
 *   h  NAME:redlock:holds                the tokens of its holders
 *   s  NAME:redlock:seen                 when each waiter of a fair lock last asked
 *   m  NAME:redlock:writer               a writer waits
 *   R  NAME:redlock:readers              readers wait
 *   b  {NAME}                            as Redisson names what belongs to a lock
 *   c  redisson_lock__channel:{NAME}     where Redisson's locks tell of a release
 *   f  redisson_lock__channel:{NAME}:OWNER       and its fair ones
 *   C  redisson_rwlock:{NAME}            and its read-write locks
 *   Q  redisson_lock_queue:{NAME}        the waiters of a fair lock
 *   O  redisson_lock_timeout:{NAME}      and for how long
 *   r  {NAME}:OWNER:rwlock_timeout       the leases of a reader
 *   F  NAME:redlock:fence                the counter of fencing tokens; of several names, each
 *   k  redisson_lock_token:{NAME}        the same of Redisson's fenced locks
 *   B  NAME:redlock:broken              that it was broken by hand; scripts make its name
 *   N  every name of several             M  and the waiters of each
 *
 * Redisson leaves the braces out where NAME has one itself.
 */
#ifndef RL_KEYS_H
#define RL_KEYS_H

#include "kinds/kind.h"
#include "base/limits.h"

#define RL_KEY_MAX (REDLOCK_NAME_MAX + RL_OWNER_MAX + 64)

/* The key as bytes (N, M and F: of the one name that the target then has). Returns the length.
 */
size_t rl_key_text(char letter, const struct rl_target *target, char ret_text[RL_KEY_MAX]);

/* The channel that tells waiters of releases; only for kinds that have one (not
 * RL_WAKEUP_CLIENT). Returns the length. */
size_t rl_key_channel(const struct rl_target *target, char ret_text[RL_KEY_MAX]);

/* The name of a waiter on masters: the client's id and a number. Returns the length. */
size_t rl_waiter_text(const char *uuid, uint64_t number, char ret_text[RL_WAITER_MAX]);

#endif
