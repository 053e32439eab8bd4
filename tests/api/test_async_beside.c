/* tags: threads */
/* test_async_beside.c - a client that is driven by a loop or by the background thread, while
 * others block on it and callbacks begin new calls. */
#include "config_auto.h"

#include "masters.h"
#include "stall.h"
#include "told.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct masters *masters;
static redlock *client, *other;

/* System calls that the library makes, counted. */
static atomic_uint sends;

ssize_t send(int fd, const void *bytes, size_t len, int flags)
{
    atomic_fetch_add(&sends, 1);
    return syscall(SYS_sendto, fd, bytes, len, flags, NULL, 0);
}

static void open_masters(const char *settings)
{
    masters = masters_start(3, NULL);
    client = client_open(masters_file(masters, settings));
    other = client_open(masters_file(masters, NULL));
    ck_assert(wait_until(client_ready(client) == 3 && client_ready(other) == 3, 10000));
    client_take(other, "held");
}

static void close_masters(void)
{
    redlock_close(client);
    redlock_close(other);
}

/* ---- others beside the loop ------------------------------------------------------------- */

/* Whoever is not woken asks again after a second. */
enum { THREADS = 4, PAIRS = 100, SLOW_MS = 900 };
static atomic_int well, over, slow;

static void *take_beside(void *argument)
{
    char name[24];
    snprintf(name, sizeof(name), "own-%d", (int)(intptr_t)argument);
    for (int i = 0; i < PAIRS; i++) {
        redlock_lock *lock = NULL;
        int64_t begun = now_ms();
        if (client_try(client, i % 2 ? name : "shared", 0, 20000, NULL, &lock) == 0 &&
            redlock_extend(lock, CLIENT_TTL_MS + 5000, NULL) == 0 && redlock_release(lock) == 0)
            atomic_fetch_add(&well, 1);
        if (now_ms() - begun >= SLOW_MS)
            atomic_fetch_add(&slow, 1);
    }
    atomic_fetch_add(&over, 1);
    return NULL;
}

/* 0: the loop turns; 1: it has things under way; 2: it stands still. How many were slow. */
static int play_beside(int does)
{
    pthread_t threads[THREADS];
    struct told told = {.calls = 0}, released = {.calls = 0};
    well = over = slow = 0;
    open_masters(NULL);
    redlock_fd(client);
    for (intptr_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, take_beside, (void *)i), 0);
    for (int begun = 0; over < THREADS && does < 2;) {
        if (does == 1 && told.calls == begun) {
            if (begun > 0)
                redlock_release_async(told.lock, told_done, &released);
            told_try(client, "loops", 20000, &told);
            begun++;
        }
        told_turn(client, 20);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(well, THREADS * PAIRS);
    if (does == 1)
        ck_assert_int_gt(released.calls, 5);
    close_masters();
    return slow;
}

/* The loop does not take away what wakes them. */
TEST(async_beside, other_threads_may_block_on_client_that_loop_drives, .rows = 3)
{
    ck_assert(met_unless_stalled(play_beside(_i) == 0, STALL_MS, 2));
}

/* A call that was begun by the loop is moved on by whoever blocks; the loop is told. */
TEST(async_beside, calls_completed_by_others_are_told_by_loop)
{
    pthread_t thread;
    struct told told = {.calls = 0};
    open_masters(NULL);
    struct pollfd ready = {.fd = redlock_fd(client), .events = POLLIN};
    told_try(client, "name", 0, &told);
    ck_assert_int_eq(pthread_create(&thread, NULL, take_beside, (void *)0), 0);
    pthread_join(thread, NULL);
    ck_assert_uint_gt(client_stats(client).acquired, PAIRS);
    ck_assert_int_eq(told.calls, 0);
    ck_assert_int_eq(poll(&ready, 1, 1000), 1);
    ck_assert_int_eq(redlock_process(client), 0);
    ck_assert_int_eq(told.calls, 1);
    ck_assert_int_eq(told.result, 0);
    close_masters();
}

static void *wait_beside(void *argument)
{
    redlock_lock *lock = NULL;
    (void)argument;
    client_try(client, "held", 0, 6000, NULL, &lock);
    redlock_release(lock);
    return NULL;
}

/* Won, and taken away before the loop tells of it. Nobody has been told how long it is valid,
 * so that nothing is kept. */
TEST(async_beside, lock_lost_before_it_was_told_is_given_up_at_once)
{
    enum { TTL_MS = 3000 };
    pthread_t thread;
    struct told told = {.calls = 0};
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.ttl_ms = TTL_MS;
    options.auto_renew = 1;
    open_masters(NULL);
    redlock_fd(client);
    ck_assert_int_eq(redlock_try_async_n(client, "name", 4, &options, told_done, &told, NULL), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_beside, NULL), 0);
    ck_assert(wait_until(masters_with(masters, "name") == 3, 5000));
    master_do(masters, 0, "DEL", "name", NULL);
    master_do(masters, 2, "DEL", "name", NULL);
    int64_t begun = now_ms();
    ck_assert(wait_until(client_stats(client).lost == 1, TTL_MS));
    ck_assert(turn_until(client, told.calls == 1, 1000));
    ck_assert_int_eq(told.result, REDLOCK_ENOQUORUM);
    ck_assert(turn_until(client, !master_has(masters, 1, "name"), 1000));
    ck_assert_int_lt(now_ms() - begun, TTL_MS * 2 / 3);
    ck_assert(turn_until(client, client_stats(client).pending_releases == 0, 1000));
    redlock_shutdown(client);
    pthread_join(thread, NULL);
    close_masters();
}

/* Another thread leads, and sleeps: what a callback begins must leave all the same. */
static struct told chained;

static void chain(void *context, int result, redlock_lock *lock)
{
    (void)result;
    redlock_release_async(lock, NULL, NULL);
    told_try(client, "second", 0, &chained);
    told_done(context, 0, NULL);
}

static void *wait_for_held(void *argument)
{
    redlock_lock *lock = NULL;
    *(int *)argument = client_try(client, "held", 0, -1, NULL, &lock);
    return NULL;
}

TEST(async_beside, calls_begun_by_callbacks_beside_sleeping_leader_are_not_late)
{
    pthread_t thread;
    int code = 1;
    open_masters(NULL);
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_held, &code), 0);
    ck_assert(wait_until(client_stats(client).waiting == 1, 5000));
    for (int i = 1; i <= 5; i++) {
        struct told told = {.calls = 0};
        pause_ms(50);
        stall_watch();
        int64_t begun = now_ms();
        ck_assert_int_eq(redlock_try_async_n(client, "first", 5, NULL, chain, &told, NULL), 0);
        ck_assert(wait_until(chained.calls == i, 5000));
        ck_assert_int_eq(chained.result, 0);
        ck_assert(chained.at_ms - begun < 400 || stall_excuses(STALL_MS));
        ck_assert_int_eq(redlock_release_async(chained.lock, NULL, NULL), 0);
    }
    redlock_shutdown(client);
    pthread_join(thread, NULL);
    ck_assert_int_eq(code, REDLOCK_ECANCELED);
    close_masters();
}

TEST(async_beside, time_of_asynchronous_call_is_kept_beside_sleeping_leader)
{
    pthread_t thread;
    int code = 1;
    open_masters(NULL);
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_held, &code), 0);
    ck_assert(wait_until(client_stats(client).waiting == 1, 5000));
    for (int i = 0; i < 5; i++) {
        struct told told = {.calls = 0};
        pause_ms(50);
        stall_watch();
        int64_t begun = now_ms();
        told_try(client, "held", 100, &told);
        ck_assert(wait_until(told.calls == 1, 5000));
        ck_assert_int_eq(told.result, REDLOCK_EHELD);
        ck_assert(told.at_ms - begun < 500 || stall_excuses(STALL_MS));
    }
    redlock_shutdown(client);
    pthread_join(thread, NULL);
    close_masters();
}

/* ---- calls begun in callbacks ----------------------------------------------------------- */

static int links;
static uintptr_t highest, lowest;
static void go_on(void *context, int result, redlock_lock *lock);

/* A lease that is long enough already is extended at once: the next callback is due before
 * this one is back. */
static void go_on(void *context, int result, redlock_lock *lock)
{
    /* Not the address of a variable: a sanitizer may keep those elsewhere. */
    uintptr_t at = (uintptr_t)__builtin_frame_address(0);
    highest = at > highest ? at : highest;
    lowest = at < lowest ? at : lowest;
    if (result != 0 || links == 0) {
        told_done(context, result, lock);
        return;
    }
    links--;
    if (redlock_extend_async(lock, 1000, NULL, go_on, context) != 0)
        told_done(context, -100, lock);
}

TEST(async_beside, callback_may_begin_next_call_without_end)
{
    struct told told = {.calls = 0};
    open_masters(NULL);
    redlock_fd(client);
    links = 50000;
    lowest = UINTPTR_MAX;
    ck_assert_int_eq(redlock_try_async_n(client, "name", 4, NULL, go_on, &told, NULL), 0);
    ck_assert(turn_until(client, told.calls == 1, 20000));
    ck_assert_int_eq(told.result, 0);
    ck_assert_int_eq(links, 0);
    ck_assert_uint_le(highest - lowest, 8192);
    ck_assert_int_eq(redlock_release_async(told.lock, NULL, NULL), 0);
    close_masters();
}

static void take_again(void *context, int result, redlock_lock *lock)
{
    if (links-- == 0 || result != 0)
        told_done(context, result, lock);
    else if (redlock_release_async(lock, NULL, NULL) != 0 ||
             redlock_try_async_n(client, "name", 4, NULL, take_again, context, NULL) != 0)
        told_done(context, -100, NULL);
}

TEST(async_beside, thousands_of_rounds_one_out_of_other)
{
    struct told told = {.calls = 0};
    open_masters(NULL);
    redlock_fd(client);
    links = 3000;
    ck_assert_int_eq(redlock_try_async_n(client, "name", 4, NULL, take_again, &told, NULL), 0);
    ck_assert(turn_until(client, told.calls == 1, 30000));
    ck_assert_int_eq(told.result, 0);
    ck_assert_int_eq(redlock_release_async(told.lock, NULL, NULL), 0);
    ck_assert(turn_until(client, client_stats(client).pending_releases == 0, 5000));
    ck_assert_uint_eq(client_stats(client).released, 3001);
    ck_assert_uint_eq(masters_with(masters, "name"), 0);
    close_masters();
}

enum { BATCH = 50 };
static struct told batch[BATCH];

static void begin_batch(void *context, int result, redlock_lock *lock)
{
    char name[24];
    redlock_release_async(lock, NULL, NULL);
    for (int i = 0; i < BATCH; i++) {
        snprintf(name, sizeof(name), "batch-%d", i);
        if (redlock_try_async_n(client, name, strlen(name), NULL, told_done, &batch[i], NULL))
            result = -100;
    }
    told_done(context, result, NULL);
    atomic_store(&sends, 0);
}

TEST(async_beside, requests_ready_together_leave_in_one_write)
{
    struct told told = {.calls = 0};
    open_masters(NULL);
    redlock_fd(client);
    ck_assert_int_eq(redlock_try_async_n(client, "name", 4, NULL, begin_batch, &told, NULL), 0);
    ck_assert(turn_until(client, told.calls == 1, 5000));
    ck_assert_int_eq(told.result, 0);
    ck_assert_uint_eq(sends, 3);
    for (int i = 0; i < BATCH; i++) {
        ck_assert(turn_until(client, batch[i].calls == 1, 5000));
        ck_assert_int_eq(batch[i].result, 0);
    }
    close_masters();
}

CASE(async_beside, .timeout_s = 60)
