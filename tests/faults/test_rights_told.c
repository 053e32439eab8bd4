/* test_rights_told.c - a right that a user lacks is named to whoever runs the program: in the
 * report of the call, and in the log where there is no report. */
#include "config_auto.h"

#include "client.h"
#include "masters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct masters *masters;
static redlock *client;
static redlock_node_vote report_votes[REDLOCK_NODES_MAX];
static redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
static char logged[8192];

static void note(void *context, int level, const char *text)
{
    size_t len = strlen(logged);
    (void)context;
    snprintf(logged + len, sizeof(logged) - len, "%d %s\n", level, text);
}

/* A client whose user may do all but this. */
static void open_without(const char *right)
{
    redlock_config config = REDLOCK_CONFIG_INIT;
    struct node_list list = {.len = 0};
    logged[0] = '\0';
    masters = masters_start(3, NULL);
    setenv("TEST_REDLOCK_SECRET", "pass-of-locks", 1);
    node_list_line(&list, "guard off");
    for (unsigned i = 0; i < masters->n; i++) {
        struct reply reply = master_do(masters, i, "ACL", "SETUSER", "locks", "on",
                                       ">pass-of-locks", "~*", "&*", "+@all", right, NULL);
        ck_assert_int_eq(reply.type, '+');
        node_list_line(&list,
                       "node redis://locks@127.0.0.1:%d password-env=TEST_REDLOCK_SECRET",
                       masters->node[i].tcp_at.port);
    }
    config.file = node_list_write(&list);
    config.log = note;
    config.log_level = REDLOCK_LOG_WARNING;
    ck_assert_int_eq(redlock_open_config(&config, NULL, &client), 0);
    ck_assert(wait_until(client_ready(client) == masters->n, 10000));
}

static void close_all(void)
{
    ck_assert_ptr_null(strstr(logged, "pass-of-locks"));
    redlock_close(client);
}

static unsigned lines_with(const char *words)
{
    unsigned lines = 0;
    for (const char *at = logged; (at = strstr(at, words)); at++)
        lines++;
    return lines;
}

/* Are all lines with these words errors? Another call's warning may come between them. */
static bool are_errors(const char *words)
{
    for (const char *at = logged; (at = strstr(at, words)); at++) {
        const char *begin = at;
        while (begin > logged && begin[-1] != '\n')
            begin--;
        if (*begin != '0' + REDLOCK_LOG_ERROR)
            return false;
    }
    return true;
}

/* By one at least: it is decided before all have answered. */
static void expect_reported(const char *words)
{
    unsigned told = 0;
    for (unsigned i = 0; i < report.nodes; i++)
        told += strstr(report.node[i].text, words) != NULL;
    ck_assert_msg(told >= 1, "%s", client_told(&report));
}

/* As an error, once for each master, however often it is tried again. */
static void expect_release_refused(redlock_lock *lock, const char *words)
{
    static const char line[] = "refused a request to release a lock ('";
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EUNCONFIRMED);
    ck_assert_msg(wait_until(lines_with(line) == 3, 10000), "%s", logged);
    ck_assert_msg(lines_with(words) == 3 && are_errors(words), "%s", logged);
    ck_assert_ptr_nonnull(strstr(logged, "redis://locks@127.0.0.1:"));
    ck_assert_ptr_null(strstr(logged, "user_script"));
}

TEST(a_missing_right_is_named, del)
{
    open_without("-del");
    redlock_lock *lock = client_take(client, "name");
    expect_release_refused(lock, "(DEL in plain_release)");
    pause_ms(500);
    ck_assert_uint_eq(lines_with("release a lock"), 3);
    close_all();
}

TEST(a_missing_right_is_named, get)
{
    open_without("-get");
    redlock_lock *lock = client_take(client, "name"), *other;
    ck_assert_int_eq(redlock_extend(lock, 0, &report), REDLOCK_ENOQUORUM);
    expect_reported("(GET in plain_extend)");
    ck_assert_int_eq(client_try(client, "name", 0, 0, &report, &other), REDLOCK_ENOQUORUM);
    expect_reported("(GET in plain_acquire)");
    logged[0] = '\0';
    expect_release_refused(lock, "(GET in plain_release)");
    close_all();
}

/* Who may look at no type either lacks GET first. */
TEST(a_missing_right_is_named, get_and_type)
{
    open_without("-get");
    for (unsigned i = 0; i < masters->n; i++)
        master_do(masters, i, "ACL", "SETUSER", "locks", "-type", NULL);
    redlock_lock *lock = client_take(client, "name");
    expect_release_refused(lock, "(GET in plain_release)");
    close_all();
}

TEST(a_missing_right_is_named, rights_that_try_needs)
{
    redlock_lock *lock;
    open_without("-set");
    ck_assert_int_eq(client_try(client, "name", 0, 0, &report, &lock), REDLOCK_ENOQUORUM);
    expect_reported("(SET in plain_acquire)");
    ck_assert_msg(wait_until(lines_with("(SET in plain_acquire)") == 3, 10000), "%s", logged);
    ck_assert_uint_eq(lines_with("refused a request to take a lock ('"), 3);
    ck_assert_int_eq(logged[0], '0' + REDLOCK_LOG_WARNING);
    close_all();
}

TEST(a_missing_right_is_named, rights_that_extension_needs)
{
    open_without("-pexpire");
    redlock_lock *lock = client_take(client, "name");
    ck_assert_int_eq(redlock_extend(lock, 20000, &report), REDLOCK_ENOQUORUM);
    expect_reported("(PEXPIRE in plain_extend)");
    ck_assert_int_eq(redlock_release(lock), 0);
    close_all();
}

CASE(a_missing_right_is_named, .timeout_s = 60)
