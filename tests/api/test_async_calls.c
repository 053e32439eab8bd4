/* tags: threads */
/* test_async_calls.c - what may be called from where, and what ends what: inside callbacks, on
 * the loop's thread, from other threads and signal handlers; and with which arguments. */
#include "config_auto.h"

#include "masters.h"
#include "told.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct masters *masters;
static redlock *client, *other;
static redlock_lock *held;
static redlock_node_vote report_votes[REDLOCK_NODES_MAX];
static redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);

static void open_masters(const char *settings)
{
    masters = masters_start(3, NULL);
    client = client_open(masters_file(masters, settings));
    other = client_open(masters_file(masters, NULL));
    ck_assert(wait_until(client_ready(client) == 3 && client_ready(other) == 3, 10000));
    held = client_take(other, "held");
}

static void close_masters(void)
{
    redlock_close(client);
    redlock_close(other);
}

/* ---- calls that block ------------------------------------------------------------------- */

static redlock_lock *mine;
static atomic_bool over;

/* The first of them that does not say EDEADLK, from 1; 0: all do. */
static int call_all_that_block(void)
{
    static redlock_node_status status_nodes[REDLOCK_NODES_MAX];
    static redlock_status_report status = REDLOCK_STATUS_INIT(status_nodes, REDLOCK_NODES_MAX);
    redlock_lock_info info = REDLOCK_LOCK_INFO_INIT(NULL, 0, NULL, 0);
    redlock_lock *lock = NULL;
    if (client_try(client, "other", 0, 0, NULL, &lock) != REDLOCK_EDEADLK || lock)
        return 1;
    if (redlock_extend(mine, 0, NULL) != REDLOCK_EDEADLK)
        return 2;
    if (redlock_release(mine) != REDLOCK_EDEADLK || redlock_validity_ms(mine) == 0)
        return 3;
    if (redlock_inspect_n(client, "held", 4, NULL, &info) != REDLOCK_EDEADLK)
        return 4;
    if (redlock_force_release_n(client, "held", 4, REDLOCK_DEFAULT, NULL) != REDLOCK_EDEADLK)
        return 5;
    if (redlock_get_status(client, &status) != REDLOCK_EDEADLK)
        return 6;
    return 0;
}

static bool looped; /* the client is driven by a loop of the test's */

static void call_in_callback(void *context, int result, redlock_lock *lock)
{
    int *ret = context;
    redlock_stats stats = REDLOCK_STATS_INIT;
    char text[REDLOCK_HANDLE_MAX];
    mine = lock;
    *ret = result != 0 ? -1 : call_all_that_block();
    if (redlock_process(client) != REDLOCK_EDEADLK)
        *ret = 7;
    int fd = redlock_fd(client); /* the first one would wait for the thread that we are on */
    if (looped ? fd < 0 : fd != REDLOCK_EDEADLK)
        *ret = 11;
    redlock_close(client); /* does nothing */
    if (redlock_get_stats(client, &stats) != 0 || stats.held != 1)
        *ret = 8;
    if (redlock_handle(lock, text, sizeof(text)) != 0 || redlock_timeout_ms(client) < -1)
        *ret = 9;
    atomic_store(&over, true);
}

TEST(async_calls, no_call_blocks_inside_callback, .rows = 2)
{
    int found = -2;
    open_masters(NULL);
    looped = _i == 0;
    if (looped)
        redlock_fd(client);
    ck_assert_int_eq(redlock_try_async_n(client, "name", 4, NULL, call_in_callback, &found, NULL),
                     0);
    if (_i == 0)
        ck_assert(turn_until(client, over, 5000));
    else
        ck_assert(wait_until(over, 5000));
    ck_assert_int_eq(found, 0);
    ck_assert_int_gt(redlock_validity_ms(mine), 0);
    ck_assert_int_eq(redlock_release_async(mine, NULL, NULL), 0);
    close_masters();
}

static void *process_elsewhere(void *argument)
{
    (void)argument;
    return redlock_process(client) == 0 && call_all_that_block() == 0 ? client : NULL;
}

TEST(async_calls, no_call_blocks_on_loops_thread)
{
    open_masters(NULL);
    mine = client_take(client, "name"); /* no loop yet */
    redlock_fd(client);
    ck_assert_int_eq(call_all_that_block(), 0);
    ck_assert_int_eq(redlock_process(client), 0);
    ck_assert_int_eq(call_all_that_block(), 0);
    /* Who drives it now is another thread: this one may block. */
    pthread_t thread;
    void *processed = NULL;
    ck_assert_int_eq(pthread_create(&thread, NULL, process_elsewhere, NULL), 0);
    pthread_join(thread, &processed);
    ck_assert_ptr_eq(processed, client);
    ck_assert(client_can_take(client, "other"));
    ck_assert_int_eq(redlock_process(client), 0);
    ck_assert_int_eq(call_all_that_block(), 0);
    ck_assert_int_eq(redlock_release_async(mine, NULL, NULL), 0);
    ck_assert(turn_until(client, client_stats(client).released == 1, 5000));
    close_masters();
}

/* ---- cancel ----------------------------------------------------------------------------- */

static void cancel_by_signal(int number)
{
    (void)number;
    redlock_shutdown(client);
}

static void cancel_in_callback(void *context, int result, redlock_lock *lock)
{
    redlock_shutdown(client);
    told_done(context, result, lock);
}

static void *cancel_soon(void *argument)
{
    (void)argument;
    pause_ms(30);
    redlock_shutdown(client);
    return NULL;
}

TEST(async_calls, cancel_ends_every_asynchronous_try, .rows = 6)
{
    enum { TRIES = 5 };
    struct told told[TRIES], first = {.calls = 0};
    struct sigaction action = {.sa_handler = cancel_by_signal};
    pthread_t thread;
    memset(told, 0, sizeof(told));
    open_masters(NULL);
    redlock_lock *kept = client_take(client, "kept");
    bool loop = _i % 2 == 0;
    if (loop)
        redlock_fd(client);
    for (int i = 0; i < TRIES; i++)
        told_try(client, "held", -1, &told[i]);
    if (loop)
        ck_assert(turn_until(client, client_stats(client).waiting == TRIES, 5000));
    else
        ck_assert(wait_until(client_stats(client).waiting == TRIES, 5000));
    if (_i / 2 == 0) {
        ck_assert_int_eq(
            redlock_try_async_n(client, "free", 4, NULL, cancel_in_callback, &first, NULL), 0);
    } else if (_i / 2 == 1) {
        ck_assert_int_eq(pthread_create(&thread, NULL, cancel_soon, NULL), 0);
    } else {
        ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
        raise(SIGUSR1);
    }
    for (int i = 0; i < TRIES; i++) {
        if (loop)
            ck_assert(turn_until(client, told[i].calls == 1, 5000));
        else
            ck_assert(wait_until(told[i].calls == 1, 5000));
        ck_assert_int_eq(told[i].result, REDLOCK_ECANCELED);
        ck_assert_ptr_null(told[i].lock);
    }
    if (_i / 2 == 1)
        pthread_join(thread, NULL);
    ck_assert_int_eq(redlock_try_async_n(client, "late", 4, NULL, told_done, &first, NULL),
                     REDLOCK_ECANCELED);
    ck_assert_int_gt(redlock_validity_ms(kept), 0);
    ck_assert_int_eq(redlock_extend_async(kept, 20000, NULL, told_done, &first), 0);
    close_masters();
    ck_assert_int_eq(told[0].calls, 1);
}

TEST(async_calls, one_try_is_canceled_and_no_other)
{
    struct told one = {.calls = 0}, two = {.calls = 0}, done = {.calls = 0};
    open_masters(NULL);
    redlock_fd(client);
    uint64_t first = told_try(client, "held", -1, &one);
    uint64_t second = told_try(client, "held", -1, &two);
    ck_assert_uint_ne(first, second);
    ck_assert(turn_until(client, client_stats(client).waiting == 2, 5000));
    ck_assert_int_eq(redlock_cancel(client, first), 0);
    ck_assert_int_eq(redlock_cancel(client, first), REDLOCK_ENOTHELD);
    ck_assert(turn_until(client, one.calls == 1, 1000));
    ck_assert_int_eq(one.result, REDLOCK_ECANCELED);
    ck_assert_int_eq(redlock_cancel(client, first), REDLOCK_ENOTHELD);
    ck_assert_int_eq(redlock_cancel(client, 0), REDLOCK_ENOTHELD);
    ck_assert_int_eq(redlock_cancel(client, second + 1000), REDLOCK_ENOTHELD);
    ck_assert_int_eq(redlock_release(held), 0); /* the second goes on */
    ck_assert(turn_until(client, two.calls == 1, 5000));
    ck_assert_int_eq(two.result, 0);
    uint64_t third = told_try(client, "free", 0, &done);
    ck_assert(turn_until(client, done.calls == 1, 5000));
    ck_assert_int_eq(redlock_cancel(client, third), REDLOCK_ENOTHELD);
    ck_assert_int_eq(done.result, 0);
    close_masters();
    ck_assert_int_eq(one.calls + two.calls + done.calls, 3);
}

/* Its round is under way. */
TEST(async_calls, canceled_try_leaves_no_key)
{
    struct told told = {.calls = 0};
    open_masters(NULL);
    redlock_fd(client);
    for (int i = 1; i <= 50; i++) {
        ck_assert_int_eq(redlock_cancel(client, told_try(client, "name", 0, &told)), 0);
        ck_assert(turn_until(client, told.calls == i, 1000));
        ck_assert_int_eq(told.result, REDLOCK_ECANCELED);
    }
    ck_assert(turn_until(client, client_stats(client).pending_releases == 0, 5000));
    ck_assert_uint_eq(masters_with(masters, "name"), 0);
    close_masters();
}

/* ---- arguments -------------------------------------------------------------------------- */

TEST(async_calls, wrong_arguments_are_told_at_once)
{
    struct told told = {.calls = 0};
    static char name[REDLOCK_NAME_MAX + 1];
    redlock_options options = REDLOCK_OPTIONS_INIT;
    open_masters(NULL);
    mine = client_take(client, "name");
    redlock_fd(client);
#define expect_einval(call) ck_assert_int_eq((call), REDLOCK_EINVAL)
    expect_einval(redlock_try_async_n(NULL, "a", 1, NULL, told_done, &told, NULL));
    expect_einval(redlock_try_async_n(client, "a", 1, NULL, NULL, &told, NULL));
    expect_einval(redlock_try_async_n(client, NULL, 1, NULL, told_done, &told, NULL));
    expect_einval(redlock_try_async_n(client, "", 0, NULL, told_done, &told, NULL));
    expect_einval(redlock_try_async_n(client, name, sizeof(name), NULL, told_done, &told, NULL));
    expect_einval(redlock_try_async_n(client, name, SIZE_MAX, NULL, told_done, &told, NULL));
    options.ttl_ms = 1;
    expect_einval(redlock_try_async_n(client, "a", 1, &options, told_done, &told, NULL));
    options.ttl_ms = 1000;
    options.max_hold_ms = 1000; /* without auto_renew */
    expect_einval(redlock_try_async_n(client, "a", 1, &options, told_done, &told, NULL));
    options.max_hold_ms = 0;
    options.size--;
    expect_einval(redlock_try_async_n(client, "a", 1, &options, told_done, &told, NULL));
    expect_einval(redlock_extend_async(NULL, 0, NULL, told_done, &told));
    expect_einval(redlock_extend_async(mine, 0, NULL, NULL, &told));
    expect_einval(redlock_extend_async(mine, -1, NULL, told_done, &told));
    expect_einval(redlock_extend_async(mine, 1000000000, NULL, told_done, &told));
    report.size--;
    expect_einval(redlock_extend_async(mine, 0, &report, told_done, &told));
    expect_einval(redlock_cancel(NULL, 1));
    expect_einval(redlock_fd(NULL));
    expect_einval(redlock_timeout_ms(NULL));
    expect_einval(redlock_process(NULL));
    ck_assert(!turn_until(client, told.calls > 0, 100));
    ck_assert_int_gt(redlock_validity_ms(mine), 0);
    close_masters();
    ck_assert_int_eq(told.calls, 0);
}

CASE(async_calls, .timeout_s = 60)
