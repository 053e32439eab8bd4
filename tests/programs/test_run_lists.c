/* test_run_lists.c - redlock run tells of clients of its masters that have another node list:
 * once the command has lasted for a second, beside it, and by looking only. */
#include "config_auto.h"

#include "cli_rig.h"
#include "suite.h"

#include <redlock.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOLD "another node list: on "
#define LONG "sleep 3" /* for a second until it looks, and for the look */
#define HOLD "while test ! -e \"$0\"; do sleep 0.05; done"

static struct masters *masters;
static struct program *program;
static struct node_list list;
static const char *patience = "connect-timeout 10s";
static char end_file[SUITE_PATH_MAX + 8];

/* Of masters `first` to `last`, for this user. */
static const char *list_of(const char *settings, const char *user, unsigned first,
                           unsigned last)
{
    list = (struct node_list){.len = 0};
    node_list_line(&list, "guard off\n%s%s", patience, settings);
    for (unsigned i = first; i <= last; i++)
        node_list_line(&list, "node unix://%s%s", user, masters->node[i].unix_at.path);
    return node_list_write(&list);
}

static void start(void)
{
    char dir[SUITE_PATH_MAX];
    masters = masters_start(5, NULL);
    suite_new_dir(dir);
    snprintf(end_file, sizeof(end_file), "%s/end", dir);
}

static void stop(void)
{
    masters_stop(masters);
}

static redlock *connected(const char *file)
{
    redlock *client;
    redlock_lock *lock;
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.wait_ms = CLI_MOMENT_MS;
    ck_assert_int_eq(redlock_open(file, NULL, &client), 0);
    ck_assert_int_eq(redlock_try(client, "any", &options, &lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    return client;
}

/* What run said while COMMAND ran under the list of $REDLOCK_NODES. */
static void run(const char *option, const char *command)
{
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("run", option, "x", "--", "sh", "-c", command), &program), 0);
}

/* The same, in two steps. */
static void begin(const char *option)
{
    program =
        program_start(NULL, REDLOCK("run", option, "x", "--", "sh", "-c", HOLD, end_file));
}

static void end(void)
{
    file_write(end_file, "");
    ck_assert_int_eq(program_wait(program, CLI_MOMENT_MS), 0);
}

static bool told(const char *text)
{
    return strstr(program_err(program), text) != NULL;
}

static unsigned listed(unsigned node)
{
    struct reply stats = master_do(masters, node, "INFO", "commandstats", NULL);
    const char *at = strstr(stats.text, "cmdstat_client|list:calls=");
    return at ? (unsigned)atoi(strchr(at, '=') + 1) : 0;
}

static const struct {
    const char *settings;
    unsigned first, last;
    const char *says, *remedy;
} others[] = {
    {"", 2, 4, "its list has other masters", "two may have a lock"},
    {"", 0, 3, "its list has 4 masters, this one 3", "majorities of these meet"},
    {"\nmax-ttl 1m", 0, 2, "its max-ttl is 1m0s, here 30.0s", "two may have a lock"},
};

TEST(masters, client_with_another_list_is_named, .rows = 3)
{
    char who[32];
    redlock *client =
        connected(list_of(others[_i].settings, "", others[_i].first, others[_i].last));
    setenv("REDLOCK_NODES", list_of("", "", 0, 2), 1);
    begin("-v");
    ck_assert_msg(wait_until(told(TOLD), CLI_MOMENT_MS), "%s", program_err(program));
    snprintf(who, sizeof(who), ":%d: ", (int)getpid());
    ck_assert(told("1 client of these masters has ") && told(who) && told(others[_i].says) &&
              told(others[_i].remedy));
    end();
    redlock_close(client);
}

TEST(masters, clients_with_the_same_list_are_no_matter)
{
    setenv("REDLOCK_NODES", list_of("", "", 0, 2), 1);
    redlock *client = connected(list.path);
    begin("--ttl=20s");
    for (unsigned i = 0; i < 3; i++)
        ck_assert(wait_until(listed(i) == 1, CLI_MOMENT_MS));
    end();
    ck_assert_str_eq(program_err(program), "");
    redlock_close(client);
}

/* A lease whose looks are further apart than a second. */
TEST(masters, it_looks_also_under_long_leases)
{
    redlock *client = connected(list_of("\nmax-ttl 1h", "", 2, 4));
    setenv("REDLOCK_NODES", list_of("\nmax-ttl 1h", "", 0, 2), 1);
    begin("--ttl=1h");
    ck_assert(wait_until(told(TOLD), CLI_MOMENT_MS));
    end();
    redlock_close(client);
}

TEST(masters, short_commands_and_quiet_ones_cost_no_list)
{
    redlock *client = connected(list_of("", "", 2, 4));
    setenv("REDLOCK_NODES", list_of("", "", 0, 2), 1);
    int64_t began_ms;
    do {
        for (unsigned i = 0; i < 3; i++)
            (void)master_do(masters, i, "CONFIG", "RESETSTAT", NULL);
        began_ms = boot_ms();
        run("-v", "sleep 0.3");
    } while (boot_ms() - began_ms >= 1000); /* on a busy machine it was no short one */
    ck_assert(!told(TOLD));
    ck_assert_uint_eq(listed(2), 0);
    run("-q", LONG);
    ck_assert_str_eq(program_err(program), "");
    ck_assert_uint_eq(listed(2), 0);
    redlock_close(client);
}

TEST(masters, master_with_many_clients_is_not_asked)
{
    int fd[1100];
    const unsigned many = sizeof(fd) / sizeof(fd[0]);
    redlock *client = connected(list_of("", "", 2, 4));
    setenv("REDLOCK_NODES", list_of("", "", 0, 2), 1);
    for (unsigned i = 0; i < many; i++)
        ck_assert_int_ge(fd[i] = net_connect(&masters->node[2].unix_at), 0);
    run("-v", LONG);
    ck_assert(!told(TOLD));
    ck_assert_uint_eq(listed(2), 0);
    ck_assert_uint_eq(listed(1), 1);
    for (unsigned i = 0; i < many; i++)
        close(fd[i]);
    redlock_close(client);
}

/* Nor is it in the log of what was refused. */
TEST(masters, user_who_may_not_ask_does_not)
{
    static const char *const lacks[] = {"-client|list", "-info"};
    for (unsigned i = 0; i < 3; i++)
        (void)master_do(masters, i, "ACL", "SETUSER", "locks", "on", ">secret", "~*", "&*",
                        "+@all", lacks[i % 2], NULL);
    setenv("REDLOCK_NODES", list_of("", "locks:secret@", 0, 2), 1);
    redlock *client = connected(list_of("", "", 2, 4));
    for (unsigned i = 0; i < 3; i++)
        (void)master_do(masters, i, "ACL", "LOG", "RESET", NULL);
    setenv("REDLOCK_NODES", list_of("", "locks:secret@", 0, 2), 1);
    run("--ttl=20s", LONG);
    ck_assert(!told(TOLD));
    for (unsigned i = 0; i < 3; i++) {
        struct reply log = master_do(masters, i, "ACL", "LOG", NULL);
        ck_assert_msg(!strstr(log.text, "client|list"), "%s", log.text);
        ck_assert_uint_eq(listed(i), 0);
    }
    redlock_close(client);
}

/* It must not keep the lock from the next one, nor the caller waiting. */
TEST(masters, silent_master_delays_no_end)
{
    patience = "connect-timeout 1h";
    setenv("REDLOCK_NODES", list_of("", "", 0, 2), 1);
    begin("--ttl=20s");
    ck_assert(wait_until(masters_with(masters, "x") == 3, CLI_MOMENT_MS));
    master_pause(masters, 0);
    ck_assert(wait_until(listed(1) == 1, CLI_MOMENT_MS));
    end();
    master_resume(masters, 0);
}

CASE(masters, .timeout_s = 90, .set_up = start, .tear_down = stop)
