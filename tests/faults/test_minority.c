/* test_minority.c - what a minority says costs a bounded number of requests, whatever it is:
 * a master that denies every script; releases that are told of and did not happen. Of these a
 * majority can't make more, either. */
#include "config_auto.h"

#include "fake.h"
#include "look.h"
#include "wait_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a master that never knows a script -------------------------------------------------- */

enum { MASTERS = 3, LIAR = 2, FOR_MS = 1000, REQUESTS_MAX = 60 };

static struct fake *fakes[MASTERS];
static redlock *client;

static void open_with_a_liar(void)
{
    static const struct fake_rule noscript = {
        .match = "[a-z]*", .reply = "-NOSCRIPT No matching script. Please use EVAL.\r\n"};
    fakes_start(fakes, MASTERS);
    client = client_open(fakes_file(fakes, MASTERS, "linger 0ms\nguard off\n"));
    ck_assert(wait_until(client_ready(client) == MASTERS, 10000));
    fake_rule(fakes[LIAR], &noscript);
}

/* Some requests for each connection, and connections only as often as the backoff has them. */
static void expect_few_requests(void)
{
    unsigned requests = fake_count(fakes[LIAR], "[a-z]*");
    ck_assert_uint_ge(requests, 1);
    ck_assert_msg(requests <= REQUESTS_MAX, "%u requests", requests);
    redlock_close(client);
}

TEST(minority, script_that_came_whole_and_is_unknown_is_not_sent_again)
{
    redlock_node_vote report_votes[REDLOCK_NODES_MAX];
    redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
    redlock_lock *lock = NULL;
    open_with_a_liar();
    fake_rule(fakes[0], &(struct fake_rule){.match = "acquire *", .delay_ms = 100});
    ck_assert_int_eq(client_try(client, "name", 5000, 0, &report, &lock), 0);
    ck_assert_int_eq(report.node[LIAR].vote, REDLOCK_VOTE_FAILED);
    ck_assert_ptr_nonnull(strstr(report.node[LIAR].text, "NOSCRIPT"));
    for (int64_t begun = now_ms(); now_ms() - begun < FOR_MS; pause_ms(10))
        client_ready(client);
    ck_assert_int_eq(redlock_extend(lock, 6000, NULL), 0);
    ck_assert_int_gt(redlock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    expect_few_requests();
}

TEST(minority, nor_is_question)
{
    static struct look look;
    open_with_a_liar();
    fake_rule(fakes[0], &(struct fake_rule){.match = "inspect *", .delay_ms = 100});
    ck_assert_int_eq(look_at(&look, client, "name", NULL), 0);
    ck_assert_int_eq(look.node[LIAR].answered, 0);
    ck_assert_ptr_nonnull(strstr(look.node[LIAR].text, "NOSCRIPT"));
    expect_few_requests();
}

/* ---- releases that did not happen -------------------------------------------------------- */

enum { EACH_MS = 5, ALONE_MS = 3000 };

/* By which a master knows the first one in the queue: a client and a number. */
static void find_waiter(char ret_waiter[128])
{
    struct reply reply = master_do(masters, 0, "ZRANGE", "{name}:redlock:queue", "0", "0", NULL);
    snprintf(ret_waiter, 128, "%.127s", reply.text);
    ck_assert_msg(strlen(ret_waiter) > 37, "%s", ret_waiter);
}

/* Scripts that a master was asked for. */
static long long scripts(unsigned node)
{
    static const char *const commands[] = {"cmdstat_eval:calls=", "cmdstat_evalsha:calls="};
    struct reply info = master_do(masters, node, "INFO", "commandstats", NULL);
    long long calls = 0;
    for (int i = 0; i < 2; i++) {
        const char *at = strstr(info.text, commands[i]);
        calls += at ? atoll(at + strlen(commands[i])) : 0;
    }
    return calls;
}

/* The same message some 200 times a second at so many masters, the last ones. How often. */
static unsigned publish_on(unsigned liars, const char *channel, const char *message)
{
    unsigned count = 0;
    for (int64_t begun = now_ms(); now_ms() - begun < ALONE_MS; pause_ms(EACH_MS)) {
        for (unsigned node = masters->n - liars; node < masters->n; node++, count++)
            master_do(masters, node, "PUBLISH", channel, message, NULL);
    }
    return count;
}

/* A round soon for the first of them, each next one later; beside them one in a second. Each
 * is an acquire, and a release of what it may have got. */
static void expect_few_scripts(unsigned liars, const char *channel, const char *message)
{
    uint64_t wakes = client_stats(two).wakes;
    long long before = scripts(0);
    int64_t begun = now_ms();
    unsigned count = publish_on(liars, channel, message);
    long long calls = scripts(0) - before, seconds = (now_ms() - begun) / 1000 + 1;
    ck_assert_msg(wait_until(client_stats(two).wakes - wakes >= count, 5000), "not heard");
    ck_assert_msg(calls <= 2 * (9 + 3 * seconds), "%lld scripts in %lld s", calls, seconds);
    ck_assert(!atomic_load(&waiter.back));
}

static const struct {
    unsigned masters, liars;
} minorities[] = {{3, 1}, {5, 2}};

TEST(minority, wakes_of_minority_make_few_rounds, .rows = 2)
{
    char who[128], channel[128];
    OPEN_MASTERS(minorities[_i].masters);
    redlock_lock *held = hold_and_wait();
    client_is_quiet(two);
    find_waiter(who);
    snprintf(channel, sizeof(channel), "redlock:wake:%.36s", who);
    expect_few_scripts(minorities[_i].liars, channel, who);
    /* A majority is believed at once. */
    waiter_mark(&waiter);
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_woken(&waiter, 2);
}

TEST(minority, so_do_messages_on_locks_channel, .rows = 2)
{
    OPEN_MASTERS(minorities[_i].masters);
    redlock_lock *held = client_take_as(one, "name", REDLOCK_REENTRANT, NULL);
    waiter_start_as(&waiter, two, "name", REDLOCK_REENTRANT, NULL, 60000);
    client_is_quiet(two);
    expect_few_scripts(minorities[_i].liars, "redisson_lock__channel:{name}", "0");
    waiter_mark(&waiter);
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_woken(&waiter, 1);
}

/* All masters say without end that the lock is released. A round is an acquire and a release. */
TEST(minority, wakes_of_all_masters_make_bounded_number_of_rounds)
{
    enum { BURST = 32, A_SECOND = 50, OTHERS = 9 };
    char who[128], channel[128];
    OPEN_MASTERS(3);
    redlock_lock *held = hold_and_wait();
    client_is_quiet(two);
    find_waiter(who);
    snprintf(channel, sizeof(channel), "redlock:wake:%.36s", who);
    long long before = scripts(0);
    int64_t begun = now_ms();
    while (now_ms() - begun < ALONE_MS) {
        for (unsigned node = 0; node < 3; node++)
            master_do(masters, node, "PUBLISH", channel, who, NULL);
    }
    long long calls = scripts(0) - before, seconds = (now_ms() - begun) / 1000 + 1;
    ck_assert_msg(calls <= 2 * (OTHERS + BURST + A_SECOND * seconds), "%lld scripts in %lld s",
                  calls, seconds);
    ck_assert(!atomic_load(&waiter.back));
    waiter_mark(&waiter);
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_woken(&waiter, 2);
}

CASE(minority, .timeout_s = 120)
