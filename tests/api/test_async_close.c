/* tags: threads */
/* test_async_close.c - every asynchronous call that was begun calls back once, also where the
 * client is closed under it or memory runs out. */
#include "config_auto.h"

#include "alloc.h"
#include "masters.h"
#include "told.h"

#include <openssl/err.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 10 };
enum { BY_LOOP, BY_THREAD, BY_NOBODY, DRIVERS };

static struct masters *masters;
static redlock *client, *other;
static redlock_lock *held;
static struct told told[TRIES], extended, released, lost;

static void open_masters(int driver)
{
    masters = masters_start(3, NULL);
    client = client_open(masters_file(
        masters, driver == BY_NOBODY ? "background never\nlinger 100ms\n" : "linger 100ms\n"));
    other = client_open(masters_file(masters, NULL));
    ck_assert(wait_until(client_ready(client) == 3 && client_ready(other) == 3, 10000));
    held = client_take(other, "held");
}

static void close_rest(void)
{
    redlock_close(other);
}

static void expect_told(const struct told *one, int result)
{
    ck_assert_int_eq(one->calls, 1);
    ck_assert_msg(one->result == result, "%s", redlock_err_name(one->result));
    ck_assert(pthread_equal(one->thread, pthread_self()));
}

/* ---- what is under way ------------------------------------------------------------------ */

TEST(async_close, close_calls_back_calls_in_flight, .rows = DRIVERS)
{
    redlock_node_vote report_votes[REDLOCK_NODES_MAX];
    redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
    redlock_options options = REDLOCK_OPTIONS_INIT;
    open_masters(_i);
    redlock_lock *longer = client_take(client, "longer"), *gone = client_take(client, "gone");
    ck_assert(wait_until(masters_with(masters, "gone") == 3, 5000));
    if (_i == BY_LOOP)
        redlock_fd(client);
    for (unsigned i = 0; i < 3; i++)
        master_pause(masters, i);
    options.report = &report;
    for (int i = 0; i < TRIES; i++)
        ck_assert_int_eq(
            redlock_try_async_n(client, "name", 4, &options, told_done, &told[i], NULL), 0);
    ck_assert_int_eq(redlock_extend_async(longer, 20000, NULL, told_done, &extended), 0);
    ck_assert_int_eq(redlock_release_async(gone, told_done, &released), 0);
    int64_t begun = now_ms();
    redlock_close(client);
    ck_assert_int_lt(now_ms() - begun, 1000);
    for (int i = 0; i < TRIES; i++)
        expect_told(&told[i], REDLOCK_ECANCELED);
    expect_told(&extended, REDLOCK_ECANCELED);
    expect_told(&released, REDLOCK_ECANCELED);
    for (unsigned i = 0; i < 3; i++)
        master_resume(masters, i);
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
    ck_assert(wait_until(masters_with(masters, "longer") == 0, 5000));
    ck_assert(wait_until(masters_with(masters, "gone") == 0, 5000));
    close_rest();
}

TEST(async_close, close_calls_back_waiting_calls, .rows = DRIVERS)
{
    open_masters(_i);
    if (_i == BY_LOOP)
        redlock_fd(client);
    for (int i = 0; i < TRIES; i++)
        told_try(client, i % 2 ? "held" : "other", -1, &told[i]);
    if (_i == BY_LOOP)
        ck_assert(turn_until(client, client_stats(client).waiting == TRIES - 1, 5000));
    if (_i == BY_THREAD)
        ck_assert(wait_until(client_stats(client).waiting == TRIES - 1, 5000));
    redlock_close(client);
    unsigned won = 0;
    for (int i = 0; i < TRIES; i++) {
        ck_assert_int_eq(told[i].calls, 1);
        ck_assert(told[i].result == REDLOCK_ECANCELED || told[i].result == 0);
        won += told[i].result == 0;
    }
    ck_assert_uint_eq(won, _i == BY_NOBODY ? 0 : 1); /* "other", by the first to ask */
    ck_assert(wait_until(masters_with(masters, "other") == 0, 2000));
    ck_assert_uint_eq(masters_with(masters, "held"), 3);
    close_rest();
}

static void *take(void *argument)
{
    redlock_lock *lock = NULL;
    *(int *)argument = client_try(client, "mine", 0, 0, NULL, &lock);
    return NULL;
}

/* Others have completed it; only the telling is left. */
TEST(async_close, close_delivers_completed_calls, .rows = 2)
{
    open_masters(_i == 0 ? BY_LOOP : BY_NOBODY);
    if (_i == 0)
        redlock_fd(client);
    told_try(client, "name", 0, &told[0]);
    pthread_t thread;
    int code = 1;
    redlock_stats stats = REDLOCK_STATS_INIT;
    ck_assert_int_eq(pthread_create(&thread, NULL, take, &code), 0);
    pthread_join(thread, NULL);
    ck_assert_int_eq(code, 0);
    ck_assert_int_eq(redlock_get_stats(client, &stats), 0);
    ck_assert_uint_eq(stats.acquired, 2);
    ck_assert_int_eq(told[0].calls, 0);
    redlock_close(client);
    expect_told(&told[0], 0);
    ck_assert_int_gt(told[0].validity_ms, 0);
    ck_assert(wait_until(masters_with(masters, "name") == 0, 2000)); /* it was held */
    close_rest();
}

/* ---- what callbacks do meanwhile -------------------------------------------------------- */

static redlock_lock *mine;
static int codes[4];

static void begin_more(void *context, int result, redlock_lock *lock)
{
    told_done(context, result, lock);
    codes[0] = redlock_try_async_n(client, "more", 4, NULL, told_done, &told[1], NULL);
    codes[1] = redlock_extend_async(mine, 20000, NULL, told_done, &extended);
    codes[2] = redlock_release_async(mine, told_done, &released);
    codes[3] = redlock_cancel(client, 12345);
    redlock_close(client);
}

TEST(async_close, callbacks_of_close_may_begin_calls_that_end_with_it, .rows = DRIVERS)
{
    open_masters(_i);
    mine = client_take(client, "mine");
    if (_i == BY_LOOP)
        redlock_fd(client);
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.wait_ms = -1;
    ck_assert_int_eq(redlock_try_async_n(client, "held", 4, &options, begin_more, &told[0], NULL),
                     0);
    redlock_close(client);
    expect_told(&told[0], REDLOCK_ECANCELED);
    ck_assert_int_eq(codes[0], REDLOCK_ECANCELED);
    ck_assert_int_eq(told[1].calls, 0);
    ck_assert_int_eq(codes[1], 0);
    expect_told(&extended, REDLOCK_ENOTHELD); /* the release has won */
    ck_assert_int_eq(codes[2], 0);
    expect_told(&released, REDLOCK_ECANCELED);
    ck_assert_int_eq(codes[3], REDLOCK_ENOTHELD);
    ck_assert(wait_until(masters_with(masters, "mine") == 0, 2000));
    close_rest();
}

/* Found lost in a call of ours, which is not where it may be told. */
TEST(async_close, close_tells_of_loss_that_nobody_has_told)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock = NULL;
    open_masters(BY_NOBODY);
    options.ttl_ms = 600;
    options.on_lost = told_lost;
    options.lost_context = &lost;
    ck_assert_int_eq(redlock_try(client, "short", &options, &lock), 0);
    ck_assert(wait_until(redlock_validity_ms(lock) == 0, 5000));
    ck_assert(client_can_take(client, "name"));
    ck_assert_int_eq(lost.calls, 0);
    redlock_close(client);
    ck_assert_int_eq(lost.calls, 1);
    ck_assert_int_eq(lost.validity_ms, 0);
    close_rest();
}

/* No call has found it so far: the last look is close's own. */
TEST(async_close, close_looks_for_losses_itself)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock = NULL;
    open_masters(BY_NOBODY);
    options.ttl_ms = 600;
    options.on_lost = told_lost;
    options.lost_context = &lost;
    ck_assert_int_eq(redlock_try(client, "short", &options, &lock), 0);
    ck_assert(wait_until(redlock_validity_ms(lock) == 0, 5000));
    ck_assert_int_eq(lost.calls, 0);
    redlock_close(client);
    ck_assert_int_eq(lost.calls, 1);
    close_rest();
}

/* ---- without memory --------------------------------------------------------------------- */

static const char *file;

/* Go by the descriptor and the time-out; no assertion of Check's: it allocates. */
static bool turn_to(atomic_int *calls, int wanted)
{
    for (int64_t end = now_ms() + 5000; *calls < wanted && now_ms() < end;) {
        struct pollfd ready = {.fd = redlock_fd(client), .events = POLLIN};
        int timeout = redlock_timeout_ms(client);
        if (ready.fd < 0)
            return false;
        poll(&ready, 1, timeout < 0 || timeout > 1000 ? 1000 : timeout);
        redlock_process(client);
    }
    return *calls == wanted;
}

static bool may_be(int code)
{
    return code == 0 || code == REDLOCK_ENOMEM;
}

/* The line where something came out that may not, or 0. */
static int live_once(void)
{
    memset(told, 0, sizeof(told));
    memset(&extended, 0, sizeof(extended));
    memset(&released, 0, sizeof(released));
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.auto_renew = 1;
    options.wait_ms = 1000;
    client = NULL;
    int code = redlock_open(file, NULL, &client);
    if (code != 0)
        return client ? __LINE__ : 0;
    if (redlock_fd(client) < 0)
        return __LINE__;
    code = redlock_try_async_n(client, "name", 4, &options, told_done, &told[0], NULL);
    if (!may_be(code) || (code == 0 && !turn_to(&told[0].calls, 1)) || !may_be(told[0].result))
        return __LINE__;
    redlock_lock *lock = told[0].lock;
    if (lock) {
        code = redlock_extend_async(lock, 20000, NULL, told_done, &extended);
        if (!may_be(code) || (code == 0 && !turn_to(&extended.calls, 1)) ||
            !may_be(extended.result) || redlock_validity_ms(lock) == 0)
            return __LINE__;
        code = redlock_release_async(lock, told_done, &released);
        if (!may_be(code) || redlock_release_async(lock, NULL, NULL) != REDLOCK_ENOTHELD)
            return __LINE__;
        if (code == 0 && (!turn_to(&released.calls, 1) || released.result != 0))
            return __LINE__;
        if (code != 0 && released.calls != 0)
            return __LINE__;
    }
    code = redlock_try_async_n(client, "name", 4, &options, told_done, &told[1], NULL);
    if (!may_be(code))
        return __LINE__;
    bool begun = code == 0;
    redlock_close(client);
    return told[0].calls > 1 || told[1].calls != begun || released.calls > 1 ? __LINE__ : 0;
}

TEST(async_close, every_allocation_may_fail)
{
    if (!alloc_works())
        return; /* a sanitizer has the allocator; the plain build tests this */
    masters = masters_start(3, NULL);
    file = masters_file(masters, "ttl 1s\n");
    ck_assert_int_eq(live_once(), 0); /* what is made once and kept is made, */
    ERR_clear_error();                /* and what OpenSSL keeps, too */
    long live = alloc_live(), failed_calls = 0;
    for (long number = 1;; number++) {
        alloc_fail_at(number);
        int line = live_once();
        long counted = alloc_count();
        alloc_fail_at(0);
        ERR_clear_error();
        ck_assert_msg(line == 0, "allocation %ld failed: line %d: %d, %d, %d", number, line,
                      told[0].result, extended.result, released.result);
        ck_assert_msg(alloc_live() == live, "allocation %ld failed: %ld blocks leaked", number,
                      alloc_live() - live);
        if (counted < number)
            break;
        failed_calls++;
    }
    ck_assert_int_gt(failed_calls, 30);
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
}

CASE(async_close, .timeout_s = 120)
