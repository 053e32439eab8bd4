/* target.c - see target.h. */
#include "config_auto.h"

#include "node/target.h"

#include <assert.h>
#include <redlock.h>
#include <stdlib.h>
#include <string.h>

int rl_target_keep(struct rl_target *ret_kept, struct rl_target_bytes *bytes,
                   const struct rl_target *target)
{
    size_t size = target->name_len + target->owner_len + 2;
    assert(!bytes->at || target->name != bytes->at); /* they may move */
    if (bytes->size < size) {
        char *grown = realloc(bytes->at, size);
        if (!grown)
            return REDLOCK_ENOMEM;
        *bytes = (struct rl_target_bytes){.at = grown, .size = size};
    }
    char *owner = bytes->at + target->name_len + 1;
    memcpy(bytes->at, target->name, target->name_len);
    owner[-1] = '\0';
    if (target->owner_len > 0)
        memcpy(owner, target->owner, target->owner_len);
    owner[target->owner_len] = '\0';
    *ret_kept = *target;
    ret_kept->name = bytes->at;
    ret_kept->owner = owner;
    return 0;
}
