/* try.h - what a try asks for: one name, or several at once. Between try.c and try_all.c. */
#ifndef RL_TRY_H
#define RL_TRY_H

#include "names.h"

struct rl_asked {
    const redlock_bytes *names;
    size_t count;
    char *packed; /* RL_NAMES_BYTES_MAX bytes for the names as one; NULL: it is one name */
};

int rl_try(redlock *client, const struct rl_asked *asked, const redlock_options *options,
           redlock_lock **ret_lock);

int rl_try_async(redlock *client, const struct rl_asked *asked, const redlock_options *options,
                 redlock_done_fn *done, void *context, uint64_t *ret_id);

#endif
