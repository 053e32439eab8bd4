/* lock.h - locks of users, from a pool (lock.c). */
#ifndef RL_API_LOCK_H
#define RL_API_LOCK_H

#include "engine/client/client.h"

/* Users' locks. NULL: out of memory. */
struct redlock_lock *rl_lock_new(redlock *client);
void rl_lock_recycle(struct redlock_lock *lock);

/* Release what the lease of a user's lock that is gone still holds. */
void rl_lock_give_up(struct rl_lease *lease, int64_t now_ns);

/* R21: Work under it never began, so it keeps nobody out beyond its release. `_undo` releases it
 * as well, as redlock_release(). For programs of this project, too. */
void rl_lock_unkeep(redlock_lock *lock);
int rl_lock_undo(redlock_lock *lock);

/* With the client entered: the reason why this lock can't be used (ENOTHELD, EBUSY), or 0. */
int rl_lock_check(const struct redlock_lock *lock);

#endif
