/* test_at_least.c - options.at_least_ms on real masters: others are kept out until then, however
 * the lock ends before, and no longer for a lock that nobody used. */
#include "config_auto.h"

#include "api/lock.h"
#include "api/try.h"
#include "child.h"
#include "clients.h"
#include "told.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LEAST_MS = 1500, PATIENT_MS = 20000, LONG_MS = 20000 };

static int64_t taken_ms; /* before the lock was asked for */
static const char *list_file;

static redlock_options keeping(int64_t at_least_ms)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.ttl_ms = 500;
    options.at_least_ms = at_least_ms;
    return options;
}

static redlock_lock *take(int64_t at_least_ms)
{
    redlock_options options = keeping(at_least_ms);
    redlock_lock *lock = NULL;
    taken_ms = now_ms();
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), 0);
    return lock;
}

/* The other client waits for it: it gets it when the time is over, and within a lease more. */
static void expect_kept(int64_t at_least_ms)
{
    redlock_lock *other = NULL;
    ck_assert_int_eq(client_try(two, "name", 1000, PATIENT_MS, NULL, &other), 0);
    ck_assert_int_ge(now_ms() - taken_ms, at_least_ms);
    ck_assert_int_eq(redlock_release(other), 0);
}

static void expect_free(void)
{
    redlock_lock *other = NULL;
    ck_assert_int_eq(client_try(two, "name", 1000, PATIENT_MS, NULL, &other), 0);
    ck_assert_int_lt(now_ms() - taken_ms, LONG_MS);
    ck_assert_int_eq(redlock_release(other), 0);
}

/* ---- however it ends -------------------------------------------------------------------- */

TEST(ends, r21_released_lock_keeps_others_out)
{
    OPEN_CLIENTS(3, NULL);
    redlock_lock *lock = take(LEAST_MS);
    ck_assert_int_gt(redlock_validity_ms(lock), 500); /* the first lease lasts so long */
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_uint_ge(masters_with(masters, "name"), 2);
    ck_assert(wait_until(client_stats(one).pending_releases == 0, 10000)); /* a late third */
    expect_kept(LEAST_MS);
    ck_assert_uint_eq(client_stats(one).abandoned_releases, 0);
}

/* And its lease goes on. */
static redlock_lock *take_until_its_time_is_over(void)
{
    redlock_options options = keeping(300);
    redlock_lock *lock = NULL;
    options.ttl_ms = LONG_MS;
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), 0);
    pause_ms(310);
    return lock;
}

TEST(ends, release_after_it_is_as_ever)
{
    OPEN_CLIENTS(3, NULL);
    redlock_lock *lock = take_until_its_time_is_over();
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
}

/* As ever: whether a majority is rid of it is not known. */
TEST(ends, release_after_it_by_a_minority_is_unconfirmed)
{
    OPEN_CLIENTS(3, NULL);
    redlock_lock *lock = take_until_its_time_is_over();
    master_kill(masters, 0);
    master_kill(masters, 1);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EUNCONFIRMED);
}

TEST(ends, release_before_it_needs_no_master)
{
    OPEN_CLIENTS(3, NULL);
    redlock_lock *lock = take(LONG_MS);
    for (unsigned i = 0; i < 3; i++)
        master_pause(masters, i);
    int64_t began_ms = now_ms();
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_int_lt(now_ms() - began_ms, 200);
    for (unsigned i = 0; i < 3; i++)
        master_resume(masters, i);
}

TEST(ends, r21_lazy_release_keeps_others_out)
{
    OPEN_CLIENTS(3, NULL);
    redlock_options options = keeping(LEAST_MS);
    redlock_lock *lock = NULL;
    options.release = REDLOCK_RELEASE_LAZY;
    taken_ms = now_ms();
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    expect_kept(LEAST_MS);
}

TEST(ends, r21_asynchronous_release_keeps_others_out)
{
    struct told released = {0};
    OPEN_CLIENTS(3, NULL);
    ck_assert_int_eq(redlock_release_async(take(LEAST_MS), told_done, &released), 0);
    ck_assert(wait_until(released.calls == 1, 5000));
    ck_assert_int_eq(released.result, 0);
    expect_kept(LEAST_MS);
}

TEST(ends, r21_closed_client_keeps_others_out)
{
    OPEN_CLIENTS(3, NULL);
    (void)take(LEAST_MS);
    redlock_close(one);
    one = NULL;
    expect_kept(LEAST_MS);
}

TEST(ends, r21_lost_lock_keeps_others_out)
{
    struct told lost = {0};
    OPEN_CLIENTS(3, NULL);
    redlock_options options = keeping(LEAST_MS);
    redlock_lock *lock = NULL;
    options.auto_renew = 1;
    options.max_hold_ms = 100;
    options.on_lost = told_lost;
    options.lost_context = &lost;
    taken_ms = now_ms();
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), 0);
    ck_assert(wait_until(redlock_validity_ms(lock) == 0, 5000));
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    expect_kept(LEAST_MS);
}

static int take_and_wait(void *argument)
{
    const int *ready = argument;
    redlock *client = client_open(list_file);
    redlock_options options = keeping(LEAST_MS);
    redlock_lock *lock = NULL;
    if (redlock_try(client, "name", &options, &lock) == 0 && write(ready[1], "", 1) == 1)
        for (;;)
            pause();
    return 1;
}

TEST(ends, r21_killed_process_keeps_others_out)
{
    int ready[2];
    char byte;
    OPEN_CLIENTS(3, NULL);
    ck_assert_int_eq(pipe(ready), 0);
    list_file = masters_file(masters, NULL);
    taken_ms = now_ms();
    pid_t child = fork();
    if (child == 0)
        _exit(take_and_wait(ready));
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    expect_kept(LEAST_MS);
}

static int close_inherited(void *argument)
{
    child_expect(redlock_release(argument) == REDLOCK_EFORK);
    redlock_close(one);
    return 0;
}

TEST(ends, r21_forked_child_ends_nothing)
{
    OPEN_CLIENTS(3, NULL);
    redlock_lock *lock = take(LEAST_MS);
    ck_assert_int_eq(child_run(close_inherited, lock, 10000), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    expect_kept(LEAST_MS);
}

/* A renewal lasts for the usual TTL. It shortens nothing, and the release after it nothing
 * either. */
TEST(ends, renewed_lock_is_kept_no_longer_than_a_lease_more)
{
    OPEN_CLIENTS(3, NULL);
    redlock_options options = keeping(LEAST_MS);
    redlock_lock *lock = NULL;
    options.auto_renew = 1;
    taken_ms = now_ms();
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), 0);
    pause_ms(1400);
    ck_assert_int_gt(redlock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_le(master_do(masters, i, "PTTL", "name", NULL).number, 500);
    expect_kept(LEAST_MS);
}

TEST(ends, break_ends_it)
{
    OPEN_CLIENTS(3, NULL);
    redlock_lock *lock = take(LONG_MS);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_int_eq(redlock_force_release(two, "name", 0, NULL), 0);
    expect_free();
    /* The holder that has not heard of it yet takes nothing from the next one. */
    lock = take(LONG_MS);
    redlock_lock *other = NULL;
    ck_assert_int_eq(redlock_force_release(two, "name", 0, NULL), 0);
    ck_assert_int_eq(client_try(two, "name", LONG_MS, PATIENT_MS, NULL, &other), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_int_eq(redlock_extend(other, LONG_MS + 5000, NULL), 0);
    ck_assert_int_eq(redlock_release(other), 0);
}

/* ---- nobody used it --------------------------------------------------------------------- */

TEST(unused, r21_lock_that_is_undone_is_free)
{
    OPEN_CLIENTS(3, NULL);
    ck_assert_int_eq(rl_lock_undo(take(LONG_MS)), 0);
    expect_free();
}

TEST(unused, lost_lock_that_is_undone_is_free)
{
    OPEN_CLIENTS(3, NULL);
    redlock_options options = keeping(LONG_MS);
    redlock_lock *lock = NULL;
    options.auto_renew = 1;
    options.max_hold_ms = 100;
    taken_ms = now_ms();
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), 0);
    ck_assert(wait_until(redlock_validity_ms(lock) == 0, 5000));
    pause_ms(50);
    ck_assert_int_eq(rl_lock_undo(lock), REDLOCK_EEXPIRED);
    expect_free();
}

TEST(unused, r21_items_of_a_call_that_failed_are_free)
{
    OPEN_CLIENTS(3, NULL);
    redlock_options options = keeping(LONG_MS);
    redlock_lock *held = client_take(two, "second");
    redlock_item items[] = {REDLOCK_ITEM(one, "name", &options),
                            REDLOCK_ITEM(one, "second", &options)};
    taken_ms = now_ms();
    ck_assert_int_eq(redlock_try_multi(items, 2, 0), REDLOCK_EHELD);
    expect_free();
    ck_assert_int_eq(redlock_release(held), 0);
}

/* Two of five grant it, and three have it already. */
TEST(unused, r21_lost_round_is_undone)
{
    OPEN_CLIENTS(5, NULL);
    redlock_options options = keeping(LONG_MS);
    redlock_lock *lock = NULL;
    for (unsigned i = 0; i < 3; i++)
        (void)master_do(masters, i, "SET", "name", "other", "PX", "20000", NULL);
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), REDLOCK_EHELD);
    ck_assert(wait_until(!master_has(masters, 3, "name") && !master_has(masters, 4, "name"),
                         5000));
}

/* ---- how long --------------------------------------------------------------------------- */

static const struct {
    const char *settings;
    int64_t most_ms;
    int kind;
    unsigned n;
} bounds[] = {
    {"max-ttl 10s\n", 9897, REDLOCK_PLAIN, 3},
    {"max-ttl 10s\nlock-delay 4s\n", 5937, REDLOCK_PLAIN, 3},
    {"max-ttl 1h\n", 3563997, REDLOCK_PLAIN, 3},
    {"max-ttl 1h\n", 29697, REDLOCK_READ, 1},
    {"max-ttl 1h\n", 3563997, REDLOCK_WRITE, 1},
    {"max-ttl 1h\n", 3563997, REDLOCK_READ, 3},
};

TEST(bounds, greatest_time_is_taken_and_more_is_refused_with_it, .rows = ROWS(bounds))
{
    redlock_lock *lock = NULL;
    redlock_error error = REDLOCK_ERROR_INIT;
    char most[32];
    OPEN_CLIENTS(bounds[_i].n, bounds[_i].settings);
    ck_assert_int_eq(rl_at_least_max_ms(one, bounds[_i].kind), bounds[_i].most_ms);
    redlock_options options = keeping(bounds[_i].most_ms + 1);
    options.kind = bounds[_i].kind;
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_last_error(one, &error), 0);
    snprintf(most, sizeof(most), "at most %lld ms", (long long)bounds[_i].most_ms);
    ck_assert_msg(strstr(error.text, most) != NULL, "%s", error.text);
    options.at_least_ms--;
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), 0);
    ck_assert_int_ge(redlock_validity_ms(lock), bounds[_i].most_ms - 5000);
    ck_assert_int_eq(rl_lock_undo(lock), 0);
}

TEST(bounds, less_than_nothing_is_refused)
{
    redlock_lock *lock = NULL;
    OPEN_CLIENTS(3, NULL);
    redlock_options options = keeping(-1);
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), REDLOCK_EINVAL);
}

/* lock-delay comes on top of the first lease, as of any. */
TEST(bounds, lock_delay_comes_on_top)
{
    OPEN_CLIENTS(1, "max-ttl 30s\nlock-delay 10s\n");
    redlock_lock *lock = take(5000);
    long long left_ms = master_do(masters, 0, "PTTL", "name", NULL).number;
    ck_assert_int_gt(left_ms, 14000);
    ck_assert_int_le(left_ms, 15100);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert(master_has(masters, 0, "name"));
}

CASE(ends, .timeout_s = 90)
CASE(unused, .timeout_s = 90)
