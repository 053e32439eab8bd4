/* tags: threads */
/* test_wait_channel_who.c - who waits by channel: a thousand at once, some that give up, are
 * canceled or closed, and users that may not listen everywhere. */
#include "config_auto.h"

#include "channel_scene.h"
#include "told.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAIT_MS = 30000, SOON_MS = 10000, PROBE_MS = 1000, MANY = 1000 };

static uint64_t try_async(redlock *client, const char *name, struct told *told)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    uint64_t id = 0;
    *told = (struct told){0};
    options.kind = REDLOCK_REENTRANT;
    options.ttl_ms = CLIENT_TTL_MS;
    options.wait_ms = WAIT_MS;
    ck_assert_int_eq(
        redlock_try_async_n(client, name, strlen(name), &options, told_done, told, &id), 0);
    return id;
}

static bool all_told(const struct told *told, int count)
{
    for (int i = 0; i < count; i++) {
        if (atomic_load(&told[i].calls) != 1)
            return false;
    }
    return true;
}

/* ---- many ------------------------------------------------------------------------------- */

/* Each name its channel, over one connection a master: all are heard, and all are left. */
TEST(who, thousand_names_at_once)
{
    static struct told told[MANY], woken[MANY];
    char name[32];
    OPEN_MASTERS(1);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "name-%d", i);
        try_async(one, name, &told[i]);
    }
    ck_assert(wait_until(all_told(told, MANY), WAIT_MS));
    for (int i = 0; i < MANY; i++) {
        ck_assert_int_eq(told[i].result, 0);
        snprintf(name, sizeof(name), "name-%d", i);
        try_async(two, name, &woken[i]);
    }
    ck_assert(wait_until(channels(0) == MANY + 1, SOON_MS));
    struct reply reply = master_do(masters, 0, "CLIENT", "LIST", "TYPE", "pubsub", NULL);
    ck_assert_msg(reply.type == '$' && strchr(reply.text, '\n') == strrchr(reply.text, '\n'),
                  "%s", reply.text);
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(redlock_release_async(told[i].lock, NULL, NULL), 0);
    ck_assert(wait_until(all_told(woken, MANY), SOON_MS));
    for (int i = 0; i < MANY; i++) {
        ck_assert_int_eq(woken[i].result, 0);
        ck_assert_int_eq(redlock_release_async(woken[i].lock, NULL, NULL), 0);
    }
    ck_assert(wait_until(channels(0) == 1, SOON_MS)); /* the client's own */
}

/* ---- who goes --------------------------------------------------------------------------- */

TEST(who, user_that_goes_leaves_channel)
{
    struct told first, second;
    OPEN_MASTERS(3);
    redlock_lock *held = client_take_as(one, "name", REDLOCK_REENTRANT, NULL);
    for (int i = 0; i < 3; i++) { /* out of time */
        waiter_start_as(&waiter, two, "name", REDLOCK_REENTRANT, NULL, 400);
        waiter_expect_code(&waiter, REDLOCK_EHELD, SOON_MS);
        listeners_become(CHANNEL_OF("name"), 0);
    }
    uint64_t id = try_async(two, "name", &first);
    listeners_become(CHANNEL_OF("name"), 1);
    ck_assert_int_eq(redlock_cancel(two, id), 0);
    ck_assert(wait_until(all_told(&first, 1), SOON_MS));
    ck_assert_int_eq(first.result, REDLOCK_ECANCELED);
    listeners_become(CHANNEL_OF("name"), 0);
    /* The first of two: the other one hears on. */
    id = try_async(two, "name", &first);
    try_async(two, "name", &second);
    listeners_become(CHANNEL_OF("name"), 1);
    ck_assert(wait_until(client_stats(two).waiting == 2, SOON_MS));
    ck_assert_int_eq(redlock_cancel(two, id), 0);
    ck_assert(wait_until(client_stats(two).waiting == 1, SOON_MS));
    listeners_become(CHANNEL_OF("name"), 1);
    ck_assert_int_eq(redlock_release(held), 0);
    ck_assert(wait_until(all_told(&second, 1), SOON_MS));
    ck_assert_int_eq(second.result, 0);
    ck_assert_int_eq(redlock_release(second.lock), 0);
    listeners_become(CHANNEL_OF("name"), 0);
}

TEST(who, client_that_is_canceled_or_closed_ends_its_waits, .rows = 2)
{
    static struct told told[10];
    char name[32];
    OPEN_MASTERS(1);
    redlock_lock *held[10];
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof(name), "name-%d", i);
        held[i] = client_take_as(one, name, REDLOCK_REENTRANT, NULL);
        try_async(two, name, &told[i]);
    }
    ck_assert(wait_until(channels(0) == 10 + 1, SOON_MS));
    if (_i == 0) {
        redlock_shutdown(two);
        ck_assert(wait_until(all_told(told, 10), SOON_MS));
        ck_assert(wait_until(channels(0) == 1, SOON_MS));
    } else {
        redlock_close(two);
        two = NULL;
        ck_assert(wait_until(channels(0) == 0, SOON_MS));
    }
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(told[i].result, REDLOCK_ECANCELED);
        ck_assert_int_eq(atomic_load(&told[i].calls), 1);
        ck_assert_int_eq(redlock_release(held[i]), 0);
    }
}

/* The master listened for it before the client knew: there is more to be said, though nobody
 * waits for anything any more. */
TEST(who, channel_is_left_that_was_not_confirmed_yet)
{
    struct told told;
    struct proxy *proxy = open_with_proxy();
    redlock_lock *held = client_take_as(one, "name", REDLOCK_REENTRANT, NULL);
    int known = (int)proxy_connections(proxy);
    proxy_delay(proxy, PROXY_ALL, PROXY_BACK, 300);
    for (int i = 0; i < known; i++)
        proxy_delay(proxy, i, PROXY_BACK, 0);
    try_async(two, "name", &told);
    listeners_become(CHANNEL_OF("name"), 1);
    redlock_shutdown(two);
    ck_assert(wait_until(all_told(&told, 1), SOON_MS));
    ck_assert_int_eq(told.result, REDLOCK_ECANCELED);
    listeners_become(CHANNEL_OF("name"), 0);
    ck_assert_int_eq(redlock_release(held), 0);
    close_all();
}

/* Again and again, so that each end of a wait meets the beginning of the next. */
TEST(who, threads_that_take_turns_lose_no_wake)
{
    enum { ROUNDS = 200 };
    OPEN_MASTERS(1);
    int64_t begun_ms = now_ms();
    for (int i = 0; i < ROUNDS; i++) {
        redlock_lock *held = client_take_as(i % 2 ? two : one, "name", REDLOCK_REENTRANT, NULL);
        waiter_start_as(&waiter, i % 2 ? one : two, "name", REDLOCK_REENTRANT, NULL, WAIT_MS);
        ck_assert_int_eq(redlock_release(held), 0);
        waiter_expect_lock(&waiter, SOON_MS);
    }
    /* A wake-up that is lost costs a second. */
    ck_assert_int_lt(now_ms() - begun_ms, (int64_t)ROUNDS * PROBE_MS / 5);
}

/* ---- who may ---------------------------------------------------------------------------- */

static unsigned warned;
static char warning[512];

static void note_log(void *context, int level, const char *text)
{
    (void)context;
    if (level <= REDLOCK_LOG_WARNING) {
        warned++;
        snprintf(warning, sizeof(warning), "%s", text);
    }
}

/* A client whose user has these channels. */
static void open_with_channels(const char *allowed)
{
    char url[128];
    masters = masters_start(1, NULL);
    struct reply reply = master_do(masters, 0, "ACL", "SETUSER", "locks", "on", ">pw", "~*",
                                   "+@all", "resetchannels", allowed, NULL);
    ck_assert_msg(reply.type == '+', "%s", reply.text);
    snprintf(url, sizeof(url), "redis://locks:pw@127.0.0.1:%d", masters->node[0].tcp_at.port);
    redlock_node node = {.size = sizeof(node), .url = url};
    redlock_config config = REDLOCK_CONFIG_INIT;
    config.nodes = &node;
    config.node_count = 1;
    config.guard = REDLOCK_OFF;
    config.log = note_log;
    config.log_level = REDLOCK_LOG_WARNING;
    ck_assert_int_eq(redlock_open_config(&config, NULL, &two), 0);
    one = client_open(masters_file(masters, NULL));
    ck_assert(wait_until(client_ready(one) == 1 && client_ready(two) == 1, SOON_MS));
    warned = 0;
}

/* Twice, on two names. */
static void wait_by_asking(void)
{
    for (int i = 0; i < 2; i++) {
        const char *name = i == 0 ? "name" : "other";
        redlock_lock *held = client_take_as(one, name, REDLOCK_REENTRANT, NULL);
        waiter_start_as(&waiter, two, name, REDLOCK_REENTRANT, NULL, WAIT_MS);
        ck_assert(wait_until(client_stats(two).rounds > 5, SOON_MS));
        ck_assert(!waiter_is_back(&waiter, 0));
        ck_assert_int_eq(redlock_release(held), 0);
        waiter_expect_lock(&waiter, SOON_MS);
    }
    ck_assert_uint_eq(client_stats(two).wakes, 0);
}

/* It polls, says so once, and the connection is as good as ever for plain locks. */
TEST(who, waiter_without_right_to_channel_asks_instead)
{
    open_with_channels("&redlock:wake:*");
    wait_by_asking();
    ck_assert_uint_eq(warned, 1);
    ck_assert_msg(strstr(warning, "NOPERM") && strstr(warning, "redisson_"), "%s", warning);
    redlock_lock *held = take_everywhere(masters, one, "plain");
    waiter_start(&waiter, two, "plain", WAIT_MS);
    queue_becomes(masters, "plain", 1);
    waiter_mark(&waiter);
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_woken(&waiter, 1);
    close_all();
}

TEST(who, waiter_without_right_to_any_channel_asks)
{
    open_with_channels("&unrelated");
    wait_by_asking();
    ck_assert_uint_eq(warned, 2); /* of its own channel, and of others */
    close_all();
}

/* A user that has Redisson's channels, and not the client's own. */
TEST(who, waiter_with_right_to_channel_alone_is_woken)
{
    open_with_channels("&redisson_*");
    for (int i = 0; i < 3; i++) {
        redlock_lock *held = client_take_as(one, "name", REDLOCK_REENTRANT, NULL);
        waiter_start_as(&waiter, two, "name", REDLOCK_REENTRANT, NULL, WAIT_MS);
        listeners_become(CHANNEL_OF("name"), 1);
        client_is_quiet(two);
        waiter_mark(&waiter);
        ck_assert_int_eq(redlock_release(held), 0);
        waiter_expect_woken(&waiter, 1);
    }
    ck_assert_uint_eq(warned, 1);
    ck_assert_msg(strstr(warning, "redlock:wake:"), "%s", warning);
    close_all();
}

CASE(who, .timeout_s = 60)
