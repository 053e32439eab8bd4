/* test_minority.c - what a minority says costs a bounded number of requests, whatever it is:
 * a master that denies every script. */
#include "config_auto.h"

#include "client.h"
#include "fake.h"

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
    fakes_stop(fakes, MASTERS);
}

START_TEST(a_script_that_came_whole_and_is_unknown_is_not_sent_again)
{
    redlock_report report = {.size = sizeof(report)};
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
END_TEST

START_TEST(nor_is_a_question)
{
    redlock_report report = {.size = sizeof(report)};
    open_with_a_liar();
    fake_rule(fakes[0], &(struct fake_rule){.match = "inspect *", .delay_ms = 100});
    ck_assert_int_eq(redlock_inspect(client, "name", 4, &report), 0);
    ck_assert_int_eq(report.node[LIAR].vote, REDLOCK_VOTE_FAILED);
    expect_few_requests();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("minority");
    TCase *tests = tcase_create("minority");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, a_script_that_came_whole_and_is_unknown_is_not_sent_again);
    tcase_add_test(tests, nor_is_a_question);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
