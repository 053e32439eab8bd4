/* test_cli_two_servers.c - redlock status before an address that leads to two masters: each
 * might grant what the other one has granted. */
#include "config_auto.h"

#include "cli_rig.h"
#include "proxy.h"

#include <stdlib.h>
#include <string.h>

static struct masters *masters;
static struct proxy *proxy;

/* The second of three masters is behind a proxy; there is one master more. */
static void start(void)
{
    struct node_list list = {.len = 0};
    masters = masters_start(4, NULL);
    proxy = proxy_start(&masters->node[1].unix_at, false);
    node_list_line(&list, "guard off\n" CLI_PATIENT);
    node_list_add(&list, &masters->node[0].unix_at);
    node_list_add(&list, proxy_endpoint(proxy));
    node_list_add(&list, &masters->node[2].unix_at);
    setenv("REDLOCK_NODES", node_list_write(&list), 1);
}

static void stop(void)
{
    proxy_stop(proxy);
    masters_stop(masters);
}

static bool is_found(struct program **ret_program)
{
    (void)program_run(NULL, REDLOCK("status", "--json"), ret_program);
    return program_printed(*ret_program, "two servers answer at this address");
}

static void expect_found(struct program *program)
{
    cli_expect_check(program, 1, "server", "fail", "two servers", "restart that one");
    cli_expect_json(program, "nodes.1.votes", "false");
    ck_assert(!program_printed(program, "\"state\":\"ready\",\"votes\":false"));
    cli_expect_json(program, "verdict", "degraded");
    ck_assert(!program_printed(program, "allow the user PUBLISH"));
}

START_TEST(balancer_is_no_vote_and_says_why)
{
    struct program *program = NULL;
    proxy_take_turns(proxy, &masters->node[3].unix_at);
    ck_assert_msg(is_found(&program), "%s", program_out(program));
    expect_found(program);
    program_free(program);
}
END_TEST

/* The library has met one server, and this program the other. */
START_TEST(own_connection_that_meets_another_server_is_told)
{
    struct program *program = NULL;
    bool found = false;
    int64_t end_ms = now_ms() + CLI_MOMENT_MS;
    while (!found && now_ms() < end_ms) { /* a server that has just begun may be restarted */
        if (program)
            program_free(program);
        proxy_lead_from(proxy, proxy_connections(proxy) + 2, &masters->node[3].unix_at);
        found = is_found(&program);
    }
    ck_assert_msg(found, "%s", program_out(program));
    expect_found(program);
    program_free(program);
}
END_TEST

START_TEST(proxy_before_one_server_is_well)
{
    struct program *program = NULL;
    proxy_take_turns(proxy, &masters->node[1].unix_at);
    int64_t end_ms = now_ms() + 4000;
    while (now_ms() < end_ms) {
        ck_assert_msg(!is_found(&program), "%s", program_out(program));
        cli_expect_check(program, 1, "server", "ok", NULL, NULL);
        program_free(program);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli_two_servers");
    TCase *real = tcase_create("masters");
    tcase_set_timeout(real, 90);
    tcase_add_checked_fixture(real, start, stop);
    tcase_add_test(real, balancer_is_no_vote_and_says_why);
    tcase_add_test(real, own_connection_that_meets_another_server_is_told);
    tcase_add_test(real, proxy_before_one_server_is_well);
    suite_add_tcase(suite, real);
    return suite_run(suite);
}
