/* tags: threads */
/* test_recovery.c - how soon a lock is to be had again once a majority can vote, while somebody
 * waits and with the settings' defaults, under which a round may take three to ten seconds:
 * connections that the way has forgotten, masters that come back in a round under way, answers
 * that were late and not lost. */
#include "config_auto.h"

#include "client.h"
#include "masters.h"
#include "proxy.h"

#include <pthread.h>

enum { NODES_MAX = 3, WAIT_MS = 20000, AGAIN_MS = 700, WITHIN_MS = 1000 };

static struct masters *masters;
static struct proxy *proxies[NODES_MAX];
static redlock *client;
static redlock_lock *lock;
static unsigned before; /* connections that there were when it began */
static int64_t again_ms;

static void open_all(unsigned n)
{
    masters = masters_start(n, NULL);
    client = client_open(proxies_start(masters, proxies, false, NULL));
    ck_assert(wait_until(client_ready(client) == n, 10000));
    ck_assert_int_eq(redlock_release(client_take(client, "name")), 0);
    before = proxy_connections(proxies[0]);
}

static void close_all(void)
{
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
    redlock_close(client);
}

static void expect_lock_within(int64_t limit_ms)
{
    int64_t begun_ms = now_ms();
    ck_assert_int_eq(client_try(client, "name", 0, WAIT_MS, NULL, &lock), REDLOCK_OK);
    int64_t took_ms = now_ms() - begun_ms;
    ck_assert_msg(took_ms < limit_ms, "%d ms", (int)took_ms);
}

/* Do this meanwhile, after AGAIN_MS. */
static void *change(void *body)
{
    pause_ms(AGAIN_MS);
    again_ms = now_ms();
    (*(void (**)(void))body)();
    return NULL;
}

static void expect_lock_after(void (*body)(void))
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, change, &body), 0);
    expect_lock_within(AGAIN_MS + WITHIN_MS);
    pthread_join(thread, NULL);
    ck_assert_int_ge(now_ms(), again_ms);
}

/* Nobody says that they are gone; only new ones pass. What the old ones carried may arrive
 * later, and leaves nothing behind. */
TEST(recovery, connections_that_way_forgot_are_made_anew)
{
    open_all(1);
    for (unsigned i = 0; i < before; i++)
        proxy_limit(proxies[0], (int)i, PROXY_THERE, 0);
    expect_lock_within(WITHIN_MS);
    for (unsigned i = 0; i < before; i++)
        proxy_limit(proxies[0], (int)i, PROXY_THERE, -1);
    close_all();
}

/* The first is down when the round begins, the third takes everything and says nothing. */
static void first_comes_back(void)
{
    proxy_shut(proxies[0], false);
}

TEST(recovery, master_that_comes_back_ends_round_that_waits_for_another)
{
    open_all(3);
    proxy_shut(proxies[0], true);
    proxy_cut(proxies[0], PROXY_ALL, true);
    ck_assert(wait_until(client_ready(client) == 2, 5000));
    proxy_limit(proxies[2], PROXY_ALL, PROXY_THERE, 0);
    expect_lock_after(first_comes_back);
    ck_assert(master_has(masters, 0, "name"));
    proxy_limit(proxies[2], PROXY_ALL, PROXY_THERE, -1);
    close_all();
}

/* A second connection hangs as well, and the first one goes on. */
static void old_ones_go_on(void)
{
    for (unsigned i = 0; i < before; i++)
        proxy_limit(proxies[0], (int)i, PROXY_BACK, -1);
}

TEST(recovery, connection_that_was_merely_late_is_taken_back)
{
    open_all(1);
    proxy_limit(proxies[0], PROXY_ALL, PROXY_BACK, 0);
    expect_lock_after(old_ones_go_on);
    ck_assert_uint_gt(proxy_connections(proxies[0]), before);
    ck_assert_int_eq(redlock_release(lock), 0);
    expect_lock_within(WITHIN_MS);
    ck_assert_int_lt(now_ms() - again_ms, WITHIN_MS);
    ck_assert_int_eq(client_state(client, 0, NULL), REDLOCK_NODE_READY);
    close_all();
}

CASE(recovery, .timeout_s = 60)
