/* reentrant_scene.c - see reentrant_scene.h. */
#include "config_auto.h"

#include "reentrant_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const unsigned sizes[2] = {1, 3};

static bool runs(unsigned node)
{
    return masters->node[node].pid != 0 && !masters->node[node].paused;
}

redlock_lock *take_for(redlock *client, const char *owner, int64_t ttl_ms)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock = NULL;
    options.kind = REDLOCK_REENTRANT;
    options.owner = owner;
    options.ttl_ms = ttl_ms;
    int code = redlock_try(client, "name", &options, &lock);
    ck_assert_msg(code == 0 && lock, "%s", redlock_err_name(code));
    return lock;
}

redlock_lock *take(redlock *client, const char *owner)
{
    return take_for(client, owner, CLIENT_TTL_MS);
}

int try_once(redlock *client, const char *owner)
{
    redlock_lock *lock = NULL;
    int code = client_try_as(client, "name", REDLOCK_REENTRANT, owner, 0, &lock);
    if (code == 0)
        ck_assert_int_eq(redlock_release(lock), 0);
    return code;
}

long long count_at(unsigned node)
{
    struct reply reply = master_do(masters, node, "HVALS", "name", NULL);
    ck_assert_int_eq(reply.type, '*');
    return reply.len > 0 ? strtoll(reply.text, NULL, 10) : 0;
}

static bool count_is(long long count)
{
    for (unsigned i = 0; i < masters->n; i++) {
        if (!runs(i))
            continue;
        struct reply tokens = master_do(masters, i, "SCARD", "{name}:redlock:holds", NULL);
        if (count_at(i) != count || tokens.number != count)
            return false;
    }
    return true;
}

void count_becomes(long long count)
{
    ck_assert_msg(wait_until(count_is(count), 5000), "the first master counts %lld, not %lld",
                  count_at(0), count);
}

const char *owner_there(void)
{
    static char owner[256];
    struct reply reply = master_do(masters, 0, "HKEYS", "name", NULL);
    snprintf(owner, sizeof(owner), "%.255s", reply.text);
    return owner;
}

static long long left_ms(bool least)
{
    long long left = -1;
    for (unsigned i = 0; i < masters->n; i++) {
        const char *const keys[] = {"name", "{name}:redlock:holds"};
        for (unsigned k = 0; runs(i) && k < 2; k++) {
            long long here = master_do(masters, i, "PTTL", keys[k], NULL).number;
            if (left < 0 || (least ? here < left : here > left))
                left = here;
        }
    }
    return left;
}

long long least_left_ms(void)
{
    return left_ms(true);
}

long long most_left_ms(void)
{
    return left_ms(false);
}
