/* test_wait_idle.c - waiting for long: who is next, and will be told, asks seldom; and soon all
 * the same where the one who should tell can't be heard. */
#include "config_auto.h"

#include "stall.h"
#include "told.h"
#include "wait_scene.h"

#include <stdio.h>
#include <stdlib.h>

enum { SETTLED_MS = 3000, QUIET_MS = 1300, QUIET_LIMIT_MS = 6000, STALLED_MS = 300 };

static int number(const char *variable, int otherwise)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : otherwise;
}

/* Who does not rely on being told yet asks within this time. */
static bool asks_nothing(void)
{
    uint64_t before = client_stats(two).commands;
    pause_ms(QUIET_MS);
    return client_stats(two).commands == before;
}

/* The client's requests a second while nothing happens for so long. */
static double requests_a_second(int64_t idle_ms)
{
    uint64_t before = client_stats(two).commands;
    int64_t begun_ms = now_ms();
    pause_ms(idle_ms);
    uint64_t requests = client_stats(two).commands - before;
    double rate = (double)requests * 1000 / (double)(now_ms() - begun_ms);
    fprintf(stderr, "%d requests in %.1f s, %.0f a second\n", (int)requests,
            (double)(now_ms() - begun_ms) / 1000, rate);
    return rate;
}

/* One request a second for a name: 2,000 for as many names. It is 0.875 at most, for each asks
 * once in 8 s at most. That is 7 requests to five masters, since two of them have not answered
 * when three have refused. Waiters that do not rely on being told send 5 a second and more.
 * Those who hear nothing for 1.5 s, as beside a stall, ask at once. A lock of the usual 10 s
 * that is renewed is looked at when it would be over, so earlier. */
TEST(wait_idle, waiter_behind_holder_that_will_tell_asks_seldom)
{
    int count = number("IDLE_NAMES", 60);
    struct waiter *waiters = calloc((size_t)count, sizeof(*waiters));
    redlock_lock **held = calloc((size_t)count, sizeof(redlock_lock *));
    char(*name)[16] = calloc((size_t)count, sizeof(*name));
    int64_t ttl_ms = number("IDLE_TTL_MS", 30000), idle_ms = 1000 * number("IDLE_SECONDS", 8);
    open_masters(5);
    for (int i = 0; i < count; i++) {
        snprintf(name[i], sizeof(name[i]), "name-%d", i);
        held[i] = told_take_renewed(one, name[i], ttl_ms, NULL);
        waiter_start(&waiters[i], two, name[i], 600000);
    }
    wait_until(asks_nothing(), QUIET_LIMIT_MS);
    bool seldom = met_unless_stalled(requests_a_second(idle_ms) < count, STALLED_MS, 3);
    ck_assert(seldom);
    for (int i = 0; i < count; i++) {
        ck_assert_int_eq(redlock_release(held[i]), 0);
        waiter_expect_lock(&waiters[i], 5000);
    }
    close_all();
    free(waiters);
    free(held);
    free(name);
}

TEST(wait_idle, deaf_waiter_asks_as_ever)
{
    struct proxy *proxy = open_with_proxy();
    int known = (int)proxy_connections(proxy);
    redlock_lock *lock = NULL;
    ck_assert_int_eq(client_try(one, "name", 30000, 0, NULL, &lock), 0);
    waiter_start(&waiter, two, "name", 60000);
    queue_becomes(masters, "name", 1);
    pause_ms(SETTLED_MS);
    proxy_limit(proxy, known, PROXY_BACK, 0); /* the one for wake-ups */
    ck_assert_int_eq(redlock_release(lock), 0);
    waiter_expect_lock(&waiter, 4500);
    close_all();
}

CASE(wait_idle, .timeout_s = 180)
