/* entropy.c - the only place that asks for random bytes. */
#include "config_auto.h"

#include "base/entropy.h"
#include "base/limits.h"

#include <assert.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <uuid/uuid.h>

int rl_entropy_bytes(void *ret_bytes, size_t size)
{
    assert(ret_bytes);
    assert(size > 0 && size <= INT_MAX);

    /* RAND_bytes() reseeds itself after fork(). Its errors must not stay in the application's
     * error queue; earlier errors must. */
    ERR_set_mark();
    int done = RAND_bytes(ret_bytes, (int)size);
    ERR_pop_to_mark();
    return done == 1 ? 0 : REDLOCK_ERANDOM;
}

void rl_entropy_uuid(char ret_uuid[RL_UUID_LEN + 1])
{
    uuid_t id;

    assert(ret_uuid);
    uuid_generate_random(id);
    uuid_unparse_lower(id, ret_uuid);
}
