/* owner.c - see owner.h. The numbers of threads are the only state outside of clients. The
 * system's thread ids will not do, because they are reused. A new thread would be taken for
 * the owner of locks that an ended thread has left. */
#include "config_auto.h"

#include "engine/client/owner.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t thread_number(void)
{
    static atomic_uint_fast64_t last;
    static _Thread_local uint64_t number;
    if (number == 0)
        number = atomic_fetch_add(&last, 1) + 1;
    return number;
}

size_t rl_owner_text(const struct rl_client_identity *identity, char ret_text[RL_OWNER_MAX + 1])
{
    int len =
        snprintf(ret_text, RL_OWNER_MAX + 1, "%s:%" PRIu64, identity->uuid, thread_number());
    assert(len > RL_UUID_LEN && len <= RL_OWNER_MAX);
    return (size_t)len;
}

bool rl_owner_allowed(const char *owner, const char **ret_why)
{
    static const char writer[] = ":write"; /* as Redisson marks the writer among owners */
    size_t len = strlen(owner);
    size_t suffix = sizeof(writer) - 1;
    *ret_why =
        "an owner is a text of 1 to 128 bytes, other than \"mode\" and without \":write\" "
        "at its end";
    return len > 0 && len <= RL_OWNER_MAX && strcmp(owner, "mode") != 0 &&
           !(len >= suffix && strcmp(owner + len - suffix, writer) == 0);
}
