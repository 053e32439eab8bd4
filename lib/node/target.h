/* target.h - a target that outlives the caller's bytes. */
#ifndef RL_TARGET_H
#define RL_TARGET_H

#include "kinds/kind.h"

/* The bytes of a kept target. All zero: none. Whoever has them frees them. */
struct rl_target_bytes {
    char *at;
    size_t size;
};

/* Copy the target. Its name and its owner, each with a NUL, are kept in `bytes`, which grow as
 * needed. 0 or REDLOCK_ENOMEM. */
int rl_target_keep(struct rl_target *ret_kept, struct rl_target_bytes *bytes,
                   const struct rl_target *target);

#endif
