/* tags: long */
/* test_cli_status.c - redlock status: its verdict is that of locks which are really taken. Each
 * case makes servers unfit in one way, on one of three and on all of them. */
#include "config_auto.h"

#include "cli_rig.h"
#include "fake.h"
#include "json.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct masters *masters;

static void start(const char *const *extra)
{
    masters = masters_start(3, extra);
    setenv("REDLOCK_NODES", masters_file(masters, NULL), 1);
}

static void start_plain(void)
{
    start(NULL);
}

/* ---- servers that refuse scripts ----------------------------------------------------------
 */

/* BGSAVE fails, because a directory stands where the file should. */
static void fail_to_save(unsigned node)
{
    char path[SUITE_PATH_MAX + 16];
    snprintf(path, sizeof(path), "%s/dump.rdb", masters->node[node].dir);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    (void)master_do(masters, node, "CONFIG", "SET", "save", "3600 1", NULL);
    (void)master_do(masters, node, "BGSAVE", NULL);
    ck_assert(wait_until(strstr(master_do(masters, node, "INFO", "persistence", NULL).text,
                                "rdb_last_bgsave_status:err"),
                         CLI_MOMENT_MS));
}

static const struct refusal {
    const char *command[7];
    void (*make)(unsigned node); /* NULL: the command does it */
    const char *check, *reason, *remedy;
} refusals[] = {
    {{"ACL", "SETUSER", "default", "-eval"}, NULL, "extend", "NOPERM", "redlock(7)"},
    {{"ACL", "SETUSER", "default", "-evalsha"}, NULL, "extend", "NOPERM", "redlock(7)"},
    {{"ACL", "SETUSER", "default", "-set"}, NULL, "acquire", " command", "redlock(7)"},
    {{"ACL", "SETUSER", "default", "-get"}, NULL, "acquire", " command", "redlock(7)"},
    {{"ACL", "SETUSER", "default", "-pexpire"}, NULL, "extend", " command", "redlock(7)"},
    {{"ACL", "SETUSER", "default", "-del"}, NULL, "release", " command", "redlock(7)"},
    {{"ACL", "SETUSER", "default", "resetkeys", "~mine:*", "~{mine:*"},
     NULL,
     "acquire",
     "NOPERM",
     "--prefix"},
    {{"CONFIG", "SET", "maxmemory", "1"}, NULL, "acquire", "OOM", "maxmemory"},
    {{"CONFIG", "SET", "min-replicas-to-write", "1"},
     NULL,
     "acquire",
     "NOREPLICAS",
     "min-replicas-to-write"},
    {{NULL}, fail_to_save, "acquire", "MISCONF", "disk"},
    {{"CLIENT", "PAUSE", "600000", "WRITE"}, NULL, "acquire", "no answer", "CLIENT PAUSE"},
};
#define REFUSALS (int)(sizeof(refusals) / sizeof(refusals[0]))

static void refuse(const struct refusal *refusal, unsigned node)
{
    const char *const *word = refusal->command;
    if (refusal->make) {
        refusal->make(node);
        return;
    }
    struct reply reply =
        master_do(masters, node, word[0], word[1], word[2], word[3], word[4], NULL);
    ck_assert_msg(reply.type == '+', "%s: %s", word[1], reply.text);
}

TEST(three_masters, master_that_refuses_scripts_is_no_vote_and_says_why, .rows = REFUSALS)
{
    const struct refusal *refusal = &refusals[_i];
    refuse(refusal, 1);
    struct program *program = cli_expect_status(CLI_DEGRADED);
    cli_expect_check(program, 0, refusal->check, "ok", NULL, NULL);
    cli_expect_check(program, 1, refusal->check, "fail", refusal->reason, refusal->remedy);
    cli_expect_json(program, "nodes.0.votes", "true");
    cli_expect_json(program, "nodes.1.votes", "false");
    cli_expect_json(program, "fit", "true");
    refuse(refusal, 0);
    refuse(refusal, 2);
    program = cli_expect_status(CLI_NOT_FIT);
    cli_expect_check(program, 2, refusal->check, "fail", refusal->reason, refusal->remedy);
    cli_expect_json(program, "fit", "false");
}

TEST(three_masters, prefix_proves_it_for_user_of_some_names)
{
    for (unsigned i = 0; i < 3; i++)
        (void)master_do(masters, i, "ACL", "SETUSER", "default", "resetkeys", "~mine:*",
                        "~{mine:*", NULL);
    (void)cli_expect_status(CLI_NOT_FIT);
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "--prefix", "mine:"), NULL), CLI_FIT);
}

/* ---- what is no master, or can't be reached ---------------------------------------------- */

static void wrong_password(unsigned node)
{
    (void)master_do(masters, node, "CONFIG", "SET", "requirepass", "right", NULL);
}

static void make_replica(unsigned node)
{
    (void)master_do(masters, node, "REPLICAOF", "127.0.0.1", "1", NULL);
}

static void kill_it(unsigned node)
{
    master_kill(masters, node);
}

static void stop_it(unsigned node)
{
    master_pause(masters, node);
}

static void may_evict(unsigned node)
{
    (void)master_do(masters, node, "CONFIG", "SET", "maxmemory", "1000000000", NULL);
    (void)master_do(masters, node, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru", NULL);
}

static const struct gone {
    void (*make)(unsigned node);
    const char *check, *reason, *remedy;
} gone[] = {
    {wrong_password, "connection", "", "password"},
    {make_replica, "server", "replica", "REPLICAOF NO ONE"},
    {kill_it, "connection", "", "running"},
    {stop_it, "connection", "connected, but no answer within", "process stopped"},
    {may_evict, "server", "evicts", "restart it"},
};
#define GONE (int)(sizeof(gone) / sizeof(gone[0]))

TEST(three_masters, master_out_of_reach_is_no_vote_and_says_why, .rows = GONE)
{
    gone[_i].make(2);
    struct program *program = cli_expect_status(CLI_DEGRADED);
    cli_expect_check(program, 2, gone[_i].check, "fail", gone[_i].reason, gone[_i].remedy);
    gone[_i].make(1);
    program = cli_expect_status(CLI_NOT_FIT);
}

/* A node list of these three masters, with a setting or a wrong password. */
static void list_nodes(const char *setting, const char *login)
{
    static struct node_list list;
    memset(&list, 0, sizeof(list));
    node_list_line(&list, "%s", setting);
    for (unsigned i = 0; i < 3; i++)
        node_list_line(&list, "node redis://%s127.0.0.1:%d", login,
                       masters->node[i].tcp_at.port);
    setenv("REDLOCK_NODES", node_list_write(&list), 1);
}

TEST(three_masters, wrong_password_is_named)
{
    list_nodes("guard off", ":bad@");
    for (unsigned i = 0; i < 3; i++)
        wrong_password(i);
    struct program *program = cli_expect_status(CLI_NOT_FIT);
    cli_expect_check(program, 0, "connection", "fail", "WRONGPASS", "password");
    ck_assert_ptr_null(strstr(program_out(program), "bad"));
}

TEST(three_masters, password_that_is_not_wanted_is_named)
{
    list_nodes("guard off", ":bad@");
    struct program *program = cli_expect_status(CLI_NOT_FIT);
    cli_expect_check(program, 0, "connection", "fail", "without any password", "take it out");
}

/* A look-up that fails may blame the name, or that no name server could be asked. */
TEST(three_masters, host_without_address_and_stranger_are_named)
{
    static struct node_list list;
    struct fake *fake = fake_start(false);
    fake_rule(fake, &(struct fake_rule){.match = "*", .reply = "", .then = FAKE_RESET});
    memset(&list, 0, sizeof(list));
    node_list_line(&list, "node redis://no-such-host.invalid:6379");
    node_list_line(&list, "node redis://127.0.0.1:%d", fake_endpoint(fake)->port);
    node_list_line(&list, "node redis://127.0.0.1:%d", masters->node[0].tcp_at.port);
    setenv("REDLOCK_NODES", node_list_write(&list), 1);
    struct program *program = cli_expect_status(CLI_NOT_FIT);
    cli_expect_check(program, 0, "connection", "fail", "no-such-host.invalid", "host's name");
    cli_expect_check(program, 1, "connection", "fail", "reset by peer", "is it a Redis server");
}

TEST(three_masters, master_just_started_says_when_it_will_vote)
{
    list_nodes("max-ttl 10m", "");
    struct program *program = cli_expect_status(CLI_NOT_FIT);
    cli_expect_check(program, 0, "guard", "warn", "votes in ", NULL);
    cli_expect_check(program, 0, "acquire", "none", NULL, NULL);
    cli_expect_json(program, "nodes.0.votes", "false");
    cli_expect_json(program, "max_ttl_ms", "600000");
    cli_expect_json(program, "node_list", getenv("REDLOCK_NODES"));
}

/* ---- warnings --------------------------------------------------------------------------- */

static const struct warning {
    const char *command[5];
    const char *check, *reason, *remedy;
} warnings[] = {
    {{"ACL", "SETUSER", "default", "-publish"}, "wake", "PUBLISH", "PUBLISH"},
    {{"ACL", "SETUSER", "default", "-subscribe"}, "wake", "NOPERM", NULL},
    {{"ACL", "SETUSER", "default", "resetchannels"}, "wake", "NOPERM", NULL},
    {{"ACL", "SETUSER", "default", "-zadd"}, "wake", "queue", NULL},
};
#define WARNINGS (int)(sizeof(warnings) / sizeof(warnings[0]))

TEST(three_masters, fault_that_costs_no_lock_is_warning, .rows = WARNINGS)
{
    const char *const *word = warnings[_i].command;
    struct reply reply = master_do(masters, 1, word[0], word[1], word[2], word[3], NULL);
    ck_assert_msg(reply.type == '+', "%s", reply.text);
    struct program *program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 0, warnings[_i].check, "ok", NULL, NULL);
    cli_expect_check(program, 1, warnings[_i].check, "warn", warnings[_i].reason,
                     warnings[_i].remedy);
    cli_expect_json(program, "nodes.1.votes", "true");
}

/* ---- what a probe leaves ---------------------------------------------------------------- */

TEST(three_masters, probe_leaves_nothing_and_touches_no_key)
{
    (void)master_do(masters, 0, "SET", "theirs", "kept", NULL);
    (void)cli_expect_status(CLI_FIT);
    ck_assert_str_eq(master_do(masters, 0, "GET", "theirs", NULL).text, "kept");
    ck_assert_int_eq(master_do(masters, 0, "DBSIZE", NULL).number, 1);
    ck_assert_int_eq(master_do(masters, 1, "DBSIZE", NULL).number, 0);
    ck_assert_int_eq(master_do(masters, 2, "DBSIZE", NULL).number, 0);
}

/* The script was sent, and its answer awaited in vain: when it runs, its release is behind it.
 */
TEST(three_masters, probe_without_answer_is_released)
{
    (void)master_do(masters, 0, "CLIENT", "PAUSE", "600000", "WRITE", NULL);
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, REDLOCK("status"), &program), CLI_DEGRADED);
    (void)master_do(masters, 0, "CLIENT", "UNPAUSE", NULL);
    ck_assert(wait_until(master_do(masters, 0, "DBSIZE", NULL).number == 0, CLI_MOMENT_MS));
}

TEST(three_masters, uptime_goes_on_while_it_is_watched)
{
    char first[32] = "", now[32] = "";
    struct program *program = program_start(NULL, REDLOCK("status", "--watch", "--json"));
    bool grew = wait_until(({
                               const char *text = program_out(program), *line = text, *end;
                               for (; (end = strchr(line, '\n')); line = end + 1) {
                                   char *to = line == text ? first : now;
                                   (void)json_get(line, (size_t)(end - line),
                                                  "nodes.0.uptime_s", to, 32);
                               }
                               *now &&atoi(now) > atoi(first);
                           }),
                           CLI_MOMENT_MS);
    ck_assert_msg(grew, "from '%s' to '%s'", first, now);
    kill(program->pid, SIGTERM);
    ck_assert_int_eq(program_wait(program, CLI_MOMENT_MS), CLI_FIT);
}

/* ---- servers of other sorts ---------------------------------------------------------------
 */

TEST(three_masters, watch_ends_with_last_status)
{
    struct program *program = program_start(NULL, REDLOCK("status", "--watch"));
    ck_assert(wait_until(program_printed(program, "fit: "), CLI_MOMENT_MS));
    master_kill(masters, 2);
    ck_assert(wait_until(program_printed(program, "DEGRADED: "), CLI_MOMENT_MS));
    kill(program->pid, SIGTERM);
    ck_assert_int_eq(program_wait(program, CLI_MOMENT_MS), CLI_DEGRADED);
}

/* Each look would end so. */
TEST(three_masters, watch_ends_where_it_was_called_wrongly)
{
    struct program *program =
        program_start(NULL, REDLOCK("status", "--watch", "--kinds", "fair"));
    ck_assert_int_eq(program_wait(program, CLI_MOMENT_MS), 64);
    ck_assert_msg(cli_one_line(program_err(program)), "%s", program_err(program));
}

/* What is renamed, and the check that finds it: INFO is of use to the guard alone. */
static const char *const renamed[][3] = {{"EVAL", "extend", "guard off"},
                                         {"INFO", "server", "guard on"}};

TEST(other_servers, renamed_command_is_not_fit, .rows = 2)
{
    const char *command = renamed[_i][0];
    const char *arguments[] = {"--rename-command", command, "", NULL};
    start(arguments);
    list_nodes(renamed[_i][2], "");
    struct program *program = cli_expect_status(CLI_NOT_FIT);
    cli_expect_check(program, 0, renamed[_i][1], "fail", "unknown command", command);
}

TEST(other_servers, members_of_one_cluster_are_not_fit)
{
    static const char *const cluster[] = {"--cluster-enabled", "yes", NULL};
    static const char *const slots[3][2] = {
        {"0", "5000"}, {"5001", "10000"}, {"10001", "16383"}};
    char port[16];
    start(cluster);
    for (unsigned i = 0; i < 3; i++) {
        (void)master_do(masters, i, "CLUSTER", "ADDSLOTSRANGE", slots[i][0], slots[i][1], NULL);
        snprintf(port, sizeof(port), "%d", masters->node[0].tcp_at.port);
        if (i > 0)
            (void)master_do(masters, i, "CLUSTER", "MEET", "127.0.0.1", port, NULL);
    }
    for (unsigned i = 0; i < 3; i++)
        ck_assert(wait_until(
            strstr(master_do(masters, i, "CLUSTER", "INFO", NULL).text, "cluster_state:ok"),
            CLI_MOMENT_MS));
    struct program *program = cli_expect_status(CLI_NOT_FIT);
    for (unsigned i = 0; i < 3; i++) {
        char path[32];
        snprintf(path, sizeof(path), "nodes.%u.votes", i);
        cli_expect_json(program, path, "false");
    }
    ck_assert_ptr_nonnull(strstr(program_out(program), "independent server"));
}

TEST(other_servers, sentinels_are_not_fit)
{
    struct node_list list = {.len = 0};
    node_list_line(&list, "guard off");
    for (unsigned i = 0; i < 3; i++) {
        char dir[SUITE_PATH_MAX], path[SUITE_PATH_MAX + 16], text[512];
        struct endpoint at = {.port = 0};
        suite_new_dir(dir);
        snprintf(path, sizeof(path), "%s/conf", dir);
        endpoint_unix(&at, dir, "sock");
        snprintf(text, sizeof(text), "port 0\nunixsocket %s\ndir %s\n", at.path, dir);
        file_write(path, text);
        (void)program_start(NULL,
                            (const char *const[]){"redis-server", path, "--sentinel", NULL});
        ck_assert(wait_until(net_connect(&at) >= 0, CLI_MOMENT_MS));
        node_list_add(&list, &at);
    }
    setenv("REDLOCK_NODES", node_list_write(&list), 1);
    struct program *program = cli_expect_status(CLI_NOT_FIT);
    cli_expect_json(program, "nodes.0.votes", "false");
    ck_assert_ptr_nonnull(strstr(program_out(program), "\"result\":\"fail\""));
}

CASE(three_masters, .timeout_s = 90, .set_up = start_plain)
CASE(other_servers, .timeout_s = 90)
