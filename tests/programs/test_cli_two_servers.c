/* tags: unsanitized */
/* test_cli_two_servers.c - redlock status before an address that leads to two masters: each
 * might grant what the other one has granted. */
#include "config_auto.h"

#include "cli_rig.h"
#include "proxy.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

TEST(masters, balancer_is_no_vote_and_says_why)
{
    struct program *program = NULL;
    proxy_take_turns(proxy, &masters->node[3].unix_at);
    ck_assert_msg(is_found(&program), "%s", program_out(program));
    expect_found(program);
}

/* The library has met one server, and this program the other. */
TEST(masters, own_connection_that_meets_another_server_is_told)
{
    struct program *program = NULL;
    bool found = false;
    int64_t end_ms = now_ms() + CLI_MOMENT_MS;
    while (!found && now_ms() < end_ms) { /* a server that has just begun may be restarted */
        proxy_lead_from(proxy, proxy_connections(proxy) + 2, &masters->node[3].unix_at);
        found = is_found(&program);
    }
    ck_assert_msg(found, "%s", program_out(program));
    expect_found(program);
}

TEST(masters, proxy_before_one_server_is_well)
{
    struct program *program = NULL;
    proxy_take_turns(proxy, &masters->node[1].unix_at);
    int64_t end_ms = now_ms() + 4000;
    while (now_ms() < end_ms) {
        ck_assert_msg(!is_found(&program), "%s", program_out(program));
        cli_expect_check(program, 1, "server", "ok", NULL, NULL);
    }
}

/* What is started from here on knows a name with an address of each family. */
static void know_two_families(void)
{
    char preload[PATH_MAX + 32];
    suite_find_built("tests/support/two_families.so", preload, sizeof(preload));
    setenv("LD_PRELOAD", preload, 1);
}

/* The library compares one address of each family with nothing. The doctor does. */
TEST(masters, addresses_of_both_families_are_compared)
{
    struct node_list list = {.len = 0};
    struct program *program = NULL;
    bool found = false;
    char port[16];
    snprintf(port, sizeof(port), "%d", masters->node[1].tcp_at.port);
    if (master_do(masters, 3, "CONFIG", "SET", "bind", "::1", "port", port, NULL).type != '+')
        return; /* this machine has no IPv6 */
    node_list_line(&list, "guard off\n" CLI_PATIENT);
    node_list_add(&list, &masters->node[0].unix_at);
    node_list_line(&list, "node redis://two.example:%s", port);
    node_list_add(&list, &masters->node[2].unix_at);
    setenv("REDLOCK_NODES", node_list_write(&list), 1);
    know_two_families();
    int64_t end_ms = now_ms() + CLI_MOMENT_MS;
    while (!found && now_ms() < end_ms) { /* a server that has just begun may be restarted */
        found = is_found(&program);
    }
    unsetenv("LD_PRELOAD");
    ck_assert_msg(found, "%s", program_out(program));
    expect_found(program);
}

CASE(masters, .timeout_s = 90, .set_up = start)
