/* tags: threads */
/* test_wait_leave.c - who waits and stops waiting: in time, canceled, killed, or stopped. It
 * leaves nothing behind, and those behind it get on. */
#include "config_auto.h"

#include "child.h"
#include "client.h"
#include "masters.h"
#include "proxy.h"
#include "waiter.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { SOON_MS = 4000 }; /* a probe is due within 1.6 s for the second, on a busy machine */

static struct masters *masters;
static redlock *one, *two, *three;
static struct waiter waiter, other;

static void open_masters(unsigned n)
{
    masters = masters_start(n, NULL);
    one = client_open(masters_file(masters, NULL));
    two = client_open(masters_file(masters, NULL));
    three = client_open(masters_file(masters, NULL));
    ck_assert(wait_until(
        client_ready(one) == n && client_ready(two) == n && client_ready(three) == n, 10000));
}

static void close_all(void)
{
    nothing_is_left(masters);
    redlock_close(one);
    redlock_close(two);
    redlock_close(three);
}

/* ---- asynchronous tries, and a client that only runs when it is told to ----------------- */

struct outcome {
    atomic_bool done;
    int code;
    redlock_lock *lock;
};

static void on_done(void *context, int result, redlock_lock *lock)
{
    struct outcome *outcome = context;
    outcome->code = result;
    outcome->lock = lock;
    atomic_store(&outcome->done, true);
}

static uint64_t try_async(redlock *client, struct outcome *outcome)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    uint64_t id = 0;
    *outcome = (struct outcome){.code = -100};
    options.ttl_ms = CLIENT_TTL_MS;
    options.wait_ms = 30000;
    ck_assert_int_eq(redlock_try_async_n(client, "name", 4, &options, on_done, outcome, &id), 0);
    return id;
}

static bool process(redlock *client)
{
    struct pollfd ready = {.fd = redlock_fd(client), .events = POLLIN};
    int timeout = redlock_timeout_ms(client);
    poll(&ready, 1, timeout >= 0 && timeout < 5 ? timeout : 5);
    return redlock_process(client) == 0;
}

/* ---- out of time, canceled, closed ------------------------------------------------------ */

TEST(wait_leave, waiter_that_gives_up_leaves_queue)
{
    open_masters(5);
    redlock_lock *held = take_everywhere(masters, one, "name");
    for (int i = 0; i < 3; i++) {
        waiter_start(&waiter, two, "name", 300);
        queue_becomes(masters, "name", 1);
        waiter_expect_code(&waiter, REDLOCK_EHELD, SOON_MS);
        queue_becomes(masters, "name", 0);
    }
    ck_assert_uint_eq(client_stats(two).waiting, 0);
    ck_assert_int_eq(redlock_release(held), 0);
    close_all();
}

TEST(wait_leave, canceled_waiter_leaves_queue)
{
    struct outcome first, second;
    open_masters(5);
    redlock_lock *held = take_everywhere(masters, one, "name");
    uint64_t id = try_async(two, &first);
    queue_becomes(masters, "name", 1);
    ck_assert_int_eq(redlock_cancel(two, id), 0);
    ck_assert(wait_until(atomic_load(&first.done), SOON_MS));
    ck_assert_int_eq(first.code, REDLOCK_ECANCELED);
    ck_assert_int_eq(redlock_cancel(two, id), REDLOCK_ENOTHELD);
    queue_becomes(masters, "name", 0);
    /* The first of two: the other one takes its place in the line and in the queue. */
    id = try_async(two, &first);
    try_async(two, &second);
    queue_becomes(masters, "name", 1);
    ck_assert_int_eq(redlock_cancel(two, id), 0);
    ck_assert(wait_until(client_stats(two).waiting == 1, SOON_MS));
    queue_becomes(masters, "name", 1);
    ck_assert_int_eq(redlock_release(held), 0);
    ck_assert(wait_until(atomic_load(&second.done), SOON_MS));
    ck_assert_int_eq(second.code, 0);
    ck_assert_int_eq(redlock_release(second.lock), 0);
    close_all();
}

/* All that wait in it: none takes the other's place, and none stays behind. */
TEST(wait_leave, client_that_is_canceled_or_closed_leaves_its_queues, .rows = 2)
{
    struct outcome outcomes[3];
    open_masters(3);
    redlock_lock *held = take_everywhere(masters, one, "name");
    waiter_start(&waiter, three, "name", 30000);
    queue_becomes(masters, "name", 1);
    for (int i = 0; i < 3; i++)
        try_async(two, &outcomes[i]);
    queue_becomes(masters, "name", 2);
    if (_i == 0)
        redlock_shutdown(two);
    else
        redlock_close(two);
    for (int i = 0; i < 3; i++) {
        ck_assert(wait_until(atomic_load(&outcomes[i].done), SOON_MS));
        ck_assert_int_eq(outcomes[i].code, REDLOCK_ECANCELED);
    }
    if (_i != 0)
        two = NULL;
    queue_becomes(masters, "name", 1);
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_lock(&waiter, SOON_MS);
    close_all();
}

/* Somebody waits, and this connection of his to each master is cut and does not come back. */
static redlock_lock *cut_who_waits(struct proxy *ret_proxies[3], int connection)
{
    open_masters(3);
    redlock_close(two);
    two = client_open(proxies_start(masters, ret_proxies, true, NULL));
    ck_assert(wait_until(client_ready(two) == 3, 10000));
    redlock_lock *held = take_everywhere(masters, one, "name");
    waiter_start(&waiter, two, "name", 1500);
    queue_becomes(masters, "name", 1);
    for (unsigned i = 0; i < 3; i++) {
        proxy_shut(ret_proxies[i], true);
        proxy_cut(ret_proxies[i], connection, false);
    }
    return held;
}

/* Its entry is still in the queue when it gives up, though it would not be reached. */
TEST(wait_leave, waiter_that_gives_up_unreachable_leaves_queue)
{
    struct proxy *proxies[3];
    redlock_lock *held = cut_who_waits(proxies, 1);
    waiter_expect_code(&waiter, REDLOCK_EHELD, SOON_MS);
    queue_becomes(masters, "name", 0);
    ck_assert_int_eq(redlock_release(held), 0);
    close_all();
}

/* The other way round: it would be reached, but can't say that it has given up before its
 * master is there again. Else the release would be handed on to nobody. */
TEST(wait_leave, waiter_cut_off_leaves_queue_later)
{
    struct proxy *proxies[3];
    redlock_lock *held = cut_who_waits(proxies, 0);
    ck_assert(waiter_is_back(&waiter, SOON_MS));
    ck_assert_int_ne(waiter.code, 0);
    pthread_join(waiter.thread, NULL);
    ck_assert(queue_is(masters, "name", 1));
    for (unsigned i = 0; i < 3; i++)
        proxy_shut(proxies[i], false);
    ck_assert(wait_until(client_ready(two) == 3, 10000));
    queue_becomes(masters, "name", 0);
    ck_assert_int_eq(redlock_release(held), 0);
    close_all();
}

/* ---- woken, and gone -------------------------------------------------------------------- */

/* The release wakes the first, which does not run; then it is canceled. Were the wake-up not
 * passed on, the second would sleep until it looks by itself. */
TEST(wait_leave, woken_waiter_that_leaves_wakes_next)
{
    struct outcome outcome;
    open_masters(5);
    for (int i = 0; i < 3; i++) {
        redlock_lock *held = take_everywhere(masters, one, "name");
        ck_assert_int_ge(redlock_fd(two), 0);
        uint64_t id = try_async(two, &outcome);
        ck_assert(wait_until(process(two) && queue_is(masters, "name", 1), SOON_MS));
        for (int k = 0; k < 20; k++) /* it has heard all there is */
            ck_assert(process(two));
        waiter_start(&waiter, three, "name", 30000);
        queue_becomes(masters, "name", 2);
        waiter_mark(&waiter);
        ck_assert_int_eq(redlock_release(held), 0);
        ck_assert_int_eq(redlock_cancel(two, id), 0);
        ck_assert(wait_until(process(two) && atomic_load(&waiter.back), SOON_MS));
        ck_assert_int_eq(outcome.code, REDLOCK_ECANCELED);
        waiter_expect_woken(&waiter, 1);
    }
    close_all();
}

static int wait_in_child(void *argument)
{
    redlock *client = NULL;
    redlock_lock *lock = NULL;
    child_expect(redlock_open(argument, NULL, &client) == 0);
    child_expect(client_try(client, "name", 0, 60000, NULL, &lock) == 0);
    child_expect(redlock_release(lock) == 0);
    redlock_close(client);
    return 0;
}

TEST(wait_leave, killed_waiter_is_skipped)
{
    open_masters(3);
    struct child children[3];
    redlock_lock *held = take_everywhere(masters, one, "name");
    for (int i = 0; i < 3; i++)
        children[i] = child_start(wait_in_child, (char *)masters_file(masters, NULL));
    queue_becomes(masters, "name", 3);
    waiter_start(&waiter, two, "name", 30000);
    queue_becomes(masters, "name", 4);
    for (int i = 0; i < 3; i++) {
        kill(children[i].pid, SIGKILL);
        ck_assert_int_eq(child_wait(&children[i], 10000), -2);
    }
    waiter_mark(&waiter);
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_woken(&waiter, 2);
    close_all();
}

/* It hears nothing, and the masters can't know. */
TEST(wait_leave, stopped_waiter_delays_others_for_bounded_time)
{
    open_masters(3);
    redlock_lock *held = take_everywhere(masters, one, "name");
    struct child child = child_start(wait_in_child, (char *)masters_file(masters, NULL));
    queue_becomes(masters, "name", 1);
    child_signal(child.pid, SIGSTOP, WUNTRACED);
    waiter_start(&waiter, two, "name", 30000);
    waiter_start(&other, three, "name", 30000);
    queue_becomes(masters, "name", 3);
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_is_back(&waiter, SOON_MS);
    if (atomic_load(&waiter.back)) {
        waiter_expect_lock(&waiter, SOON_MS);
        waiter_expect_lock(&other, SOON_MS);
    } else {
        waiter_expect_lock(&other, SOON_MS);
        waiter_expect_lock(&waiter, SOON_MS);
    }
    kill(child.pid, SIGCONT);
    ck_assert_int_eq(child_wait(&child, 20000), 0);
    close_all();
}

CASE(wait_leave, .timeout_s = 60)
