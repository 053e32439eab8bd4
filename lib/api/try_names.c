/* try_names.c - redlock_try_names*: several names at once, all or none. The engine sees one
 * lock of a kind of its own, whose name is all of the names. */
#include "config_auto.h"

#include "api/try.h"

#include <string.h>

int redlock_try_names_n(redlock *client, const redlock_bytes *names, size_t count,
                        const redlock_options *options, redlock_lock **ret_lock)
{
    char packed[RL_NAMES_BYTES_MAX];
    const struct rl_names_arg names_arg = {.names = names, .count = count, .packed = packed};
    return rl_try(client, &names_arg, options, ret_lock);
}

int redlock_try_names(redlock *client, const char *const names[], size_t count,
                      const redlock_options *options, redlock_lock **ret_lock)
{
    redlock_bytes bytes[REDLOCK_NAMES_MAX];
    for (size_t i = 0; names && count <= REDLOCK_NAMES_MAX && i < count; i++)
        bytes[i] = (redlock_bytes){
            .bytes = names[i],
            .len = names[i] ? strlen(names[i]) : 0,
        };
    return redlock_try_names_n(client, names ? bytes : NULL, count, options, ret_lock);
}

int redlock_try_names_async(redlock *client, const redlock_bytes *names, size_t count,
                            const redlock_options *options, redlock_done_fn *done,
                            void *context, uint64_t *ret_id)
{
    char packed[RL_NAMES_BYTES_MAX];
    const struct rl_names_arg names_arg = {.names = names, .count = count, .packed = packed};
    return rl_try_async(client, &names_arg, options, done, context, ret_id);
}
