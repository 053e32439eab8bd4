/* test_cli_lists.c - redlock status finds clients of the masters that have another node list: a
 * client of this test is connected while it runs. */
#include "config_auto.h"

#include "cli_rig.h"
#include "client.h"
#include "masters.h"
#include "suite.h"

#include <redlock.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIST "n3-ttl30000-keys2-drift10000-open-00000000"
#define FORMER_LIST "n3-ttl30000-drift10000-open-00000000"
#define UUID "0b7a2c5e-0000-4000-8000-000000000001"

static struct masters *masters;
static struct node_list list; /* of three masters */

static void start_list(const char *setting)
{
    list = (struct node_list){.len = 0};
    node_list_line(&list, "%s", setting);
}

static void add(unsigned first, unsigned last, const char *query)
{
    for (unsigned i = first; i <= last; i++)
        node_list_line(&list, "node unix://%s%s", masters->node[i].unix_at.path, query);
}

static void start(void)
{
    masters = masters_start(4, NULL);
    start_list("guard off");
    add(0, 2, "");
    setenv("REDLOCK_NODES", node_list_write(&list), 1);
}

/* A client of the list as it stands now, connected to all of its masters. */
static redlock *connected(void)
{
    redlock *client;
    redlock_lock *lock;
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.wait_ms = CLI_MOMENT_MS;
    ck_assert_int_eq(redlock_open(node_list_write(&list), NULL, &client), 0);
    ck_assert_int_eq(redlock_try(client, "any", &options, &lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    return client;
}

/* That check of the first master, and of the last one of its list. */
static void expect_remedy(const char *result, const char *reason, const char *remedy)
{
    struct program *program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 0, "lists", result, reason, remedy);
    cli_expect_check(program, 2, "lists", result, reason, remedy);
}

static void expect_lists(const char *result, const char *reason)
{
    expect_remedy(result, reason, reason ? "give all clients one list" : NULL);
}

TEST(masters, client_with_same_list_is_as_it_should_be)
{
    start_list("guard off");
    add(2, 2, "");
    add(0, 1, ""); /* the order does not count */
    CLIENT client = connected();
    expect_lists("ok", NULL);
}

static const struct other {
    const char *setting, *query;
    unsigned last;
    const char *reason, *remedy;
} other_lists[] = {
    {"guard off", "", 3, "its list has 4 masters, this one 3", "majorities of these meet"},
    {"guard off\nmax-ttl 1m", "", 2, "its max-ttl is 1m0s, here 30.0s", "two may have"},
    {"guard off\ndrift-factor 0.02", "", 2, "its drift-factor is 0.02, here 0.01",
     "two may have"},
    {"guard off", "?db=3", 2, "it uses database 3 there, this list 0", "two may have"},
};
#define OTHER_LISTS (int)(sizeof(other_lists) / sizeof(other_lists[0]))

TEST(masters, client_with_another_list_is_named, .rows = OTHER_LISTS)
{
    const struct other *other = &other_lists[_i];
    char who[32];
    start_list(other->setting);
    add(0, other->last, other->query);
    redlock *client = connected();
    expect_remedy("warn", other->reason, other->remedy);
    snprintf(who, sizeof(who), ":%d: ", (int)getpid());
    expect_lists("warn", who);
    expect_lists("warn", "1 of its clients has another node list: ");
    redlock_close(client);
    expect_lists("ok", NULL);
}

/* Two of three in common are enough to be seen there. */
TEST(masters, client_of_other_masters_is_named)
{
    start_list("guard off");
    add(1, 3, "");
    CLIENT client = connected();
    struct program *program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 0, "lists", "ok", NULL, NULL);
    cli_expect_check(program, 1, "lists", "warn", "its list has other masters", NULL);
    cli_expect_check(program, 2, "lists", "warn", "its list has other masters", NULL);
}

TEST(masters, same_masters_by_other_addresses_are_one_list)
{
    start_list("guard off");
    for (unsigned i = 0; i < 3; i++)
        node_list_add(&list, &masters->node[i].tcp_at);
    CLIENT client = connected();
    expect_lists("ok", NULL);
}

TEST(masters, guard_that_is_off_is_named)
{
    redlock *client = connected(); /* guard off */
    start_list("max-ttl 500ms");
    add(0, 2, "");
    setenv("REDLOCK_NODES", node_list_write(&list), 1);
    ck_assert(wait_until(program_run(NULL, REDLOCK("status"), NULL) == CLI_FIT, CLI_MOMENT_MS));
    redlock_close(client);
    start_list("guard off\nmax-ttl 500ms");
    add(0, 2, "");
    client = connected();
    expect_lists("warn", "its restart guard is off");
    redlock_close(client);
}

/* A client of the former format of keys, of the same masters. */
TEST(masters, client_of_former_version_is_named)
{
    static const char name[] = "redlock:host:7:" FORMER_LIST ":" UUID;
    int fds[3];
    for (unsigned i = 0; i < 3; i++)
        fds[i] = master_connect_as(masters, i, name, strlen(name));
    expect_remedy("warn", "host:7: it is of a former version, whose keys have other names",
                  "move all clients to one version");
    for (unsigned i = 0; i < 3; i++)
        close(fds[i]);
    expect_lists("ok", NULL);
}

/* Names that foreign connections give themselves. */
TEST(masters, other_names_say_nothing)
{
    static const char *const names[] = {
        "redlock:h:1:" UUID,
        "redlock:h:1:" LIST ":" UUID "0",
        "redlock:h:1:" LIST "-" UUID,
        "redis:h:1:" LIST ":" UUID,
        "redlock:h:1:" LIST ":0b7a2c5e",
        "redlock:" LIST ":" UUID,
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        int fd = master_connect_as(masters, 0, names[i], strlen(names[i]));
        expect_lists("ok", NULL);
        close(fd);
    }
}

TEST(masters, without_right_to_ask_it_is_unknown)
{
    for (unsigned i = 0; i < 3; i++)
        (void)master_do(masters, i, "ACL", "SETUSER", "locks", "on", ">secret", "~*", "&*",
                        "+@all", "-client|list", NULL);
    start_list("guard off");
    for (unsigned i = 0; i < 3; i++)
        node_list_line(&list, "node unix://locks:secret@%s", masters->node[i].unix_at.path);
    setenv("REDLOCK_NODES", node_list_write(&list), 1);
    struct program *program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 0, "lists", "unknown", "permission", NULL);
}

CASE(masters, .timeout_s = 90, .set_up = start)
