/* test_peer_cases_e.c - what went wrong for the users of other locks when waiting for one; each
 * test is named after its case. Read and write locks are not here, and masters that are no
 * cluster have no bus that messages could flood. */
#include "config_auto.h"

#include "child.h"
#include "client.h"
#include "masters.h"
#include "proxy.h"
#include "stall.h"
#include "wait_scene.h"

#include "base/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SOON_MS = 4000, RUNS = 9 };

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static int64_t median(int64_t *values, int count)
{
    qsort(values, (size_t)count, sizeof(*values), by_size);
    return values[count / 2];
}

/* A number that a master's INFO has behind `field`; 0 where it has none. */
static long info(unsigned node, const char *section, const char *field)
{
    struct reply reply = master_do(masters, node, "INFO", section, NULL);
    const char *at = strstr(reply.text, field);
    return at ? strtol(at + strlen(field), NULL, 10) : 0;
}

/* ---- 62: released before the subscription stands ---------------------------------------- */

/* How long the lock was free before it was had, in the median. */
static int64_t subscribe_late(struct proxy **proxies, const char *file)
{
    int64_t took[RUNS];
    for (int run = 0; run < RUNS; run++) {
        int first = (int)proxy_connections(proxies[0]);
        two = client_open(file);
        ck_assert(wait_until(client_ready(two) == 3, 10000));
        for (unsigned i = 0; i < 3; i++) {
            proxy_limit(proxies[i], PROXY_ALL, PROXY_THERE, 0);
            proxy_limit(proxies[i], first, PROXY_THERE, -1);
        }
        redlock_lock *held = take_everywhere(masters, one, "name");
        waiter_start(&waiter, two, "name", 30000);
        /* Its pauses have grown. */
        ck_assert(wait_until(client_stats(two).rounds >= 8, 10000));
        ck_assert_int_eq(redlock_release(held), 0);
        for (unsigned i = 0; i < 3; i++)
            proxy_limit(proxies[i], PROXY_ALL, PROXY_THERE, -1);
        int64_t begun = now_ms();
        ck_assert(waiter_is_back(&waiter, SOON_MS));
        took[run] = waiter.back_ms > begun ? waiter.back_ms - begun : 0;
        waiter_expect_lock(&waiter, SOON_MS);
        redlock_close(two);
    }
    two = NULL;
    return median(took, RUNS);
}

/* SUBSCRIBE is held back until after the release. It asks from time to time meanwhile, after
 * 250 ms at most, and would sleep for 73 ms more in the median; the subscription ends that. */
TEST(peer_cases_e, e_62_release_before_subscription_wakes_nevertheless)
{
    int64_t middle = 0;
    struct proxy *proxies[3];
    masters = masters_start(3, NULL);
    const char *file = proxies_start(masters, proxies, true, NULL);
    one = client_open(masters_file(masters, NULL));
    ck_assert(wait_until(client_ready(one) == 3, 10000));
    bool soon = met_unless_stalled((middle = subscribe_late(proxies, file)) < 25, STALL_MS, 1);
    ck_assert_msg(soon, "%d ms in the median", (int)middle);
    close_all();
}

/* ---- 63: the lease ends, and nobody says so ---------------------------------------------- */

static int take_and_die(void *argument)
{
    redlock *client = NULL;
    redlock_lock *lock = NULL;
    child_expect(redlock_open(argument, NULL, &client) == 0);
    return client_try(client, "name", 1700, 0, NULL, &lock);
}

/* Three that wait: the first one takes it at its end, and the others get it from there. How
 * long after its end the first one did. */
static int64_t outwait_a_lease(void)
{
    static struct waiter waiters[3];
    open_masters(3);
    ck_assert_int_eq(child_run(take_and_die, (char *)masters_file(masters, NULL), 10000), 0);
    int64_t left = master_do(masters, 0, "PTTL", "name", NULL).number, begun = now_ms();
    for (int i = 0; i < 3; i++)
        waiter_start(&waiters[i], i == 1 ? one : two, "name", 30000);
    int64_t first = INT64_MAX;
    for (int at = 0; at < 3; at++) {
        int who = 0;
        ck_assert(wait_until((who = atomic_load(&waiters[0].back)   ? 0
                                    : atomic_load(&waiters[1].back) ? 1
                                    : atomic_load(&waiters[2].back) ? 2
                                                                    : -1) >= 0,
                             left + SOON_MS));
        first = waiters[who].back_ms < first ? waiters[who].back_ms : first;
        waiter_expect_lock(&waiters[who], SOON_MS);
        atomic_store(&waiters[who].back, false);
    }
    ck_assert_msg(first - begun >= left - 20, "%d ms, and %d ms were left",
                  (int)(first - begun), (int)left);
    close_all();
    return first - begun - left;
}

/* A probe comes after 1 to 1.25 s, and then from 2 s on. */
TEST(peer_cases_e, e_63_lease_that_ends_unreleased_wakes_waiters)
{
    int64_t late = 0;
    bool in_time = met_unless_stalled((late = outwait_a_lease()) < 200, STALL_MS, 2);
    ck_assert_msg(in_time, "%d ms after its end", (int)late);
}

/* ---- 66: a thousand wait ----------------------------------------------------------------- */

enum { LOCKS = 1000 };

static atomic_int taken, failed;

static void on_taken(void *context, int result, redlock_lock *lock)
{
    (void)context;
    if (result != 0)
        atomic_fetch_add(&failed, 1);
    else if (redlock_release_async(lock, NULL, NULL) != 0)
        atomic_fetch_add(&failed, 1);
    atomic_fetch_add(&taken, 1);
}

static long long keys(void)
{
    long long sum = 0;
    for (unsigned i = 0; i < masters->n; i++)
        sum += master_do(masters, i, "DBSIZE", NULL).number;
    return sum;
}

TEST(peer_cases_e, e_66_thousand_waits_share_one_connection_per_node)
{
    static redlock_lock *locks[LOCKS];
    redlock_options options = REDLOCK_OPTIONS_INIT;
    char name[32];
    OPEN_MASTERS(3);
    options.ttl_ms = 30000;
    options.wait_ms = 30000;
    for (int i = 0; i < LOCKS; i++) {
        snprintf(name, sizeof(name), "name-%d", i);
        ck_assert_int_eq(client_try(one, name, 30000, 5000, NULL, &locks[i]), 0);
    }
    for (int i = 0; i < LOCKS; i++) {
        size_t len = (size_t)snprintf(name, sizeof(name), "name-%d", i);
        ck_assert_int_eq(redlock_try_async_n(two, name, len, &options, on_taken, NULL, NULL), 0);
    }
    ck_assert(wait_until(client_stats(two).waiting == LOCKS, 10000));
    /* A queue beside each lock, which may be held by two of three. */
    ck_assert(wait_until(keys() >= 2 * 2 * LOCKS, 10000));
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(info(i, "stats", "pubsub_channels:"), 1);
        /* Two clients, one subscriber, and who asks. */
        ck_assert_int_eq(info(i, "clients", "connected_clients:"), 4);
    }
    for (int i = 0; i < LOCKS; i++)
        ck_assert_int_eq(redlock_release(locks[i]), 0);
    ck_assert(wait_until(atomic_load(&taken) == LOCKS, 20000));
    ck_assert_int_eq(failed, 0);
}

/* ---- 67, 68: who is woken, and what it costs --------------------------------------------- */

enum { CROWD = 16 };

static redlock *clients[CROWD];

static uint64_t all_wakes(void)
{
    uint64_t wakes = 0;
    for (int i = 0; i < CROWD; i++)
        wakes += client_stats(clients[i]).wakes;
    return wakes;
}

static int next_back(struct waiter *waiters)
{
    for (int i = 0; i < CROWD; i++) {
        if (atomic_exchange(&waiters[i].back, false))
            return i;
    }
    return -1;
}

TEST(peer_cases_e, e_67_release_wakes_one_of_many)
{
    static struct waiter waiters[CROWD];
    int out_of_order = 0;
    OPEN_MASTERS(5);
    redlock_lock *held = take_everywhere(masters, one, "name");
    for (int i = 0; i < CROWD; i++) {
        clients[i] = client_open(masters_file(masters, NULL));
        ck_assert(wait_until(client_ready(clients[i]) == 5, 10000));
        waiter_start(&waiters[i], clients[i], "name", 60000);
        queue_becomes(masters, "name", i + 1);
    }
    for (int i = 0; i < CROWD; i++) {
        int who = -1;
        uint64_t wakes = all_wakes();
        ck_assert_int_eq(redlock_release(held), 0);
        ck_assert(wait_until((who = next_back(waiters)) >= 0, SOON_MS));
        pthread_join(waiters[who].thread, NULL);
        ck_assert_int_eq(waiters[who].code, 0);
        held = waiters[who].lock;
        out_of_order += who != i;
        pause_ms(20); /* in which nobody else is woken */
        wakes = all_wakes() - wakes;
        /* Of five masters, and where a release came behind its winner the next one hears. */
        ck_assert_msg(wakes <= 2 * 5, "%d messages", (int)wakes);
    }
    /* One that is not given time to run is overtaken. */
    ck_assert_int_le(out_of_order, CROWD / 2);
    ck_assert_uint_ge(all_wakes(), CROWD * 3 / 2);
    ck_assert_int_eq(redlock_release(held), 0);
    for (int i = 0; i < CROWD; i++)
        redlock_close(clients[i]);
}

TEST(peer_cases_e, e_68_nothing_is_published_but_to_one_waiter)
{
    enum { HAND_OFFS = 5 };
    OPEN_MASTERS(3);
    for (int i = 0; i < 50; i++)
        ck_assert_int_eq(redlock_release(client_take(one, "name")), 0);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_eq(info(i, "commandstats", "cmdstat_publish:calls="), 0);
    for (int i = 0; i < HAND_OFFS; i++) {
        redlock_lock *held = hold_and_wait();
        ck_assert_int_eq(redlock_release(held), 0);
        waiter_expect_lock(&waiter, SOON_MS);
    }
    nothing_is_left(masters);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_gt(info(i, "commandstats", "cmdstat_publish:calls="), 0);
        /* One to the waiter, and one to a channel that is nobody's: who hears all of them? */
        ck_assert_int_le(info(i, "commandstats", "cmdstat_publish:calls="), 2 * HAND_OFFS);
    }
}

/* ---- 69: what wakes is neither left behind nor missed by the slow ------------------------ */

TEST(peer_cases_e, e_69_queue_never_outlives_its_ttl)
{
    OPEN_MASTERS(3);
    redlock_lock *held = hold_and_wait();
    for (unsigned i = 0; i < 3; i++) {
        /* A master that was late for the round is asked in a later one. */
        long long left = 0;
        ck_assert(wait_until(
            (left = master_do(masters, i, "PTTL", "{name}:redlock:queue", NULL).number) > 0,
            15000));
        ck_assert_msg(left <= 60000, "%lld ms", left);
    }
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_lock(&waiter, SOON_MS);
}

/* ---- 70: how soon ------------------------------------------------------------------------ */

/* No master is away, one is dead, one is stopped. A queued waiter asks again a second later: one
 * that has the lock before that was told. Stories of the simulator say how soon, to the
 * millisecond: hand-off, hand-off-without-a-dead-one, hand-off-without-a-stopped-one. */
TEST(peer_cases_e, e_70_release_reaches_waiters, .rows = 3)
{
    enum { HAND_OFFS = 41 };
    int told = 0;
    OPEN_MASTERS(3);
    if (_i == 1)
        master_kill(masters, 1);
    if (_i == 2)
        master_pause(masters, 1);
    for (int i = 0; i < HAND_OFFS; i++) {
        redlock_lock *held = hold_and_wait();
        ck_assert_int_eq(redlock_release(held), 0);
        ck_assert(waiter_is_back(&waiter, SOON_MS));
        told += waiter.back_ms - waiter.begun_ms < RL_UNPROMPTED_MS;
        waiter_expect_lock(&waiter, SOON_MS);
    }
    ck_assert_msg(told > HAND_OFFS / 2, "%d of %d", told, HAND_OFFS);
    if (_i == 2)
        master_resume(masters, 1);
}

CASE(peer_cases_e, .timeout_s = 60)
