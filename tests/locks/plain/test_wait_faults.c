/* tags: threads */
/* test_wait_faults.c - waiting while what wakes is broken: connections that are killed at every
 * moment, masters that die or stop, channels that are forbidden. Whoever waits gets the lock
 * all the same, by a wake-up of the masters that are left or by asking. */
#include "config_auto.h"

#include "client.h"
#include "masters.h"
#include "proxy.h"
#include "wait_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOON_MS = 4000 }; /* a probe is due within 1.3 s, and the machine may be busy */

static void kill_subscribers(unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count; i++)
        master_do(masters, i, "CLIENT", "KILL", "TYPE", "pubsub", NULL);
}

static unsigned subscribers(unsigned node)
{
    struct reply reply = master_do(masters, node, "CLIENT", "LIST", "TYPE", "pubsub", NULL);
    unsigned count = 0;
    for (const char *at = reply.text; (at = strstr(at, "sub=1")) != NULL; at++)
        count++;
    return count;
}

static bool all_subscribed(void)
{
    for (unsigned i = 0; i < masters->n; i++) {
        if (subscribers(i) != 1)
            return false;
    }
    return true;
}

/* Released now, and heard of. */
static void expect_woken(redlock_lock *held)
{
    waiter_mark(&waiter);
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_woken(&waiter, 1);
}

/* ---- connections ------------------------------------------------------------------------ */

static const struct {
    unsigned first, count;
} some[] = {{0, 1}, {4, 1}, {1, 2}, {0, 3}, {0, 5}};

TEST(wait_faults, subscribers_killed_while_waiting_come_back_and_queue, .rows = 5)
{
    OPEN_MASTERS(5);
    redlock_lock *held = hold_and_wait();
    for (int i = 0; i < 3; i++) {
        kill_subscribers(some[_i].first, some[_i].count);
        ck_assert(wait_until(all_subscribed(), 10000));
    }
    expect_woken(held);
}

TEST(wait_faults, subscribers_killed_around_release_are_no_loss, .rows = 5)
{
    OPEN_MASTERS(5);
    for (int i = 0; i < 6; i++) {
        redlock_lock *held = hold_and_wait();
        if (i % 2 == 0)
            kill_subscribers(some[_i].first, some[_i].count);
        ck_assert_int_eq(redlock_release(held), 0);
        if (i % 2 == 1)
            kill_subscribers(some[_i].first, some[_i].count);
        waiter_expect_lock(&waiter, SOON_MS);
    }
}

/* While nobody waits, a client may not notice: right before the next wait, or long before. */
TEST(wait_faults, subscribers_killed_between_waits_are_replaced, .rows = 5)
{
    OPEN_MASTERS(5);
    for (int i = 0; i < 4; i++) {
        redlock_lock *held = take_everywhere(masters, one, "name");
        waiter_start(&waiter, two, "name", 30000);
        /* Not at all of them, where one is subscribed to while others are asked. */
        ck_assert(wait_until(masters_with(masters, "{name}:redlock:queue") >= 3, SOON_MS));
        waiter_mark(&waiter);
        ck_assert_int_eq(redlock_release(held), 0);
        /* By a message, or by the look that follows a new subscription. */
        waiter_expect_woken(&waiter, 0);
        kill_subscribers(some[_i].first, some[_i].count);
        pause_ms(i % 2 ? 0 : 150);
    }
}

static atomic_bool killing;

static void *kill_on(void *argument)
{
    (void)argument;
    for (unsigned i = 0; atomic_load(&killing); i++) {
        kill_subscribers(i % masters->n, 1);
        pause_ms(1);
    }
    return NULL;
}

/* The moments are chance: before the subscription, while it waits, during the release. */
TEST(wait_faults, subscribers_killed_constantly_stop_nobody)
{
    pthread_t killer;
    OPEN_MASTERS(3);
    atomic_store(&killing, true);
    ck_assert_int_eq(pthread_create(&killer, NULL, kill_on, NULL), 0);
    for (int i = 0; i < 8; i++) {
        redlock_lock *held = take_everywhere(masters, one, "name");
        waiter_start(&waiter, two, "name", 30000);
        pause_ms(i * 20);
        ck_assert_int_eq(redlock_release(held), 0);
        waiter_expect_lock(&waiter, SOON_MS);
    }
    atomic_store(&killing, false);
    pthread_join(killer, NULL);
}

/* The subscribers meet a closed door, or one behind which nothing is said; then not any more.
 */
TEST(wait_faults, without_subscription_it_asks_and_later_listens, .rows = 2)
{
    struct proxy *proxies[3];
    masters = masters_start(3, NULL);
    one = client_open(masters_file(masters, NULL));
    two = client_open(proxies_start(masters, proxies, true, NULL));
    ck_assert(wait_until(client_ready(one) == 3 && client_ready(two) == 3, 10000));
    redlock_lock *held = take_everywhere(masters, one, "name");
    for (unsigned i = 0; i < 3; i++) {
        proxy_shut(proxies[i], _i == 0);
        proxy_limit(proxies[i], PROXY_ALL, PROXY_THERE, _i == 0 ? -1 : 0);
        proxy_limit(proxies[i], 0, PROXY_THERE, -1);
    }
    waiter_start(&waiter, two, "name", 30000);
    uint64_t rounds = client_stats(two).rounds;
    ck_assert(wait_until(client_stats(two).rounds > rounds + 3, 5000));
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_lock(&waiter, SOON_MS);
    ck_assert_uint_eq(client_stats(two).wakes, 0);

    held = take_everywhere(masters, one, "name");
    waiter_start(&waiter, two, "name", 30000);
    for (unsigned i = 0; i < 3; i++) {
        proxy_shut(proxies[i], false);
        proxy_limit(proxies[i], PROXY_ALL, PROXY_THERE, -1);
    }
    queue_becomes(masters, "name", 1);
    expect_woken(held);
    close_all();
}

/* ---- masters ---------------------------------------------------------------------------- */

static void (*const harms[])(struct masters *masters, unsigned node) = {master_kill,
                                                                        master_pause};

TEST(wait_faults, master_that_goes_while_one_waits_is_not_missed, .rows = 2)
{
    OPEN_MASTERS(5);
    redlock_lock *held = hold_and_wait();
    harms[_i](masters, 2);
    expect_woken(held);
    if (masters->node[2].paused)
        master_resume(masters, 2);
}

/* Right before the release, or right behind it. */
TEST(wait_faults, master_that_goes_between_hand_offs_delays_few, .rows = 4)
{
    OPEN_MASTERS(5);
    int delayed = 0;
    for (int i = 0; i < 20; i++) {
        redlock_lock *held = take_everywhere(masters, one, "name");
        waiter_start(&waiter, two, "name", 30000);
        if (i % 2)
            queue_becomes(masters, "name", 1);
        if (i == 5 && _i < 2)
            harms[_i % 2](masters, 2);
        ck_assert_int_eq(redlock_release_async(held, NULL, NULL), 0);
        if (i == 5 && _i >= 2)
            harms[_i % 2](masters, 2);
        int64_t begun = now_ms();
        waiter_expect_lock(&waiter, SOON_MS);
        delayed += waiter.back_ms - begun > 500;
    }
    ck_assert_int_le(delayed, 3);
    if (masters->node[2].paused)
        master_resume(masters, 2);
}

/* Its connections and its queue are gone; the waiter enters the new one by itself. */
TEST(wait_faults, masters_that_come_back_empty_are_queued_at_again)
{
    OPEN_MASTERS(3);
    redlock_lock *held = hold_and_wait();
    master_restart(masters, 0, true);
    ck_assert(wait_until(subscribers(0) == 1, 10000));
    expect_woken(held);
}

/* ---- rights ----------------------------------------------------------------------------- */

static const struct {
    const char *rule;
    bool queued;
} rights[] = {{"resetchannels", false}, {"-subscribe", false}, {"-publish", true}};

/* One of three, or all. */
TEST(wait_faults, user_without_right_to_channels_gets_lock, .rows = 6)
{
    unsigned denied = _i % 2 ? 1 : 3;
    masters = masters_start(3, NULL);
    for (unsigned i = 0; i < denied; i++) {
        struct reply reply =
            master_do(masters, i, "ACL", "SETUSER", "default", rights[_i / 2].rule, NULL);
        ck_assert_str_eq(reply.text, "OK");
    }
    one = client_open(masters_file(masters, NULL));
    two = client_open(masters_file(masters, NULL));
    ck_assert(wait_until(client_ready(one) == 3 && client_ready(two) == 3, 10000));
    for (int i = 0; i < 3; i++) {
        redlock_lock *held = take_everywhere(masters, one, "name");
        waiter_start(&waiter, two, "name", 30000);
        if (rights[_i / 2].queued)
            queue_becomes(masters, "name", 1);
        else
            pause_ms(50);
        ck_assert(!atomic_load(&waiter.back));
        ck_assert_int_eq(redlock_release(held), 0);
        waiter_expect_lock(&waiter, SOON_MS);
    }
    close_all();
}

CASE(wait_faults, .timeout_s = 60)
