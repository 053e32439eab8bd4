/* test_lock_delay.c - lock-delay on real masters: the keys of a lock that was not released
 * outlive its validity, and a release ends that. */
#include "config_auto.h"

#include "clients.h"
#include "told.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG_DELAY "max-ttl 30s\nlock-delay 20s\n"

/* Kinds that one master has. */
static const int kinds[] = {REDLOCK_PLAIN, REDLOCK_REENTRANT, REDLOCK_FAIR, REDLOCK_READ,
                            REDLOCK_WRITE};
enum {
    KINDS = sizeof(kinds) / sizeof(kinds[0]),
    PATIENT_MS = 10000
}; /* less than LONG_DELAY */

static int try_as(redlock *client, int kind, int64_t ttl_ms, int64_t wait_ms,
                  redlock_lock **ret_lock)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.kind = kind;
    options.owner = kind == REDLOCK_PLAIN ? NULL : client == one ? "one" : "two";
    options.ttl_ms = ttl_ms;
    options.wait_ms = wait_ms;
    return redlock_try(client, "name", &options, ret_lock);
}

static redlock_lock *take(int kind, int64_t ttl_ms)
{
    redlock_lock *lock = NULL;
    ck_assert_int_eq(try_as(one, kind, ttl_ms, 0, &lock), 0);
    return lock;
}

/* The other client does not get it for now; after a release it does, long before the lock-delay
 * ends. */
static void expect_kept_until_released(redlock_lock *lock, int kind)
{
    redlock_lock *other = NULL;
    ck_assert(wait_until(redlock_validity_ms(lock) == 0, 5000));
    ck_assert_int_eq(try_as(two, kind, 1000, 300, &other), REDLOCK_EHELD);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    ck_assert_int_eq(try_as(two, kind, 1000, PATIENT_MS, &other), 0);
    ck_assert_int_eq(redlock_release(other), 0);
}

TEST(all, key_outlives_validity, .rows = KINDS)
{
    OPEN_CLIENTS(1, LONG_DELAY);
    redlock_lock *lock = take(kinds[_i], 5000);
    ck_assert_int_le(redlock_validity_ms(lock), 5000);
    long long left_ms = master_do(masters, 0, "PTTL", "name", NULL).number;
    ck_assert_int_gt(left_ms, 20000);
    ck_assert_int_le(left_ms, 25000);
    ck_assert_int_eq(redlock_extend(lock, 9000, NULL), 0);
    ck_assert_int_le(redlock_validity_ms(lock), 9000);
    left_ms = master_do(masters, 0, "PTTL", "name", NULL).number;
    ck_assert_int_gt(left_ms, 24000);
    ck_assert_int_le(left_ms, 29000);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert(!master_has(masters, 0, "name"));
}

TEST(all, expired_lock_is_kept_until_released, .rows = KINDS)
{
    OPEN_CLIENTS(1, LONG_DELAY);
    int excluded = kinds[_i] == REDLOCK_READ ? REDLOCK_WRITE : kinds[_i];
    expect_kept_until_released(take(kinds[_i], 200), excluded);
}

TEST(all, lost_lock_is_kept_until_released)
{
    struct told lost = {0};
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock = NULL;
    OPEN_CLIENTS(3, LONG_DELAY);
    options.ttl_ms = 1000;
    options.auto_renew = 1;
    options.max_hold_ms = 300;
    options.on_lost = told_lost;
    options.lost_context = &lost;
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), 0);
    ck_assert(wait_until(redlock_validity_ms(lock) == 0, 5000));
    expect_kept_until_released(lock, REDLOCK_PLAIN);
}

/* What a call finds expired that was not watched. */
TEST(all, lock_that_is_extended_too_late_is_kept_until_released)
{
    OPEN_CLIENTS(3, LONG_DELAY);
    redlock_lock *lock = take(REDLOCK_PLAIN, 200);
    ck_assert(wait_until(redlock_validity_ms(lock) == 0, 5000));
    ck_assert_int_eq(redlock_extend(lock, 0, NULL), REDLOCK_EEXPIRED);
    expect_kept_until_released(lock, REDLOCK_PLAIN);
}

TEST(all, release_ends_it_at_once)
{
    redlock_lock *other = NULL;
    OPEN_CLIENTS(3, LONG_DELAY);
    redlock_lock *lock = take(REDLOCK_PLAIN, 5000);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_int_eq(try_as(two, REDLOCK_PLAIN, 1000, PATIENT_MS, &other), 0);
    redlock_release(other);
}

static void hold_until_killed(const char *file, int ready)
{
    redlock *client = client_open(file);
    redlock_lock *lock = NULL;
    if (client_try(client, "name", 500, 0, NULL, &lock) == 0 && write(ready, "", 1) == 1)
        for (;;)
            pause();
    _exit(1);
}

TEST(all, killed_holders_lock_is_free_after_delay)
{
    int ready[2];
    char byte;
    redlock_lock *lock = NULL;
    masters = masters_start(3, NULL);
    const char *file = masters_file(masters, "max-ttl 5s\nlock-delay 1500ms\n");
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    int64_t asked_ms = now_ms();
    if (child == 0)
        hold_until_killed(file, ready[1]);
    close(ready[1]);
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    redlock *client = client_open(file);
    ck_assert_int_eq(client_try(client, "name", 1000, 20000, NULL, &lock), 0);
    ck_assert_int_ge(now_ms() - asked_ms, 2000);
    ck_assert_int_eq(redlock_release(lock), 0);
    redlock_close(client);
    close(ready[0]);
}

TEST(all, ttl_and_delay_are_at_most_max_ttl)
{
    redlock_lock *lock = NULL;
    OPEN_CLIENTS(1, "max-ttl 10s\nlock-delay 4s\n");
    ck_assert_int_eq(client_try(one, "name", 6001, 0, NULL, &lock), REDLOCK_EINVAL);
    ck_assert_int_eq(client_try(one, "name", 6000, 0, NULL, &lock), 0);
    ck_assert_int_eq(redlock_extend(lock, 6001, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_extend(lock, 6000, NULL), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
}

/* A text of a lock that lasts longer than this client's keys may. */
TEST(all, handle_above_max_ttl_less_delay_is_refused)
{
    char text[REDLOCK_HANDLE_MAX];
    redlock_lock *lock = NULL;
    OPEN_CLIENTS(1, "max-ttl 10s\n");
    ck_assert_int_eq(client_try(one, "name", 7000, 0, NULL, &lock), 0);
    ck_assert_int_eq(redlock_detach(lock, text, sizeof(text)), 0);
    redlock_close(two);
    two = client_open(masters_file(masters, "max-ttl 10s\nlock-delay 4s\n"));
    ck_assert_int_eq(redlock_attach(two, text, &lock), REDLOCK_EHANDLE);
    redlock_close(two);
    two = client_open(masters_file(masters, "max-ttl 10s\nlock-delay 3s\n"));
    ck_assert_int_eq(redlock_attach(two, text, &lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
}

CASE(all, .timeout_s = 120)
