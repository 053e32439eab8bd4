/* told.c - see told.h. */
#include "config_auto.h"

#include "told.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

static atomic_uint places;

static void note(struct told *told, int result, redlock_lock *lock)
{
    told->result = result;
    told->lock = lock;
    told->validity_ms = redlock_validity_ms(lock);
    told->at_ms = now_ms();
    told->thread = pthread_self();
    told->place = atomic_fetch_add(&places, 1) + 1;
    atomic_fetch_add(&told->calls, 1);
}

void told_done(void *context, int result, redlock_lock *lock)
{
    note(context, result, lock);
}

void told_lost(void *context, redlock_lock *lock)
{
    note(context, 0, lock);
}

void told_turn(redlock *client, int64_t limit_ms)
{
    struct pollfd ready = {.fd = redlock_fd(client), .events = POLLIN};
    int timeout = redlock_timeout_ms(client);
    ck_assert_int_ge(ready.fd, 0);
    if (timeout < 0 || timeout > limit_ms)
        timeout = (int)limit_ms;
    int count = poll(&ready, 1, timeout);
    ck_assert(count >= 0 || errno == EINTR);
    ck_assert_int_eq(redlock_process(client), 0);
}

uint64_t told_try(redlock *client, const char *name, int64_t wait_ms, struct told *told)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    uint64_t id = 0;
    options.ttl_ms = CLIENT_TTL_MS;
    options.wait_ms = wait_ms;
    int code = redlock_try_async_n(client, name, strlen(name), &options, told_done, told, &id);
    ck_assert_msg(code == 0, "%s", redlock_err_name(code));
    return id;
}

redlock_lock *told_take_renewed(redlock *client, const char *name, int64_t ttl_ms,
                                struct told *lost)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock = NULL;
    options.ttl_ms = ttl_ms;
    options.auto_renew = 1;
    options.on_lost = lost ? told_lost : NULL;
    options.lost_context = lost;
    int code = redlock_try(client, name, &options, &lock);
    ck_assert_msg(code == 0 && lock, "%s: %s", name, redlock_err_name(code));
    return lock;
}
