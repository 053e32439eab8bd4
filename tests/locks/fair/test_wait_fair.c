/* test_wait_fair.c - waiting for a fair lock: each owner stands in a line and in the master's
 * queue for itself, from its first round on, and is woken on a channel of its own. */
#include "config_auto.h"

#include "channel_scene.h"

#include <stdio.h>
#include <string.h>

enum { WAIT_MS = 30000, SOON_MS = 10000, PROBE_MS = 1000, OWNERS = 8 };

#define FAIR_CHANNEL CHANNEL_OF("name") ":"

static long long queued(void)
{
    return master_do(masters, 0, "LLEN", "redisson_lock_queue:{name}", NULL).number;
}

static void queue_has(long long count)
{
    ck_assert_msg(wait_until(queued() == count, SOON_MS), "%lld in the queue, not %lld",
                  queued(), count);
}

static redlock_lock *hold(void)
{
    return client_take_as(one, "name", REDLOCK_FAIR, "holder");
}

TEST(fair, owners_come_in_order_in_which_they_asked)
{
    static struct waiter waiters[OWNERS];
    static char owners[OWNERS][16], channel[64];
    OPEN_MASTERS(1);
    redlock_lock *held = hold();
    for (int i = 0; i < OWNERS; i++) { /* of two clients */
        snprintf(owners[i], sizeof(owners[i]), "owner-%d", i);
        snprintf(channel, sizeof(channel), FAIR_CHANNEL "%s", owners[i]);
        waiter_start_as(&waiters[i], i % 2 ? one : two, "name", REDLOCK_FAIR, owners[i],
                        WAIT_MS);
        queue_has(i + 1);
        listeners_become(channel, 1);
    }
    ck_assert_int_eq(redlock_release(held), 0);
    int64_t since_ms = now_ms();
    waiters_expect_in_turn(waiters, OWNERS, SOON_MS);
    /* Each would have looked by itself after a second. */
    ck_assert_int_lt(now_ms() - since_ms, PROBE_MS);
}

/* Whether it is heard or not: the round that is refused first has queued it. */
TEST(fair, first_round_enters_queue)
{
    redlock_node_vote report_votes[REDLOCK_NODES_MAX];
    redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
    OPEN_MASTERS(1);
    redlock_lock *held = hold(), *lock = NULL;
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.kind = REDLOCK_FAIR;
    options.wait_ms = WAIT_MS;
    waiter_start_as(&waiter, two, "name", REDLOCK_FAIR, "waiter", WAIT_MS);
    queue_has(1);
    uint64_t rounds = client_stats(two).rounds;
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_lock(&waiter, SOON_MS);
    ck_assert_uint_le(rounds, 3);
    /* Who does not wait is not queued. */
    held = hold();
    options.wait_ms = 0;
    options.report = &report;
    ck_assert_int_eq(redlock_try(two, "name", &options, &lock), REDLOCK_EHELD);
    ck_assert_int_eq(queued(), 0);
    ck_assert_int_eq(redlock_release(held), 0);
}

/* Who gives up leaves the queue, and whoever is first then hears of the release. */
TEST(fair, waiter_that_gives_up_makes_room)
{
    struct waiter next;
    OPEN_MASTERS(1);
    redlock_lock *held = hold();
    waiter_start_as(&waiter, two, "name", REDLOCK_FAIR, "first", 400);
    queue_has(1);
    waiter_start_as(&next, two, "name", REDLOCK_FAIR, "second", WAIT_MS);
    queue_has(2);
    waiter_expect_code(&waiter, REDLOCK_EHELD, SOON_MS);
    queue_has(1);
    listeners_become(FAIR_CHANNEL "first", 0);
    listeners_become(FAIR_CHANNEL "second", 1);
    client_is_quiet(two);
    waiter_mark(&next);
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_woken(&next, 1);
    listeners_become(FAIR_CHANNEL "second", 0);
}

/* It gives up before it has heard that it was queued, and comes back under the same name: by
 * the time it hears of the first place, it is the second one that would be given up. */
TEST(fair, waiter_that_comes_back_keeps_its_place)
{
    struct proxy *proxy = open_with_proxy();
    redlock_lock *held = hold(), *lock = NULL;
    proxy_delay(proxy, PROXY_ALL, PROXY_BACK, 100);
    int code = client_try_as(two, "name", REDLOCK_FAIR, "waiter", 20, &lock);
    ck_assert(code == REDLOCK_EUNDECIDED || code == REDLOCK_EHELD);
    queue_has(1);
    waiter_start_as(&waiter, two, "name", REDLOCK_FAIR, "waiter", WAIT_MS);
    listeners_become(FAIR_CHANNEL "waiter", 1);
    for (int i = 0; i < 50; i++, pause_ms(10))
        ck_assert_int_eq(queued(), 1);
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_lock(&waiter, SOON_MS);
    close_all();
}

/* An owner that has it takes it again, whoever waits. */
TEST(fair, owner_comes_in_again)
{
    OPEN_MASTERS(1);
    redlock_lock *held = hold(), *again = NULL;
    waiter_start_as(&waiter, one, "name", REDLOCK_FAIR, "waiter", WAIT_MS);
    queue_has(1);
    ck_assert_int_eq(client_try_as(one, "name", REDLOCK_FAIR, "holder", WAIT_MS, &again), 0);
    ck_assert_int_eq(redlock_release(held), 0);
    pause_ms(20);
    ck_assert(!waiter_is_back(&waiter, 0));
    ck_assert_int_eq(redlock_release(again), 0);
    waiter_expect_lock(&waiter, SOON_MS);
}

CASE(fair, .timeout_s = 60)
