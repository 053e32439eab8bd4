/* test_scripts_queue.c - the queue of those who wait for a lock: who enters it and where, how
 * long it lives, who leaves it. Who is woken is test_scripts_wake.c's. */
#include "config_auto.h"

#include "script_talk.h"

#include <stdio.h>
#include <string.h>

#define LOCK "orders:42"
#define QUEUE "{" LOCK "}" RL_QUEUE_SUFFIX

enum { TTL_MS = 60000, QUEUE_MS = 30000, SERVERS = 2, WAITERS = 5 };
#define S INT64_C(1000000) /* in us */

static struct masters *masters;
static struct talk talks[SERVERS];
static struct talk *const talk = &talks[0];

static void start(void)
{
    masters = masters_start(SERVERS, NULL);
}

static void stop(void)
{
    masters_stop(masters);
}

static void connect_to_them(void)
{
    for (unsigned i = 0; i < SERVERS; i++) {
        talk_open(&talks[i], masters, i);
        talk_do(&talks[i], "FLUSHALL", (char *)NULL);
    }
}

static void hang_up(void)
{
    for (unsigned i = 0; i < SERVERS; i++)
        talk_close(&talks[i]);
}

static struct script_call call_of(const char *waiter, int64_t age_us)
{
    struct script_call call = {
        .name = LOCK,
        .token = "token",
        .ttl_ms = TTL_MS,
        .waiter = waiter,
        .age_us = age_us,
        .queue_ms = QUEUE_MS,
        .reserve_ms = 20000,
    };
    return call;
}

static void occupy(struct talk *server)
{
    talk_do(server, "SET", LOCK, "them", "PX", "60000", (char *)NULL);
}

/* Ask as that client's waiter 1, and be refused: the place. */
static int64_t wait_as(struct talk *server, unsigned client, int64_t age_us)
{
    char waiter[RL_WAITER_MAX];
    struct script_call call = call_of(talk_waiter(client, 1, waiter), age_us);
    struct script_told told = script_run(server, RL_ACQUIRE_OR_QUEUE, &call);
    ck_assert_msg(told.type == '*', "%s", told.text);
    ck_assert_uint_eq(told.parts, 5);
    ck_assert_int_eq(told.yes, 0);
    return told.place;
}

/* The client in the queue at that place; 0: there is none. */
static unsigned client_at(struct talk *server, unsigned place)
{
    struct wire_item items[WIRE_ITEMS_MAX];
    char number[16], text[9];
    size_t number_len = (size_t)snprintf(number, sizeof(number), "%u", place);
    const char *const words[] = {"ZRANGE", QUEUE, number, number};
    const size_t lens[] = {6, strlen(QUEUE), number_len, number_len};
    unsigned client = 0;
    if (talk_ask(server, 4, words, lens, items) == 2) {
        ck_assert_uint_gt(items[1].len, 8);
        memcpy(text, items[1].bytes, 8);
        text[8] = '\0';
        ck_assert_int_eq(sscanf(text, "%x", &client), 1);
    }
    return client;
}

static int64_t time_us(struct talk *server)
{
    static const char *const words[] = {"TIME"};
    static const size_t lens[] = {4};
    struct wire_item items[WIRE_ITEMS_MAX];
    long long s, us;
    ck_assert_uint_eq(talk_ask(server, 1, words, lens, items), 3);
    ck_assert_int_eq(sscanf(items[1].bytes, "%lld", &s), 1); /* CR ends it */
    ck_assert_int_eq(sscanf(items[2].bytes, "%lld", &us), 1);
    return s * S + us;
}

static int64_t score_of(struct talk *server, unsigned client)
{
    char waiter[RL_WAITER_MAX], text[32] = "";
    struct wire_item score =
        talk_do(server, "ZSCORE", QUEUE, talk_waiter(client, 1, waiter), (char *)NULL);
    double value;
    ck_assert(score.type == '$' && score.number > 0 && score.number < 32);
    memcpy(text, score.bytes, score.len);
    ck_assert_int_eq(sscanf(text, "%lf", &value), 1);
    return (int64_t)value;
}

TEST(queue, refused_waiter_is_told_why_and_entered)
{
    static const int64_t ages_us[] = {0, 1, 999, 12345678, 7 * 86400 * S};
    enum { AGES = sizeof(ages_us) / sizeof(ages_us[0]) };
    char waiter[RL_WAITER_MAX];
    unsigned odd = 0;
    talk_waiter(1, 1, waiter);
    occupy(talk);
    for (unsigned i = 0; i < 4 * AGES; i++) {
        int64_t age_us = ages_us[i % AGES];
        struct script_call call = call_of(waiter, age_us);
        int64_t before_us = time_us(talk);
        struct script_told told = script_run(talk, RL_ACQUIRE_OR_QUEUE, &call);
        int64_t since_us = score_of(talk, 1);
        ck_assert_uint_eq(told.parts, 5);
        ck_assert_int_eq(told.place, 0);
        ck_assert_str_eq(told.holder, "them");
        ck_assert(told.left_ms > TTL_MS - 10000 && told.left_ms <= TTL_MS);
        /* It has waited since then, to the microsecond, by the server's clock. */
        ck_assert_int_ge(since_us + age_us, before_us);
        ck_assert_int_le(since_us + age_us, time_us(talk));
        odd += since_us % 10 != 0;
        ck_assert_int_eq(talk_do(talk, "ZCARD", QUEUE, (char *)NULL).number, 1);
    }
    ck_assert_uint_gt(odd, 0); /* no digit is lost */
    talk_do(talk, "SET", LOCK, "for ever", (char *)NULL);
    struct script_call call = call_of(waiter, 0);
    ck_assert_int_eq(script_run(talk, RL_ACQUIRE_OR_QUEUE, &call).left_ms, -1);
}

/* Client i has waited for 10 s * i. All of them ask, in an order of their own on each server:
 * the longest waiting is first, and each is told how many are before it by then. */
TEST(queue, longest_waiter_is_first_in_any_order_of_arrival)
{
    static const unsigned orders[][WAITERS] = {
        {1, 2, 3, 4, 5}, {5, 4, 3, 2, 1}, {3, 1, 5, 2, 4}, {2, 5, 1, 4, 3}};
    for (unsigned k = 0; k < 4; k++) {
        struct talk *server = &talks[k % SERVERS];
        talk_do(server, "FLUSHALL", (char *)NULL);
        occupy(server);
        for (unsigned i = 0; i < WAITERS; i++) {
            unsigned client = orders[k][i];
            int64_t before = 0;
            for (unsigned earlier = 0; earlier < i; earlier++)
                before += orders[k][earlier] > client;
            ck_assert_int_eq(wait_as(server, client, client * 10 * S), before);
        }
        for (unsigned place = 0; place < WAITERS; place++)
            ck_assert_uint_eq(client_at(server, place), WAITERS - place);
        ck_assert_uint_eq(client_at(server, WAITERS), 0);
        /* Who asks again, as much older as time has passed, stays where it is. */
        for (unsigned client = 1; client <= WAITERS; client++)
            ck_assert_int_eq(wait_as(server, client, client * 10 * S + 1000), WAITERS - client);
    }
}

/* Where two have waited equally long, to the microsecond, their names decide: on every server
 * alike, whoever came first to it. */
TEST(queue, ties_are_in_same_order_on_every_server)
{
    char a[RL_WAITER_MAX], b[RL_WAITER_MAX], c[RL_WAITER_MAX];
    talk_waiter(1, 1, a);
    talk_waiter(2, 1, b);
    talk_waiter(3, 1, c);
    talk_do(&talks[0], "ZADD", QUEUE, "7", a, "7", b, "7", c, (char *)NULL);
    talk_do(&talks[1], "ZADD", QUEUE, "7", c, "7", b, "7", a, (char *)NULL);
    for (unsigned place = 0; place < 3; place++) {
        ck_assert_uint_eq(client_at(&talks[0], place), place + 1);
        ck_assert_uint_eq(client_at(&talks[1], place), place + 1);
    }
    /* One that has waited for less long stands behind all of them. */
    occupy(&talks[0]);
    occupy(&talks[1]);
    ck_assert_int_eq(wait_as(&talks[0], 4, 0), 3);
    ck_assert_int_eq(wait_as(&talks[1], 4, 0), 3);
}

static int64_t queue_left_ms(void)
{
    return talk_do(talk, "PTTL", QUEUE, (char *)NULL).number;
}

/* A queue outlives the last one that asked by its life, and no longer. */
TEST(queue, queue_lives_on_while_somebody_asks)
{
    occupy(talk);
    wait_as(talk, 1, 10 * S);
    ck_assert(queue_left_ms() > QUEUE_MS - 10000 && queue_left_ms() <= QUEUE_MS);
    talk_do(talk, "PEXPIRE", QUEUE, "15000", (char *)NULL);
    wait_as(talk, 2, 0);
    ck_assert(queue_left_ms() > QUEUE_MS - 10000 && queue_left_ms() <= QUEUE_MS);
    talk_do(talk, "PEXPIRE", QUEUE, "15000", (char *)NULL);
    wait_as(talk, 1, 10 * S);
    ck_assert_int_gt(queue_left_ms(), QUEUE_MS - 10000);
    talk_do(talk, "PEXPIRE", QUEUE, "1", (char *)NULL);
    ck_assert(wait_until(queue_left_ms() == -2, 5000));
    ck_assert_int_eq(wait_as(talk, 2, 0), 0); /* all the others are forgotten */
}

/* A newcomer may take what is free and not kept for anybody: that is decided by who asks. The
 * queue stands, but for the one that has the lock now. */
TEST(queue, winner_leaves_queue)
{
    char waiter[RL_WAITER_MAX];
    occupy(talk);
    for (unsigned client = 1; client <= 3; client++)
        wait_as(talk, client, client * 10 * S);
    talk_do(talk, "DEL", LOCK, (char *)NULL);
    struct script_call call = call_of(talk_waiter(2, 1, waiter), 0);
    struct script_told told = script_run(talk, RL_ACQUIRE_OR_QUEUE, &call);
    ck_assert(told.parts == 2 && told.yes == 1);
    ck_assert_uint_eq(client_at(talk, 0), 3);
    ck_assert_uint_eq(client_at(talk, 1), 1);
    ck_assert_uint_eq(client_at(talk, 2), 0);
    int64_t left_ms = talk_do(talk, "PTTL", LOCK, (char *)NULL).number;
    ck_assert(left_ms > TTL_MS - 10000 && left_ms <= TTL_MS);
}

TEST(queue, leaving_waiter_takes_nobody_along)
{
    char waiter[RL_WAITER_MAX];
    occupy(talk);
    for (unsigned client = 1; client <= 3; client++)
        wait_as(talk, client, client * 10 * S);
    for (unsigned again = 0; again < 2; again++) {
        struct script_call call = call_of(talk_waiter(2, 1, waiter), 0);
        struct script_told told = script_run(talk, RL_DEQUEUE, &call);
        ck_assert(told.parts == 2 && told.yes == 1);
        ck_assert_uint_eq(client_at(talk, 0), 3);
        ck_assert_uint_eq(client_at(talk, 1), 1);
        ck_assert_uint_eq(client_at(talk, 2), 0);
    }
    /* Two waiters of one client are two. */
    struct script_call call = call_of(talk_waiter(3, 2, waiter), 0);
    script_run(talk, RL_DEQUEUE, &call);
    ck_assert_uint_eq(client_at(talk, 0), 3);
    struct wire_item holder = talk_do(talk, "GET", LOCK, (char *)NULL);
    ck_assert(holder.len == 4 && memcmp(holder.bytes, "them", 4) == 0);
}

static bool exists(const char *name, size_t len)
{
    struct wire_item items[WIRE_ITEMS_MAX];
    const char *const words[] = {"EXISTS", name};
    const size_t lens[] = {6, len};
    talk_ask(talk, 2, words, lens, items);
    return items[0].number == 1;
}

/* Names are bytes: each has a queue of its own, and all of it is gone with the last. */
TEST(queue, any_bytes_are_name)
{
    static const struct {
        const char *name, *queue;
        size_t len;
    } names[] = {
#define NAME(text) {text, "{" text "}" RL_QUEUE_SUFFIX, sizeof(text) - 1}
#define CLOSED(text) {text, text "{}" RL_QUEUE_SUFFIX, sizeof(text) - 1}
        NAME("a\0b"),   NAME("a"),
        NAME("a\0c"),   NAME("a b"),
        NAME(" "),      CLOSED("{a}b"),
        CLOSED("{a}"),  CLOSED("{}"),
        NAME("a\r\nb"), NAME("\xff\xfe\0"),
        NAME("%s'"),    NAME("\"]]"),
        NAME(":"),      NAME("a:redlock:queue"),
        NAME("{"),      CLOSED("}"),
#undef NAME
#undef CLOSED
    };
    enum { NAMES = sizeof(names) / sizeof(names[0]) };
    char waiter[RL_WAITER_MAX];
    struct script_call call = call_of(talk_waiter(1, 1, waiter), 0);
    struct script_call queued = call_of(waiter, 0);
    for (unsigned i = 0; i < NAMES; i++) {
        call.name = queued.name = names[i].name;
        call.name_len = queued.name_len = names[i].len;
        ck_assert_int_eq(script_run(talk, RL_ACQUIRE, &call).yes, 1);
        struct script_told told = script_run(talk, RL_ACQUIRE_OR_QUEUE, &queued);
        ck_assert(told.parts == 5 && told.yes == 0 && told.place == 0);
        ck_assert(exists(names[i].name, names[i].len));
        ck_assert(exists(names[i].queue, names[i].len + 2 + strlen(RL_QUEUE_SUFFIX)));
        ck_assert_int_eq(talk_do(talk, "DBSIZE", (char *)NULL).number, 2);
        ck_assert_int_eq(script_run(talk, RL_DEQUEUE, &queued).yes, 1);
        ck_assert_int_eq(script_run(talk, RL_RELEASE, &call).yes, 1);
        ck_assert_int_eq(talk_do(talk, "DBSIZE", (char *)NULL).number, 0);
    }
}

CASE(queue,
     .timeout_s = 30, .set_up_once = start, .tear_down_once = stop, .set_up = connect_to_them,
     .tear_down = hang_up)
