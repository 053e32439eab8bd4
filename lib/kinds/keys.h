/* keys.h - the keys and channels of a lock, made of its name and owner. Core.
 *
 * A letter each, as the table of kinds (kind.c) has them:
 *   n  NAME                              the lock
 *   q  {NAME}:redlock:queue              the waiters of a plain lock
 *   h  {NAME}:redlock:holds              the tokens of its holders
 *   s  {NAME}:redlock:seen               when each waiter of a fair lock last asked
 *   m  {NAME}:redlock:writer             a writer waits
 *   R  {NAME}:redlock:readers            readers wait
 *   F  {NAME}:redlock:fence              the counter of fencing tokens; of several names, each
 *   B  {NAME}:redlock:broken             that it was broken by hand; scripts make its name
 *   b  {NAME}                            as Redisson names what belongs to a lock
 *   c  redisson_lock__channel:{NAME}     where Redisson's locks tell of a release
 *   f  redisson_lock__channel:{NAME}:OWNER       and its fair ones
 *   C  redisson_rwlock:{NAME}            and its read-write locks
 *   Q  redisson_lock_queue:{NAME}        the waiters of a fair lock
 *   O  redisson_lock_timeout:{NAME}      and for how long
 *   r  {NAME}:OWNER:rwlock_timeout       the leases of a reader
 *   k  redisson_lock_token:{NAME}        the counter of Redisson's fenced locks
 *   N  every name of several             M  and the waiters of each
 *
 * Our own keys are in the hash slot of NAME. In a Redis Cluster, the text between the first "{"
 * and the "}" that follows decides on the slot, if there is any. Where NAME has a "}" itself, our
 * keys are NAME{}:redlock:queue and so on, and such a text in NAME still decides. A NAME with a
 * "}" and no such text has keys in other slots (rl_key_slot_clash).
 *
 * Redisson puts no braces around a NAME that has a "{" itself. Here, where NAME is in braces as a
 * whole, Redisson's formats have braces around it all the same, so that this is another name than
 * the one inside them. Redisson knows no lock of such a name (key_rules.h).
 */
#ifndef RL_KEYS_H
#define RL_KEYS_H

#include "kinds/kind.h"
#include "base/limits.h"

#define RL_KEY_MAX (REDLOCK_NAME_MAX + RL_OWNER_MAX + 64)

/* Is it in braces as a whole, as "{orders}"? */
bool rl_name_in_braces(const char *name, size_t len);

/* The key as bytes (N, M and F: of the one name that the target then has). Returns the length.
 */
size_t rl_key_text(char letter, const struct rl_target *target, char ret_text[RL_KEY_MAX]);

/* The channel that tells waiters of releases; only for kinds that have one (not
 * RL_WAKEUP_CLIENT). Returns the length. */
size_t rl_key_channel(const struct rl_target *target, char ret_text[RL_KEY_MAX]);

/* The name of a waiter on masters: the client's id and a number. Returns the length. */
size_t rl_waiter_text(const char *uuid, uint64_t number, char ret_text[RL_WAITER_MAX]);

#endif
