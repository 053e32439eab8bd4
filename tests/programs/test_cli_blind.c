/* test_cli_blind.c - redlock status where masters don't show who their clients are: that is
 * unknown, neither well nor amiss, and `status --wait` opens for no step of a change of the
 * list. What a change costs behind such a gate is shown, too. */
#include "config_auto.h"

#include "cli_rig.h"
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MASTERS = 5, CROWD = 2500, UNKNOWN = 77, TTL_MS = 20000 };

#define SETTINGS "guard off\nmax-ttl 20s"
#define SHORT_SETTINGS "guard off\nmax-ttl 500ms\nttl 400ms"

static struct masters *masters;

/* The first masters of all, to which this user ("": nobody) logs in. */
static const char *list_of(unsigned count, const char *user, const char *settings)
{
    static struct node_list list;
    list = (struct node_list){.len = 0};
    node_list_line(&list, "%s", settings);
    for (unsigned i = 0; i < count; i++)
        node_list_line(&list, "node unix://%s%s", user, masters->node[i].unix_at.path);
    return node_list_write(&list);
}

/* A user of all masters that has these rights beside all. */
static void add_user(const char *but)
{
    for (unsigned i = 0; i < MASTERS; i++)
        (void)master_do(masters, i, "ACL", "SETUSER", "locks", "on", ">pw", "~*", "&*", "+@all",
                        but, NULL);
}

static void start(void)
{
    masters = masters_start(MASTERS, NULL);
}

static int gate(const char *limit, struct program **ret_program)
{
    return program_run(NULL, REDLOCK("status", "--json", "--wait", limit), ret_program);
}

/* ---- ways to two holders ------------------------------------------------------------------ */

/* A client of the first three masters, whose lock stands on two of them. */
static redlock *hold_by_old_list(redlock_lock **ret_lock)
{
    redlock *client = client_open(list_of(3, "", SETTINGS));
    ck_assert_int_eq(client_try(client, "x", TTL_MS, CLI_MOMENT_MS, NULL, ret_lock), 0);
    ck_assert(wait_until(masters_with(masters, "x") == 3, CLI_MOMENT_MS));
    (void)master_do(masters, 2, "DEL", "x", NULL);
    return client;
}

/* The step to five masters, which a gate that opens would allow, makes two holders. */
static void expect_two_holders_behind_gate(redlock_lock *held)
{
    redlock_lock *second = NULL;
    redlock *client = client_open(list_of(MASTERS, "", SETTINGS));
    ck_assert_int_eq(client_try(client, "x", TTL_MS, CLI_MOMENT_MS / 10, NULL, &second), 0);
    ck_assert_int_gt(redlock_validity_ms(held), 0);
    ck_assert_int_eq(redlock_release(second), 0);
    redlock_close(client);
}

TEST(masters, gate_is_shut_for_user_who_may_not_list_clients)
{
    redlock_lock *held = NULL;
    struct program *program = NULL;
    CLIENT old = hold_by_old_list(&held);
    add_user("-client|list");
    setenv("REDLOCK_NODES", list_of(4, "locks:pw@", SETTINGS), 1);
    ck_assert_int_eq(gate("10s", &program), UNKNOWN);
    cli_expect_json(program, "lists", "unknown");
    cli_expect_json(program, "exit_status", "77");
    ck_assert_ptr_nonnull(strstr(program_err(program), "another node list"));
    ck_assert_ptr_nonnull(strstr(program_err(program), "--kinds plain,status"));
    expect_two_holders_behind_gate(held);
}

/* So many connections as to be more than any other test has. */
static void crowd(int fds[CROWD], unsigned node)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (unsigned i = 0; i < CROWD; i++)
        fds[i] = master_connect_as(masters, node, "x", 1);
}

TEST(masters, gate_sees_client_of_former_list_among_many_connections)
{
    static int fds[CROWD];
    redlock_lock *held = NULL;
    struct program *program = NULL;
    CLIENT old = hold_by_old_list(&held);
    crowd(fds, 0);
    setenv("REDLOCK_NODES", list_of(4, "", SETTINGS), 1);
    ck_assert_int_eq(gate("1s", &program), CLI_DEGRADED);
    cli_expect_json(program, "lists", "other");
    cli_expect_json(program, "other_lists", "1");
    cli_expect_check(program, 0, "lists", "warn", "4", NULL);
    ck_assert_ptr_nonnull(strstr(program_err(program), "1 client has another node list"));
    expect_two_holders_behind_gate(held);
    for (unsigned i = 0; i < CROWD; i++)
        close(fds[i]);
}

/* ---- each right that is missing ----------------------------------------------------------- */

static const struct right {
    const char *but; /* what the user lacks */
    const char *lists, *reason;
    int plain, waiting;
} rights[] = {
    {"+ping", "alike", NULL, CLI_FIT, CLI_FIT},
    {"-time", "alike", NULL, CLI_FIT, CLI_FIT},
    {"-client|list", "unknown", "client|list", CLI_FIT, UNKNOWN},
    {"-client|setname", "unknown", "+client|setname", CLI_FIT, UNKNOWN},
    {"-info", "unknown", "INFO clients", CLI_FIT, UNKNOWN},
};
#define RIGHTS (int)(sizeof(rights) / sizeof(rights[0]))

static void expect_metric(const char *line)
{
    struct program *program = NULL;
    (void)program_run(NULL, REDLOCK("status", "--prometheus"), &program);
    ck_assert_msg(program_printed(program, line), "%s", program_out(program));
}

TEST(masters, what_is_not_told_is_unknown_and_no_fault, .rows = RIGHTS)
{
    const struct right *right = &rights[_i];
    bool known = strcmp(right->lists, "alike") == 0;
    struct program *program = NULL;
    add_user(right->but);
    setenv("REDLOCK_NODES", list_of(3, "locks:pw@", SHORT_SETTINGS), 1);
    program = cli_expect_status(right->plain);
    cli_expect_json(program, "lists", right->lists);
    cli_expect_check(program, 0, "lists", known ? "ok" : "unknown", right->reason, NULL);
    ck_assert_int_eq(program_run(NULL, REDLOCK("status"), &program), right->plain);
    ck_assert_int_eq(program_printed(program, "lists: UNKNOWN"), !known);
    expect_metric(known ? "redlock_lists_known 1\n" : "redlock_lists_known 0\n");
    expect_metric(known ? ",check=\"lists\"} 0\n" : "check_known{number=\"1\",master=\"");
    ck_assert_int_eq(gate("10s", NULL), right->waiting);
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("status", "--wait", "10s", "--allow-unknown"), NULL), CLI_FIT);
}

/* Those that are shown are seen all the same. */
TEST(masters, client_of_another_list_is_told_beside_what_is_unknown)
{
    redlock_lock *held = NULL;
    struct program *program = NULL;
    CLIENT old = hold_by_old_list(&held);
    setenv("REDLOCK_NODES", list_of(4, "", SETTINGS), 1);
    (void)master_do(masters, 0, "ACL", "SETUSER", "default", "-client|list", NULL);
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("status", "--json", "--wait", "1s", "--allow-unknown"),
                    &program),
        CLI_DEGRADED);
    cli_expect_json(program, "lists", "other");
    cli_expect_check(program, 0, "lists", "unknown", "client|list", NULL);
    cli_expect_check(program, 1, "lists", "warn", "this one 4", NULL);
    ck_assert_int_eq(gate("10s", NULL), UNKNOWN); /* and waiting for the rest is in vain */
}

TEST(masters, rights_that_gate_needs_are_said_beside_those_of_locks)
{
    struct program *program = NULL;
    setenv("REDLOCK_NODES", list_of(3, "", SETTINGS), 1);
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "--acl"), &program), 0);
    ck_assert(!program_printed(program, "client|list"));
    ck_assert_ptr_nonnull(strstr(program_err(program), "+client|list"));
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("status", "--acl", "--kinds", "plain,status"), &program), 0);
    ck_assert(program_printed(program, "+client|list"));
    ck_assert_str_eq(program_err(program), "");
}

CASE(masters, .timeout_s = 90, .set_up = start)
