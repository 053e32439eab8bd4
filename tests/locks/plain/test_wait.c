/* test_wait.c - waiting for a lock where nothing is broken: who waits is woken and does not
 * ask in vain, finds what goes without a word, and ends in time. */
#include "config_auto.h"

#include "child.h"
#include "client.h"
#include "masters.h"
#include "proxy.h"
#include "stall.h"
#include "wait_scene.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set_everywhere(const char *value, const char *ttl_ms)
{
    for (unsigned i = 0; i < masters->n; i++) {
        struct reply reply =
            master_do(masters, i, "SET", "name", value, "NX", "PX", ttl_ms, NULL);
        ck_assert_str_eq(reply.text, "OK");
    }
}

static void delete_everywhere(void)
{
    for (unsigned i = 0; i < masters->n; i++)
        ck_assert_int_eq(master_do(masters, i, "DEL", "name", NULL).number, 1);
}

/* ---- woken ------------------------------------------------------------------------------ */

static const unsigned sizes[] = {1, 2, 3, 5};

TEST(wait, release_wakes_and_nothing_else_is_asked, .rows = 4)
{
    unsigned n = sizes[_i];
    OPEN_MASTERS(n);
    for (int i = 0; i < 5; i++) {
        redlock_stats before = client_stats(two);
        stall_watch();
        redlock_lock *held = hold_and_wait();
        pause_ms(100); /* in which it is to do nothing */
        waiter_mark(&waiter);
        ck_assert_int_eq(redlock_release(held), 0);
        waiter_expect_woken(&waiter, n / 2 + 1);
        /* One round that is refused, one that is woken, and one for each master that is heard
         * of later than others; each may have to be undone. */
        uint64_t commands = client_stats(two).commands - before.commands;
        ck_assert_msg(commands <= (2 + n) * 2 * n || stall_excuses(STALL_MS), "%d",
                      (int)commands);
    }
}

TEST(wait, queued_waiter_asks_nothing)
{
    OPEN_MASTERS(5);
    redlock_lock *held = hold_and_wait();
    expect_quiet(two);
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_lock(&waiter, 5000);
}

TEST(wait, release_by_force_wakes)
{
    OPEN_MASTERS(3);
    redlock *three = client_open(masters_file(masters, NULL));
    redlock_lock *held = hold_and_wait();
    waiter_mark(&waiter);
    ck_assert_int_eq(redlock_force_release_n(three, "name", 4, REDLOCK_OFF, NULL), 0);
    waiter_expect_woken(&waiter, 2);
    ck_assert_int_eq(redlock_release(held), REDLOCK_EEXPIRED);
    redlock_close(three);
}

/* Without waiting for answers; by another client that took it up; by closing the holder's. */
TEST(wait, release_of_any_sort_wakes, .rows = 3)
{
    char text[REDLOCK_HANDLE_MAX];
    OPEN_MASTERS(3);
    CLIENT three = open_third();
    redlock_lock *held = hold_and_wait();
    waiter_mark(&waiter);
    if (_i == 0) {
        ck_assert_int_eq(redlock_release_async(held, NULL, NULL), 0);
    } else if (_i == 1) {
        ck_assert_int_eq(redlock_detach(held, text, sizeof(text)), 0);
        ck_assert_int_eq(redlock_attach(three, text, &held), 0);
        ck_assert_int_eq(redlock_release(held), 0);
    } else {
        redlock_close(one);
        one = NULL;
    }
    waiter_expect_woken(&waiter, 2);
}

enum { FEW = 3, TURNS = 1200, SLOW_MS = 900 };

static _Atomic int64_t last_turn_ms; /* when somebody had the lock */

/* How many of its turns came as late as a probe does after anybody's: all were asleep. */
static void *take_turns(void *client)
{
    static _Thread_local redlock_lock *lock;
    uintptr_t slow = 0;
    for (int i = 0; i < TURNS; i++) {
        if (client_try(client, "name", 0, 30000, NULL, &lock) != 0)
            return (void *)(uintptr_t)TURNS;
        int64_t taken_ms = now_ms();
        slow += taken_ms - atomic_exchange(&last_turn_ms, taken_ms) >= SLOW_MS;
        redlock_release(lock);
    }
    return (void *)slow;
}

static int late_turns(redlock *const clients[])
{
    pthread_t thread[FEW];
    uintptr_t slow = 0;
    atomic_store(&last_turn_ms, now_ms());
    for (int i = 0; i < FEW; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, take_turns, clients[i]), 0);
    for (int i = 0; i < FEW; i++) {
        void *result;
        pthread_join(thread[i], &result);
        slow += (uintptr_t)result;
    }
    return (int)slow;
}

/* Each wants it again at once, so that releases, wake-ups and rounds of both meet on the
 * masters in every order: none leaves all of them asleep until one looks by itself. */
TEST(wait, few_waiters_in_turn_are_always_woken)
{
    OPEN_MASTERS(3);
    CLIENT three = open_third();
    redlock *const clients[FEW] = {one, two, three};
    int slow = 0;
    bool woken = met_unless_stalled((slow = late_turns(clients)) <= 1, STALL_MS, 2);
    ck_assert_msg(woken, "%d of %d turns came late", slow, FEW * TURNS);
}

/* ---- not told --------------------------------------------------------------------------- */

static int hold_for_ever(void *argument)
{
    redlock *client = NULL;
    redlock_lock *lock = NULL;
    child_expect(redlock_open(argument, NULL, &client) == 0);
    child_expect(wait_until(client_ready(client) == 3, 10000));
    child_expect(client_try(client, "name", 2700, 0, NULL, &lock) == 0);
    pause_ms(60000);
    return 0;
}

/* Rounds in case that a message was lost come at most at 1.25, 2.5 and 3.75 s and at least
 * at 1, 2 and 3 s: none is near. How long after its end it is taken; very long, where the
 * machine stood still till the holder's lease was over. */
static int64_t outwait_the_dead(void)
{
    masters = masters_start(3, NULL);
    struct child holder =
        child_start(hold_for_ever, (char *)masters_file(masters, "connect-timeout 10s\n"));
    one = NULL;
    two = client_open(masters_file(masters, NULL));
    ck_assert(wait_until(client_ready(two) == 3, 10000));
    bool held = wait_until(masters_with(masters, "name") == 3, 3000);
    waiter_start(&waiter, two, "name", 30000);
    int64_t asked = now_ms();
    int64_t left = master_do(masters, 0, "PTTL", "name", NULL).number, begun = now_ms();
    kill(holder.pid, SIGKILL);
    ck_assert_int_eq(child_wait(&holder, 10000), -2);
    waiter_expect_lock(&waiter, 10000);
    if (!held || left <= 0) {
        close_all();
        return INT64_MAX;
    }
    int64_t early = asked + left - waiter.back_ms;
    ck_assert_msg(early <= 20, "%d ms before its end", (int)early);
    close_all();
    return waiter.back_ms - (begun + left);
}

TEST(wait, dead_holders_ttl_is_not_overslept)
{
    int64_t late = 0;
    bool in_time = met_unless_stalled((late = outwait_the_dead()) < 250, STALL_MS, 2);
    ck_assert_msg(in_time, "%d ms after its end", (int)late);
}

/* As the peers of the plain format do it: a bare SET with a value of their own, and a DEL
 * that tells nobody. */
TEST(wait, peers_silent_release_is_found_soon)
{
    OPEN_MASTERS(3);
    set_everywhere("cGVlcidzIHZhbHVlIGlzIGJhc2U2NA==", "20000");
    waiter_start(&waiter, two, "name", 30000);
    pause_ms(300);
    ck_assert(!atomic_load(&waiter.back));
    delete_everywhere();
    waiter_expect_lock(&waiter, 700); /* it asks every 250 ms at least */
}

TEST(wait, peers_ttl_is_not_overslept)
{
    OPEN_MASTERS(3);
    set_everywhere("cGVlcidzIHZhbHVlIGlzIGJhc2U2NA==", "800");
    waiter_start(&waiter, two, "name", 30000);
    waiter_expect_lock(&waiter, 1500);
}

/* A lock of ours that somebody else deletes: only a probe can find that. */
TEST(wait, lock_that_vanishes_is_found_by_probe)
{
    OPEN_MASTERS(3);
    redlock_lock *held = hold_and_wait();
    delete_everywhere();
    waiter_expect_lock(&waiter, 3000);
    ck_assert_uint_ge(client_stats(two).probes, 1);
    ck_assert_uint_eq(client_stats(two).wakes, 0);
    ck_assert_int_eq(redlock_release(held), REDLOCK_EEXPIRED);
}

/* Each time the end that it was told of has passed it looks again, and is none the wiser. */
TEST(wait, renewed_lock_is_waited_for_until_its_release)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *held = NULL;
    OPEN_MASTERS(3);
    options.ttl_ms = 900;
    options.auto_renew = 1;
    ck_assert_int_eq(redlock_try(one, "name", &options, &held), 0);
    waiter_start(&waiter, two, "name", 30000);
    ck_assert(!waiter_is_back(&waiter, 3000));
    ck_assert_int_gt(redlock_validity_ms(held), 0);
    /* Renewed every 300 ms, it has 600 ms left at least whenever somebody looks. */
    uint64_t most = (uint64_t)(now_ms() - waiter.begun_ms) / 450 + 5;
    ck_assert_uint_le(client_stats(two).rounds, most);
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_lock(&waiter, 1000);
}

/* ---- how long --------------------------------------------------------------------------- */

TEST(wait, without_wait_nobody_queues)
{
    OPEN_MASTERS(3);
    redlock_lock *held = take_everywhere(masters, one, "name"), *lock = NULL;
    for (int i = 0; i < 50; i++)
        ck_assert_int_eq(client_try(two, "name", 0, 0, NULL, &lock), REDLOCK_EHELD);
    ck_assert(queue_is(masters, "name", 0));
    ck_assert_uint_eq(client_stats(two).rounds, 50);
    /* Nobody listens. */
    for (unsigned i = 0; i < 3; i++)
        ck_assert_str_eq(master_do(masters, i, "PUBSUB", "CHANNELS", "*", NULL).text, "");
    /* And others of the client that wait for it do not make it wait. */
    waiter_start(&waiter, two, "name", 30000);
    queue_becomes(masters, "name", 1);
    uint64_t rounds = client_stats(two).rounds;
    ck_assert_int_eq(client_try(two, "name", 0, 0, NULL, &lock), REDLOCK_EHELD);
    ck_assert_uint_gt(client_stats(two).rounds, rounds);
    ck_assert_uint_eq(client_stats(two).waiting, 1);
    ck_assert(queue_is(masters, "name", 1));
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_lock(&waiter, 5000);
}

/* A try may be late by so much, and by more where the machine stalled. */
enum { LATE_MS = 3, REST_MS = 2, TRIES = 40 };

/* How long a refused try waits; masters that stand still for all of that tell of no holder. */
static int64_t wait_in_vain(int64_t wait_ms)
{
    redlock_lock *lock = NULL;
    int64_t begun = now_ms();
    int code = client_try(two, "name", 0, wait_ms, NULL, &lock);
    int64_t took = now_ms() - begun;
    ck_assert_msg(code == REDLOCK_EHELD || code == REDLOCK_EUNDECIDED, "%s after %d of %d ms",
                  redlock_err_name(code), (int)took, (int)wait_ms);
    ck_assert_msg(took >= wait_ms - 10, "%d of %d ms", (int)took, (int)wait_ms);
    return took;
}

TEST(wait, wait_is_never_overrun, .rows = 4)
{
    static const int64_t waits[] = {1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377};
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *held = take_everywhere(masters, one, "name");
    for (unsigned i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
        int64_t took = 0;
        bool in_time = met_unless_stalled((took = wait_in_vain(waits[i])) <= waits[i] + LATE_MS,
                                          REST_MS, TRIES);
        ck_assert_msg(in_time, "%d of %d ms", (int)took, (int)waits[i]);
    }
    ck_assert_uint_eq(client_stats(two).waiting, 0);
    queue_becomes(masters, "name", 0);
    ck_assert_int_eq(redlock_release(held), 0);
}

CASE(wait, .timeout_s = 60)
