/* test_cli_holders.c - redlock inspect and break tell the host and process of each holder, of
 * every kind of lock, as far as the masters' CLIENT LIST tells them, and else "unknown". */
#include "config_auto.h"

#include "cli_rig.h"
#include "fake.h"
#include "json.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define UUID "0b7a2c5e-0000-4000-8000-000000000001"

static char host[65]; /* as clients name it: 51 bytes at most */

static void read_host(void)
{
    ck_assert_int_eq(gethostname(host, sizeof(host)), 0);
    size_t len = strlen(host);
    if (len > 51) { /* its beginning and its end, which tell hosts apart */
        memcpy(host + 21, "..", 2);
        memmove(host + 23, host + len - 28, 29);
    }
    for (char *at = host; *at; at++) {
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", *at))
            *at = '-';
    }
}

static void start(void)
{
    cli_rig_start_with_lone();
    read_host();
}

static struct program *inspect(const char *name, bool json)
{
    struct program *program = NULL;
    int status = json ? program_run(NULL, REDLOCK("inspect", "--json", name), &program)
                      : program_run(NULL, REDLOCK("inspect", name), &program);
    ck_assert_msg(status == 0, "%d: %s", status, program_err(program));
    ck_assert_str_eq(program_err(program), "");
    return program;
}

/* NULL: it is not known. */
static void expect_holder(const char *name, const char *client, const char *of_host,
                          const char *pid)
{
    struct program *program = inspect(name, true);
    cli_expect_json(program, "verdict", "held");
    cli_expect_json(program, "holders.0.client", client ? client : "null");
    cli_expect_json(program, "holders.0.host", of_host ? of_host : "null");
    cli_expect_json(program, "holders.0.pid", pid ? pid : "null");
    cli_expect_json(program, "nodes.0.holders.0.pid", pid ? pid : "null");
}

static void expect_text(const char *name, const char *text)
{
    struct program *program = inspect(name, false);
    ck_assert_msg(program_printed(program, text), "%s", program_out(program));
}

static void expect_unknown(const char *name)
{
    expect_holder(name, NULL, NULL, NULL);
    expect_text(name, "\n  host and process unknown\n");
}

static void expect_process(const char *name, const struct program *holder)
{
    char client[96], pid[16], text[128];
    snprintf(pid, sizeof(pid), "%d", (int)holder->pid);
    snprintf(client, sizeof(client), "%s:%s", host, pid);
    snprintf(text, sizeof(text), "\n  host %s, process %s\n", host, pid);
    expect_holder(name, client, host, pid);
    expect_text(name, text);
}

/* ---- each kind -------------------------------------------------------------------------- */

static const char *const options[] = {"", "--reentrant", "--shared", "--exclusive", "--fair"};
enum { OPTIONS = sizeof(options) / sizeof(options[0]) };

TEST(kinds, holder_of_each_kind_has_host_and_process, .rows = 2 * OPTIONS)
{
    const char *option = options[_i / 2];
    bool one = _i % 2 == 0;
    if (!one && strcmp(option, "--fair") == 0)
        return;
    cli_choose(one, CLI_PATIENT);
    char name[16]; /* what is killed is released a moment later */
    snprintf(name, sizeof(name), "whose:%d", _i);
    struct program *holder = cli_hold(option, name);
    expect_process(name, holder);
}

/* Linux allows 64 bytes. Without the right to change it there is nothing to test. */
TEST(kinds, long_host_name_is_cut)
{
    static const char name[] =
        "worker-7c9d5f6b8-x2x4z-in-a-rather-long-deployment-of-the-shop-1";
    if (unshare(CLONE_NEWUTS) != 0 || sethostname(name, 64) != 0)
        return;
    read_host();
    cli_choose(true, CLI_PATIENT);
    struct program *holder = cli_hold("--reentrant", "long:host");
    expect_process("long:host", holder);
}

TEST(kinds, each_of_several_readers_has_its_own, .rows = 2)
{
    const char *name = _i == 0 ? "read:by:two" : "read:on:five";
    cli_choose(_i == 0, CLI_PATIENT);
    struct program *one = cli_hold("--shared", name), *two = cli_hold("--shared", name);
    char first[96], second[96];
    snprintf(first, sizeof(first), ", host %s, process %d\n", host, (int)one->pid);
    snprintf(second, sizeof(second), ", host %s, process %d\n", host, (int)two->pid);
    expect_text(name, first);
    expect_text(name, second);
    struct program *program = inspect(name, true);
    char pids[2][16] = {"", ""};
    const char *text = program_out(program);
    ck_assert_int_gt(json_get(text, strlen(text), "holders.0.pid", pids[0], 16), 0);
    ck_assert_int_gt(json_get(text, strlen(text), "holders.1.pid", pids[1], 16), 0);
    ck_assert_int_eq(atoi(pids[0]) + atoi(pids[1]), one->pid + two->pid);
    ck_assert_int_ne(atoi(pids[0]), atoi(pids[1]));
}

/* It was taken by a process that is gone, or by another's client. */
TEST(kinds, holder_without_connection_is_unknown)
{
    cli_choose(true, CLI_PATIENT);
    ck_assert_int_eq(program_run(NULL, REDLOCK("lock", "--reentrant", "gone"), NULL), 0);
    expect_unknown("gone");
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("lock", "--reentrant", "--owner", "me", "mine"), NULL), 0);
    expect_unknown("mine");
    static const char *const tokens[] = {
        "a1b2c3:host:1",
        "0123456789abcdef0123456789abcdeF:host:1",
        "0123456789abcdef0123456789abcdef-host:1",
        "0123456789abcdef0123456789abcdef:",
    };
    for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
        (void)master_do(cli_lone, 0, "SET", "foreign", tokens[i], "PX", "20000", NULL);
        expect_unknown("foreign");
    }
}

TEST(kinds, client_name_stands_for_host_and_process)
{
    setenv("REDLOCK_NODES", masters_file(cli_lone, CLI_PATIENT "client-name web@7\n"), 1);
    static const char *const names[] = {"named:0", "named:1"};
    for (int i = 0; i < 2; i++) {
        (void)cli_hold(options[i], names[i]);
        expect_holder(names[i], "web@7", NULL, NULL);
        expect_text(names[i], "\n  client web@7, host and process unknown\n");
    }
}

TEST(kinds, break_names_holder_that_loses_lock)
{
    cli_choose(false, CLI_PATIENT);
    struct program *holder = cli_hold("--exclusive", "stuck"), *program = NULL;
    char text[128], pid[16];
    snprintf(text, sizeof(text), "\n  host %s, process %d\n", host, (int)holder->pid);
    snprintf(pid, sizeof(pid), "%d", (int)holder->pid);
    ck_assert_int_eq(program_run(NULL, REDLOCK("break", "stuck"), &program), 64);
    ck_assert_msg(program_printed(program, text), "%s", program_out(program));
    ck_assert_int_eq(program_run(NULL, REDLOCK("break", "--yes", "--json", "stuck"), &program),
                     0);
    cli_expect_json(program, "holders.0.host", host);
    cli_expect_json(program, "holders.0.pid", pid);
}

/* ---- who is not told, and why ----------------------------------------------------------- */

TEST(kinds, without_right_to_list_clients_it_is_unknown, .rows = 2)
{
    static const char *const denied[] = {"-client|list", "-info"};
    static const char *const words[] = {"client|list", "info"};
    cli_choose(true, CLI_PATIENT);
    struct program *holder = cli_hold("--reentrant", "denied");
    expect_process("denied", holder);
    (void)master_do(cli_lone, 0, "ACL", "SETUSER", "default", denied[_i], NULL);
    expect_unknown("denied");
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, REDLOCK("-v", "inspect", "denied"), &program), 0);
    const char *why = strstr(program_err(program), "does not tell hosts and processes: NOPERM");
    ck_assert_msg(why && strstr(why, words[_i]), "%s", program_err(program));
    (void)master_do(cli_lone, 0, "ACL", "SETUSER", "default", "+@all", NULL);
    expect_process("denied", holder);
}

TEST(kinds, holder_is_found_in_a_crowd)
{
    enum { CROWD = 2500 };
    static int crowd[CROWD];
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < CROWD + 500) /* the test of the fake has the bound all the same */
        return;
    cli_choose(true, CLI_PATIENT);
    struct program *holder = cli_hold("--reentrant", "crowded");
    expect_process("crowded", holder);
    for (int i = 0; i < CROWD; i++)
        ck_assert_int_ge(crowd[i] = net_connect(&cli_lone->node[0].unix_at), 0);
    struct reply reply = master_do(cli_lone, 0, "INFO", "clients", NULL);
    ck_assert_msg(strstr(reply.text, "connected_clients:25"), "%s", reply.text);
    expect_process("crowded", holder);
    for (int i = 0; i < CROWD; i++)
        close(crowd[i]);
}

/* ---- what others say of themselves ------------------------------------------------------ */

/* A lock of Redisson's, by hand. */
static void put_lock(const char *name)
{
    (void)master_do(cli_lone, 0, "HSET", name, UUID ":7", "1", NULL);
    (void)master_do(cli_lone, 0, "PEXPIRE", name, "20000", NULL);
}

static int named(const char *name)
{
    return master_connect_as(cli_lone, 0, name, strlen(name));
}

TEST(kinds, foreign_connections_name_does_no_harm)
{
    cli_choose(true, CLI_PATIENT);
    put_lock("hostile");
    expect_unknown("hostile");
    int fd = named("redlock:a\"},{\\b:" UUID);
    expect_holder("hostile", "a\"},{\\b", NULL, NULL);
    expect_text("hostile", "\n  client a\"},{\\b, host and process unknown\n");
    close(fd);
    /* Not quite the names of clients of ours. */
    static const char *const others[] = {
        "redlock:" UUID,
        "redlock::" UUID,
        "redis:h:1:" UUID,
        "redlock:h:1:" UUID "0",
        "redlock:h:1-" UUID,
        "redlock:0123456789012345678901234567890123456789012345678901234567890123:" UUID,
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        fd = named(others[i]);
        expect_unknown("hostile");
        close(fd);
    }
}

TEST(kinds, names_that_contradict_each_other_tell_nothing)
{
    cli_choose(true, CLI_PATIENT);
    put_lock("disputed");
    int one = named("redlock:h:1:" UUID), same = named("redlock:h:1:" UUID);
    expect_holder("disputed", "h:1", "h", "1");
    int other = named("redlock:h:2:" UUID);
    expect_unknown("disputed");
    close(other);
    close(same);
    close(one);
}

TEST(kinds, name_that_no_reply_has_room_for_does_no_harm)
{
    enum { LONG = 17000000 };
    cli_choose(true, CLI_PATIENT);
    put_lock("long");
    int one = named("redlock:h:1:" UUID);
    expect_holder("long", "h:1", "h", "1");
    char *name = malloc(LONG);
    ck_assert_ptr_nonnull(name);
    memset(name, 'x', LONG);
    int fd = master_connect_as(cli_lone, 0, name, LONG);
    expect_unknown("long");
    close(fd);
    free(name);
    close(one);
}

/* ---- what no real server says ----------------------------------------------------------- */

#define DETAILS                                                                                \
    "*5\r\n{nonce-}:0\r\n:1000\r\n$1\r\nx\r\n$68\r\nreentrant 0 0 1\n"                          \
    "x 1 20000 38 " UUID ":7\n\r\n"
#define PASSWORD "hunter-two"

static char list[512], info[128];

static struct fake *fake_with(long count, const char *lines)
{
    struct fake *fake = fake_start(false);
    char url[ENDPOINT_URL_MAX];
    static struct node_list nodes;
    snprintf(list, sizeof(list), "$%zu\r\n%s\r\n", strlen(lines), lines);
    char text[64];
    snprintf(text, sizeof(text), "# Clients\r\nconnected_clients:%ld\r\n", count);
    snprintf(info, sizeof(info), "$%zu\r\n%s\r\n", strlen(text), text);
    fake_rule(fake, &(struct fake_rule){.match = "inspect *", .reply = DETAILS});
    fake_rule(fake, &(struct fake_rule){.match = "INFO clients", .reply = info});
    fake_rule(fake, &(struct fake_rule){.match = "CLIENT LIST*", .reply = list});
    endpoint_url(fake_endpoint(fake), url);
    nodes.len = 0;
    node_list_line(&nodes, "node redis://someone@%s password-env=TEST_REDLOCK_SECRET",
                   url + strlen("redis://"));
    setenv("TEST_REDLOCK_SECRET", PASSWORD, 1);
    setenv("REDLOCK_NODES", node_list_write(&nodes), 1);
    return fake;
}

TEST(fakes, clients_are_listed_up_to_bound, .rows = 4)
{
    static const long counts[] = {1, 32768, 32769, 99999999};
    struct fake *fake = fake_with(counts[_i], "id=1 name=redlock:h:1:" UUID " db=0\n");
    if (_i < 2)
        expect_holder("any", "h:1", "h", "1");
    else
        expect_unknown("any");
    ck_assert_uint_eq(fake_count(fake, "CLIENT LIST*"), _i < 2);
}

TEST(fakes, bytes_of_server_are_printed_safely)
{
    (void)fake_with(1, "\n\nname\nid=1 name=redlock:e\x1b]0;x\x07\xfe:" UUID "\n name=");
    struct program *program = inspect("any", true);
    cli_expect_json(program, "holders.0.client_hex", "651b5d303b7807fe");
    cli_expect_json(program, "holders.0.host", "null");
    program = inspect("any", false);
    ck_assert(program_printed(program, "\n  client e\\x1b]0;x\\x07\\xfe, host and process"));
    ck_assert_ptr_null(strchr(program_out(program), '\x1b'));
}

TEST(fakes, name_shows_no_password)
{
    (void)fake_with(1, "id=1 name=redlock:" PASSWORD ":1:" UUID "\n");
    expect_holder("any", "***:1", NULL, NULL);
    expect_text("any", "\n  client ***:1, host and process unknown\n");
}

/* What may be said instead of an answer; or nothing may. */
static const struct {
    int skip; /* the lock's own connection logs in as well */
    const char *match, *reply;
    enum fake_then then;
} nonsense[] = {
    {1, "AUTH *", "+NO\r\n", FAKE_GO_ON},
    {0, "INFO clients", "$0\r\n\r\n", FAKE_GO_ON},
    {0, "INFO clients", "$27\r\n# Clients\r\nno_clients:no\r\n\r\n", FAKE_GO_ON},
    {0, "INFO clients", "+OK\r\n+OK\r\n", FAKE_GO_ON},
    {0, "INFO clients", "*1\r\n*1\r\n", FAKE_GO_ON},
    {0, "CLIENT LIST*", "-ERR unknown subcommand\r\n", FAKE_GO_ON},
    {0, "CLIENT LIST*", ":1\r\n", FAKE_GO_ON},
    {0, "CLIENT LIST*", "?\r\n", FAKE_GO_ON},
    {0, "CLIENT LIST*", "$99999999\r\nid=1", FAKE_CLOSE},
    {0, "CLIENT LIST*", "$99\r\nid=1", FAKE_SILENT},
};

TEST(fakes, server_that_answers_nonsense_does_no_harm, .rows = ROWS(nonsense))
{
    struct fake *fake = fake_with(1, "id=1 name=redlock:h:1:" UUID "\n");
    fake_rule(fake, &(struct fake_rule){.match = nonsense[_i].match,
                                        .reply = nonsense[_i].reply,
                                        .then = nonsense[_i].then,
                                        .skip = nonsense[_i].skip});
    struct program *program = inspect("any", true);
    cli_expect_json(program, "verdict", "held");
    cli_expect_json(program, "holders.0.host", "null");
    ck_assert_uint_gt(fake_count(fake, nonsense[_i].match), (unsigned)nonsense[_i].skip);
}

CASE(kinds, .timeout_s = 60, .set_up_once = start, .tear_down_once = cli_rig_stop)
CASE(fakes, .timeout_s = 60)
