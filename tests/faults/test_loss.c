/* tags: long threads */
/* test_loss.c - locks that are lost: told once, in time, by callback and by validity, and what
 * may be done in the callback and beside it. */
#include "config_auto.h"

#include "child.h"
#include "base/limits.h"
#include "masters.h"
#include "program.h"
#include "core/validity.h"
#include "told.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct masters *masters;
static redlock *client;
static redlock_lock *lock;
static struct told lost, done;

static void open_masters(const char *settings)
{
    masters = masters_start(3, NULL);
    client = client_open(masters_file(masters, settings));
    ck_assert(wait_until(client_ready(client) == 3, 10000));
}

static void close_masters(void)
{
    redlock_close(client);
}

static redlock_lock *take(const char *name, const redlock_options *from, int64_t ttl_ms)
{
    redlock_options options = *from;
    redlock_lock *taken = NULL;
    options.ttl_ms = ttl_ms;
    ck_assert_int_eq(redlock_try(client, name, &options, &taken), 0);
    return taken;
}

/* When to tell that `lock` is lost: at its deadline (the validity ends a margin before it) at
 * the latest, and as much later as this machine was at the worst in waking up who slept for a
 * millisecond. */
struct due {
    int64_t deadline_ms, late_ms;
};

static struct due await_loss(int64_t ttl_ms, int64_t limit_ms)
{
    int64_t begun = now_ms(), deadline_ms = 0, worst_ms = 0;
    while (lost.calls == 0 && now_ms() < begun + limit_ms) {
        int64_t before = now_ms(), left = redlock_validity_ms(lock);
        if (left > 0)
            deadline_ms = before + left;
        pause_ms(1);
        worst_ms = now_ms() - before > worst_ms ? now_ms() - before : worst_ms;
    }
    int64_t margin_ms = rl_lost_margin_ns(ttl_ms * RL_NS_PER_MS) / RL_NS_PER_MS;
    return (struct due){deadline_ms + margin_ms, worst_ms};
}

static void expect_told_in_time(struct due due)
{
    ck_assert_int_le(lost.at_ms, due.deadline_ms + due.late_ms);
    ck_assert_int_gt(lost.at_ms, due.deadline_ms - 300);
}

/* Told once in `ms`, and never again. */
static void expect_told_once(int64_t ms)
{
    ck_assert(wait_until(lost.calls > 0, ms));
    ck_assert_ptr_eq(lost.lock, lock);
    ck_assert_int_eq(lost.validity_ms, 0);
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    pause_ms(150);
    ck_assert_int_eq(lost.calls, 1);
    ck_assert_uint_eq(client_stats(client).lost, 1);
    ck_assert_uint_eq(client_stats(client).renewing, 0);
}

/* ---- when ------------------------------------------------------------------------------- */

TEST(loss, outage_that_outlasts_validity_is_told_once_and_in_time, .rows = 2)
{
    enum { TTL_MS = 2000 };
    open_masters(NULL);
    lock = told_take_renewed(client, "name", TTL_MS, &lost);
    pause_ms(TTL_MS / 2);
    for (unsigned i = 0; i < 2; i++) {
        if (_i == 0)
            master_kill(masters, i);
        else
            master_pause(masters, i);
    }
    struct due due = await_loss(TTL_MS, 2 * TTL_MS);
    expect_told_once(1000);
    expect_told_in_time(due);
    ck_assert_int_eq(redlock_extend(lock, 0, NULL), REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    for (unsigned i = 0; i < 2; i++) {
        if (_i != 0)
            master_resume(masters, i);
    }
    close_masters();
    ck_assert_int_eq(lost.calls, 1);
}

TEST(loss, lock_taken_away_is_told_at_next_renewal)
{
    enum { TTL_MS = 1800 };
    open_masters(NULL);
    lock = told_take_renewed(client, "name", TTL_MS, &lost);
    master_do(masters, 0, "FLUSHALL", NULL);
    master_do(masters, 2, "SET", "name", "rival", NULL);
    int64_t begun = now_ms();
    expect_told_once(TTL_MS);
    ck_assert_int_lt(lost.at_ms - begun, TTL_MS * 2 / 3);
    ck_assert_str_eq(master_do(masters, 2, "GET", "name", NULL).text, "rival");
    ck_assert(wait_until(!master_has(masters, 1, "name"), 1000));
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    close_masters();
}

TEST(loss, max_hold_ends_hold_that_could_be_renewed)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.auto_renew = 1;
    options.max_hold_ms = 2000;
    options.on_lost = told_lost;
    options.lost_context = &lost;
    open_masters(NULL);
    int64_t begun = now_ms();
    lock = take("name", &options, 1000);
    expect_told_once(10000);
    ck_assert_int_ge(lost.at_ms - begun, 2000);
    ck_assert_int_lt(lost.at_ms - begun, 3000);
    ck_assert_uint_ge(client_stats(client).extended, 3);
    /* given up, not left to run out */
    ck_assert(wait_until(masters_with(masters, "name") == 0, 300));
    ck_assert(client_can_take(client, "name"));
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    close_masters();
}

/* Who reads the validity may rely on it, however the hold ends meanwhile. 1: of a handle that
 * was shown. */
TEST(loss, nobody_else_has_it_before_validity_that_was_told_is_over, .rows = 2)
{
    char text[REDLOCK_HANDLE_MAX];
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.auto_renew = 1;
    options.max_hold_ms = 500;
    open_masters(NULL);
    lock = take("name", &options, 2000);
    redlock_lock *other = NULL, *shown = NULL;
    ck_assert_int_eq(redlock_handle(lock, text, sizeof(text)), 0);
    if (_i == 1)
        ck_assert_int_eq(redlock_attach(client, text, &shown), 0);
    int64_t told_ms = now_ms() + redlock_validity_ms(shown ? shown : lock);
    options = (redlock_options)REDLOCK_OPTIONS_INIT;
    options.wait_ms = 10000;
    ck_assert_int_eq(redlock_try(client, "name", &options, &other), 0);
    ck_assert_int_ge(now_ms(), told_ms);
    redlock_release(other);
    redlock_release(shown);
    redlock_release(lock);
    close_masters();
}

static bool seen_gone;

static void see_gone(void *context, redlock_lock *lost_lock)
{
    seen_gone = wait_until(masters_with(masters, "name") == 0, 10000);
    told_lost(context, lost_lock);
}

/* Callbacks may take long: others get the lock meanwhile. Its keys may go once the last
 * millisecond that was shown is over. The loop turns after that. */
TEST(loss, lost_lock_is_given_up_before_its_callback_is_run)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.auto_renew = 1;
    options.max_hold_ms = 500;
    options.on_lost = see_gone;
    options.lost_context = &lost;
    open_masters(NULL);
    lock = take("name", &options, 30000);
    ck_assert_int_ge(redlock_fd(client), 0); /* nobody drives the client from here on */
    ck_assert(wait_until(redlock_validity_ms(lock) == 0, 5000));
    pause_ms(5);
    ck_assert_int_eq(lost.calls, 0);
    ck_assert_int_eq(redlock_process(client), 0);
    ck_assert_int_eq(lost.calls, 1);
    ck_assert(seen_gone);
    ck_assert_int_eq(redlock_release_async(lock, NULL, NULL), 0);
    close_masters();
}

/* Its handle may stay for long: the masters are rid of it. */
TEST(loss, lost_lock_is_no_pending_release)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    open_masters(NULL);
    options.auto_renew = 1;
    options.max_hold_ms = 100;
    lock = take("name", &options, 6000);
    ck_assert(wait_until(client_stats(client).lost == 1, 1500));
    ck_assert(wait_until(client_stats(client).pending_releases == 0, 1500));
    ck_assert_uint_eq(client_stats(client).held, 1);
    ck_assert_uint_eq(masters_with(masters, "name"), 0);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    ck_assert_uint_eq(client_stats(client).pending_releases, 0);
    close_masters();
}

TEST(loss, max_hold_below_ttl_is_kept_too)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.auto_renew = 1;
    options.max_hold_ms = 300;
    open_masters(NULL);
    int64_t begun = now_ms();
    lock = take("name", &options, 10000);
    ck_assert(wait_until(redlock_validity_ms(lock) == 0, 3000));
    ck_assert_int_ge(now_ms() - begun, 300);
    ck_assert_int_lt(now_ms() - begun, 2000);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    close_masters();
}

TEST(loss, on_lost_without_renewal_is_told_when_time_is_over, .rows = 2)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.on_lost = told_lost;
    options.lost_context = &lost;
    open_masters(NULL);
    lock = take("name", &options, 2000);
    if (_i == 1) /* an extension of the user's puts it off */
        ck_assert_int_eq(redlock_extend(lock, 2500, NULL), 0);
    struct due due = await_loss(2000, 4000);
    expect_told_once(4000);
    expect_told_in_time(due);
    ck_assert_uint_eq(client_stats(client).extended, (uint64_t)_i);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    close_masters();
}

/* ---- a process that was stopped --------------------------------------------------------- */

static const char *file;
static int ready[2];

enum { STOPPED_TTL_MS = 1000 };

/* Until the clock jumps by more than the lease; then the first call. */
static int stop_and_look(void *argument)
{
    const int64_t ttl_ms = STOPPED_TTL_MS;
    int first = *(int *)argument;
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_error error = REDLOCK_ERROR_INIT;
    child_expect(redlock_open(file, &error, &client) == 0);
    options.ttl_ms = ttl_ms;
    options.auto_renew = 1;
    options.on_lost = told_lost;
    options.lost_context = &lost;
    child_expect(redlock_try(client, "name", &options, &lock) == 0);
    child_expect(write(ready[1], "", 1) == 1);
    for (int64_t last = boot_ms(), now; (now = boot_ms()) - last < ttl_ms; last = now)
        pause_ms(1);
    if (first == 0)
        child_expect(redlock_validity_ms(lock) == 0);
    else if (first == 1)
        child_expect(redlock_extend(lock, 0, NULL) == REDLOCK_EEXPIRED);
    else
        child_expect(redlock_release(lock) == REDLOCK_EEXPIRED);
    child_expect(redlock_validity_ms(lock) == 0);
    if (first < 2) {
        child_expect(wait_until(lost.calls == 1, 5000));
        child_expect(redlock_extend(lock, 0, NULL) == REDLOCK_EEXPIRED);
        child_expect(redlock_release(lock) == REDLOCK_EEXPIRED);
    }
    pause_ms(200);
    child_expect(lost.calls <= 1); /* a release may have kept it from being told */
    redlock_close(client);
    return 0;
}

TEST(loss, stopped_for_longer_than_ttl_first_call_says_lost, .rows = 3)
{
    char byte;
    masters = masters_start(3, NULL);
    file = masters_file(masters, NULL);
    ck_assert_int_eq(pipe(ready), 0);
    struct child child = child_start(stop_and_look, &_i);
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    pause_ms(250); /* it is renewed at first */
    ck_assert_uint_ge(masters_with(masters, "name"), 2);
    child_signal(child.pid, SIGSTOP, WUNTRACED);
    pause_ms(STOPPED_TTL_MS + 300); /* it looks for a pause of that length: keys end sooner */
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
    kill(child.pid, SIGCONT);
    ck_assert_int_eq(child_wait(&child, 10000), 0);
}

/* ---- in the callback, and beside it ----------------------------------------------------- */

static atomic_int in_callback, begun, let_go, callbacks, after_release;

static void release_it(void *context, redlock_lock *which)
{
    atomic_store(&in_callback, redlock_release(which));
    atomic_store(&begun, redlock_release_async(which, told_done, context));
    told_lost(&lost, which);
}

TEST(releases, lost_lock_may_be_released_in_its_callback)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.on_lost = release_it;
    options.lost_context = &done;
    open_masters(NULL);
    lock = take("name", &options, 600);
    ck_assert(wait_until(done.calls == 1, 5000));
    ck_assert_int_eq(in_callback, REDLOCK_EDEADLK);
    ck_assert_int_eq(begun, 0);
    ck_assert_int_eq(done.result, REDLOCK_EEXPIRED);
    ck_assert_ptr_null(done.lock);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_ENOTHELD);
    ck_assert_uint_eq(client_stats(client).held, 0);
    close_masters();
    ck_assert_int_eq(lost.calls, 1);
    ck_assert_int_eq(done.calls, 1);
}

static void be_slow(void *context, redlock_lock *which)
{
    (void)context, (void)which;
    atomic_store(&in_callback, 1);
    while (!atomic_load(&let_go))
        pause_ms(1);
    atomic_store(&in_callback, 0);
}

static void *release_beside(void *argument)
{
    (void)argument;
    int code = redlock_release(lock);
    atomic_store(&after_release, atomic_load(&in_callback) ? -100 : code);
    return NULL;
}

TEST(releases, release_waits_for_callback_that_runs)
{
    pthread_t thread;
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.on_lost = be_slow;
    open_masters(NULL);
    lock = take("name", &options, 600);
    ck_assert(wait_until(in_callback == 1, 5000));
    after_release = 1;
    ck_assert_int_eq(pthread_create(&thread, NULL, release_beside, NULL), 0);
    ck_assert(client_can_take(client, "other")); /* nobody else is in its way */
    pause_ms(100);
    ck_assert_int_eq(after_release, 1);
    atomic_store(&let_go, 1);
    pthread_join(thread, NULL);
    ck_assert_int_eq(after_release, REDLOCK_EEXPIRED);
    close_masters();
}

enum { RACERS = 10, RACES = 20, RACE_TTL_MS = 60 };
struct racer {
    pthread_t thread;
    unsigned number;
    atomic_bool released;
    atomic_int told, too_late;
};

static void lose_race(void *context, redlock_lock *which)
{
    struct racer *racer = context;
    (void)which;
    atomic_fetch_add(&racer->told, 1);
    atomic_fetch_add(&racer->too_late, racer->released);
    sched_yield();
    atomic_fetch_add(&racer->too_late, racer->released);
}

static void *race(void *argument)
{
    struct racer *racer = argument;
    unsigned seed = racer->number;
    for (int i = 0; i < RACES; i++) {
        redlock_options options = REDLOCK_OPTIONS_INIT;
        redlock_lock *mine = NULL;
        char name[32];
        snprintf(name, sizeof(name), "race-%u", racer->number);
        options.ttl_ms = RACE_TTL_MS;
        options.on_lost = lose_race;
        options.lost_context = racer;
        atomic_store(&racer->released, false);
        if (redlock_try(client, name, &options, &mine) != 0)
            continue;
        int64_t us = redlock_validity_ms(mine) * 1000 - 3000 + rand_r(&seed) % 6000;
        usleep(us > 0 ? (useconds_t)us : 0);
        redlock_release(mine);
        atomic_store(&racer->released, true);
        atomic_fetch_add(&callbacks, racer->told);
        if (atomic_exchange(&racer->told, 0) > 1)
            atomic_fetch_add(&racer->too_late, 1);
        usleep(500);
    }
    return NULL;
}

TEST(releases, after_release_nothing_is_told)
{
    static struct racer racers[RACERS];
    open_masters(NULL);
    for (unsigned i = 0; i < RACERS; i++) {
        racers[i].number = i;
        ck_assert_int_eq(pthread_create(&racers[i].thread, NULL, race, &racers[i]), 0);
    }
    for (unsigned i = 0; i < RACERS; i++) {
        pthread_join(racers[i].thread, NULL);
        ck_assert_int_eq(racers[i].too_late, 0);
    }
    ck_assert_msg(callbacks > 0 && callbacks < RACERS * RACES, "%d were told", callbacks);
    close_masters();
}

CASE(loss, .timeout_s = 120)
CASE(releases, .timeout_s = 60)
