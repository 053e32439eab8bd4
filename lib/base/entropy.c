/* entropy.c - the only place that asks for random bytes. */
#include "config_auto.h"

#include "base/entropy.h"
#include "base/limits.h"
#include "base/openssl_gate.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <stdbool.h>
#include <sys/random.h>
#include <uuid/uuid.h>

/* The kernel's generator. It blocks only until it has been seeded once, early in the boot. */
static bool draw_from_kernel(unsigned char *ret_bytes, size_t size)
{
    size_t got = 0;
    while (got < size) {
        ssize_t more = getrandom(ret_bytes + got, size - got, 0);
        if (more > 0)
            got += (size_t)more;
        else if (more == 0 || errno != EINTR)
            return false;
    }
    return true;
}

/* Its errors must not stay in the application's error queue; earlier errors must. */
static bool draw_from_openssl(unsigned char *ret_bytes, size_t size)
{
    if (!rl_openssl_enter())
        return false;
    ERR_set_mark();
    int done = RAND_bytes(ret_bytes, (int)size);
    ERR_pop_to_mark();
    rl_openssl_leave();
    return done == 1;
}

/* Both serve forked children with bytes of their own. */
int rl_entropy_bytes(void *ret_bytes, size_t size)
{
    assert(ret_bytes);
    assert(size > 0 && size <= INT_MAX);
    bool drawn = draw_from_kernel(ret_bytes, size) || draw_from_openssl(ret_bytes, size);
    return drawn ? 0 : REDLOCK_ERANDOM;
}

void rl_entropy_uuid(char ret_uuid[RL_UUID_LEN + 1])
{
    uuid_t id;

    assert(ret_uuid);
    uuid_generate_random(id);
    uuid_unparse_lower(id, ret_uuid);
}
