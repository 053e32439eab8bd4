/* tags: threads */
/* test_wait_channel.c - waiting for locks whose releases everybody is told of in a channel of
 * the name: who waits is woken by ours and by a peer's, listens for as long as it waits and no
 * longer, and finds what goes without a word. */
#include "config_auto.h"

#include "channel_scene.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAIT_MS = 30000, PROBE_MS = 1000, MANY = 1000 };

static const unsigned sizes[] = {1, 3};

static redlock_lock *hold(const char *name)
{
    return client_take_as(one, name, REDLOCK_REENTRANT, NULL);
}

static void wait_for(const char *name)
{
    waiter_start_as(&waiter, two, name, REDLOCK_REENTRANT, NULL, WAIT_MS);
}

/* By one message at least. There may be no second: once one master has told of it a majority
 * may grant the lock before the others are heard, and who has it listens no more. */
static void expect_told(struct waiter *who)
{
    waiter_expect_woken(who, 1);
}

/* ---- woken ------------------------------------------------------------------------------ */

TEST(wait_channel, release_wakes_waiters, .rows = 2)
{
    OPEN_MASTERS(sizes[_i]);
    for (int i = 0; i < 5; i++) {
        redlock_lock *held = hold("name");
        wait_for("name");
        listeners_become(CHANNEL_OF("name"), 1);
        client_is_quiet(two);
        waiter_mark(&waiter);
        ck_assert_int_eq(redlock_release(held), 0);
        expect_told(&waiter);
        listeners_become(CHANNEL_OF("name"), 0);
    }
}

/* Whatever it is, and whatever was said before: as the lock is not free, it waits on, */
TEST(wait_channel, any_message_is_hint_and_no_more, .rows = 2)
{
    OPEN_MASTERS(sizes[_i]);
    peer_takes("name");
    wait_for("name");
    listeners_become(CHANNEL_OF("name"), 1);
    client_is_quiet(two);
    static const char *const messages[] = {"0", "1", "", "free at last", "redlock:wake"};
    for (unsigned i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
        uint64_t before = client_stats(two).rounds;
        for (unsigned node = 0; node < masters->n; node++)
            master_do(masters, node, "PUBLISH", CHANNEL_OF("name"), messages[i], NULL);
        ck_assert(wait_until(client_stats(two).rounds > before, PROBE_MS / 2));
        ck_assert(!waiter_is_back(&waiter, 0));
        client_is_quiet(two);
    }
    /* and hears of the next one as well. */
    waiter_mark(&waiter);
    peer_gives_back("name", "0");
    expect_told(&waiter);
}

TEST(wait_channel, listening_waiter_asks_nothing)
{
    OPEN_MASTERS(3);
    redlock_lock *held = hold("name");
    wait_for("name");
    listeners_become(CHANNEL_OF("name"), 1);
    expect_quiet(two);
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_lock(&waiter, 5000);
}

/* Its messages and its silence: after a second it looks by itself. */
TEST(wait_channel, silent_release_is_found, .rows = 2)
{
    OPEN_MASTERS(sizes[_i]);
    peer_takes("name");
    wait_for("name");
    listeners_become(CHANNEL_OF("name"), 1);
    client_is_quiet(two);
    peer_gives_back("name", NULL);
    waiter_expect_lock(&waiter, 5 * PROBE_MS);
}

/* The lock goes without a word while the wish to listen is under way: nothing waits for what
 * has been. */
TEST(wait_channel, release_before_it_listens_is_found_at_once)
{
    struct proxy *proxy = open_with_proxy();
    peer_takes("name");
    int known = (int)proxy_connections(proxy);
    proxy_delay(proxy, PROXY_ALL, PROXY_BACK, 300);
    for (int i = 0; i < known; i++)
        proxy_delay(proxy, i, PROXY_BACK, 0);
    wait_for("name");
    listeners_become(CHANNEL_OF("name"), 1); /* it does not know of that yet */
    int64_t gone_ms = now_ms();
    peer_gives_back("name", NULL);
    ck_assert(waiter_is_back(&waiter, 10000));
    ck_assert_int_lt(waiter.back_ms - gone_ms, PROBE_MS / 2);
    waiter_expect_lock(&waiter, 1000);
    close_all();
}

/* ---- who listens ------------------------------------------------------------------------ */

TEST(wait_channel, readers_and_writers_of_name_share_channel)
{
    struct waiter reader;
    OPEN_MASTERS(3);
    redlock_lock *held = client_take_as(one, "name", REDLOCK_WRITE, NULL);
    waiter_start_as(&reader, two, "name", REDLOCK_READ, NULL, WAIT_MS);
    listeners_become("redisson_rwlock:{name}", 1);
    waiter_start_as(&waiter, two, "name", REDLOCK_WRITE, NULL, 300);
    waiter_expect_code(&waiter, REDLOCK_EHELD, 5000);
    pause_ms(50);
    listeners_become("redisson_rwlock:{name}", 1);
    client_is_quiet(two);
    waiter_mark(&reader);
    ck_assert_int_eq(redlock_release(held), 0);
    expect_told(&reader);
    listeners_become("redisson_rwlock:{name}", 0);
}

static void *hold_and_nest(void *unused)
{
    (void)unused;
    redlock_lock *outer = client_take_as(two, "name", REDLOCK_REENTRANT, NULL);
    redlock_lock *inner = NULL;
    wait_for("name"); /* of another thread of this client */
    listeners_become(CHANNEL_OF("name"), 1);
    int64_t begun_ms = now_ms();
    ck_assert_int_eq(client_try_as(two, "name", REDLOCK_REENTRANT, NULL, WAIT_MS, &inner), 0);
    ck_assert_int_lt(now_ms() - begun_ms, PROBE_MS);
    ck_assert_int_eq(redlock_release(outer), 0);
    pause_ms(50);
    ck_assert(!waiter_is_back(&waiter, 0));
    ck_assert_int_eq(redlock_release(inner), 0);
    return NULL;
}

/* Who has the lock and takes it again does not stand behind those who wait for it. */
TEST(wait_channel, owner_comes_in_before_waiters, .rows = 2)
{
    pthread_t thread;
    OPEN_MASTERS(sizes[_i]);
    ck_assert_int_eq(pthread_create(&thread, NULL, hold_and_nest, NULL), 0);
    pthread_join(thread, NULL);
    waiter_expect_lock(&waiter, 5000);
}

/* The longest name, with braces or not and of any bytes, has a channel of its own. */
TEST(wait_channel, names_of_any_length_are_heard)
{
    static char name[REDLOCK_NAME_MAX + 1], channel[REDLOCK_NAME_MAX + 64];
    static const char odd[] = "a name\r\n$3 \"with\" %s \001\377 in it";
    OPEN_MASTERS(1);
    for (int i = 0; i < 3; i++) {
        memset(name, 'x', sizeof(name) - 1);
        memcpy(name, odd, sizeof(odd) - 1);
        if (i == 1)
            name[REDLOCK_NAME_MAX - 1] = '{';
        if (i == 2)
            name[sizeof(odd) - 1] = '\0';
        snprintf(channel, sizeof(channel),
                 i == 1 ? "redisson_lock__channel:%s" : CHANNEL_OF("%s"), name);
        redlock_lock *held = hold(name);
        wait_for(name);
        listeners_become(channel, 1);
        client_is_quiet(two);
        waiter_mark(&waiter);
        ck_assert_int_eq(redlock_release(held), 0);
        expect_told(&waiter);
    }
}

/* ---- coming back ------------------------------------------------------------------------ */

TEST(wait_channel, broken_connection_listens_anew, .rows = 2)
{
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *held = hold("name");
    wait_for("name");
    for (int round = 0; round < 3; round++) {
        listeners_become(CHANNEL_OF("name"), 1);
        for (unsigned i = 0; i < masters->n; i++)
            master_do(masters, i, "CLIENT", "KILL", "TYPE", "pubsub", NULL);
    }
    listeners_become(CHANNEL_OF("name"), 1);
    client_is_quiet(two);
    waiter_mark(&waiter);
    ck_assert_int_eq(redlock_release(held), 0);
    expect_told(&waiter);
}

TEST(wait_channel, missed_messages_are_asked_for_when_it_listens_again)
{
    OPEN_MASTERS(1);
    peer_takes("name");
    wait_for("name");
    listeners_become(CHANNEL_OF("name"), 1);
    client_is_quiet(two);
    int64_t gone_ms = now_ms();
    peer_gives_back("name", NULL);
    ck_assert_int_eq(master_do(masters, 0, "CLIENT", "KILL", "TYPE", "pubsub", NULL).number, 1);
    ck_assert(waiter_is_back(&waiter, 10000));
    ck_assert_int_lt(waiter.back_ms - gone_ms, PROBE_MS / 2);
    waiter_expect_lock(&waiter, 1000);
}

CASE(wait_channel, .timeout_s = 60)
