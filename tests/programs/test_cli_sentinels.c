/* test_cli_sentinels.c - redlock status and init where Sentinels name the master: a real master,
 * which scripted Sentinels name. */
#include "config_auto.h"

#include "cli_rig.h"
#include "fake_sentinels.h"
#include "json.h"
#include "kinds/marker.h"
#include "masters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct masters *masters;
static char url[256], list[1024];
static struct program *program;

static void all_name(unsigned node, unsigned term)
{
    for (unsigned i = 0; i < FAKE_SENTINELS; i++)
        fake_sentinel_names(i, masters->node[node].tcp_at.port, term);
}

static void use(const char *settings)
{
    snprintf(list, sizeof(list), "%s/locks %s", url, settings);
    setenv("REDLOCK_NODES", list, 1);
}

static const char *run(int expected, const char *const argv[])
{
    int status = program_run(NULL, argv, &program);
    ck_assert_msg(status == expected, "%d: %s%s", status, program_out(program),
                  program_err(program));
    return program_err(program);
}

#define RUN(expected, ...) run(expected, REDLOCK(__VA_ARGS__))
#define EXPECT_TEXT(text, part) ck_assert_msg(strstr((text), (part)) != NULL, "%s", (text))

/* Two masters, of which the second is named; Sentinels that are up for long. */
static void start(void)
{
    masters = masters_start(2, NULL);
    fake_sentinels_start(url, sizeof(url));
    all_name(1, 0);
    use("max-ttl=20s");
}

static void start_marked(void)
{
    start();
    RUN(0, "init");
}

static void stop(void)
{
    fake_sentinels_stop();
    masters_stop(masters);
}

/* ---- the master ------------------------------------------------------------------------- */

static const char *address(unsigned node)
{
    static char text[32];
    snprintf(text, sizeof(text), "127.0.0.1:%d", masters->node[node].tcp_at.port);
    return text;
}

TEST(master, that_majority_names_is_asked_for_each_check)
{
    static const char *const checks[] = {"clock",    "latency", "memory",  "clients", "restart",
                                         "lists",    "failover", "rights", "sentinels"};
    cli_expect_status(CLI_FIT);
    program = cli_expect_status(CLI_FIT);
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
        cli_expect_check(program, 0, checks[i], "ok", NULL, NULL);
    cli_expect_json(program, "lists", "alike");
    cli_expect_json(program, "nodes.0.server", address(1));
    cli_expect_json(program, "nodes.0.term", "0");
    RUN(0, "status", "-v");
    char line[64];
    snprintf(line, sizeof(line), "server: %s, in term 0\n", address(1));
    EXPECT_TEXT(program_out(program), line);
}

/* It is another user's connection that is counted there. */
TEST(master, that_they_name_shows_who_holds_a_lock)
{
    struct program *holder = cli_hold("", "name");
    RUN(0, "inspect", "-v", "name");
    EXPECT_TEXT(program_out(program), "process");
    program_kill(holder);
    RUN(0, "break", "--yes", "name");
}

TEST(master, that_nobody_can_name_is_unknown)
{
    fake_door(fake_sentinels[0], FAKE_REFUSE);
    fake_door(fake_sentinels[2], FAKE_REFUSE);
    program = cli_expect_status(CLI_NOT_FIT);
    static const char why[] = "2 of 3 Sentinels refuse connections";
    cli_expect_check(program, 0, "connection", "fail", why, NULL);
    cli_expect_check(program, 0, "memory", "unknown", why, NULL);
    cli_expect_check(program, 0, "lists", "unknown", why, NULL);
    cli_expect_check(program, 0, "sentinels", "fail", "refuses connections", "start them");
    cli_expect_json(program, "nodes.0.sentinels.0.agrees", "false");
    EXPECT_TEXT(RUN(69, "init"), why);
}

TEST(master, that_is_down_is_told_by_its_own_words)
{
    master_kill(masters, 1);
    program = cli_expect_status(CLI_NOT_FIT);
    cli_expect_check(program, 0, "memory", "unknown", "Connection refused", NULL);
    cli_expect_check(program, 0, "sentinels", "ok", NULL, NULL);
}

/* ---- a Sentinel of three ------------------------------------------------------------------ */

static const struct {
    const char *match, *reply, *says, *remedy;
} odd[] = {
    {"SENTINEL MASTER *", "-ERR No such master with that name\r\n", "knows no service",
     "sentinel monitor"},
    {"SENTINEL MASTER *", "-NOPERM no\r\n", "refuses a right: refused SENTINEL MASTER (NOPERM no",
     "+sentinel|myid"},
    {"SENTINEL MASTER *", "*1\r\n$2\r\nip\r\n", "unlike a Sentinel", "26379"},
    {"SENTINEL MASTER *", "*0\r\n", "no flags of a master", NULL},
    {"SENTINEL GET*", "*-1\r\n", "knows no service", "sentinel monitor"},
    {"SENTINEL GET*", ":1\r\n", "unlike a Sentinel", "26379"},
    {"SENTINEL MYID", "$0\r\n\r\n", "unlike a Sentinel", "26379"},
    {"SENTINEL MYID", "-ERR unknown subcommand\r\n", "no id", "6.2"},
    {"SENTINEL MYID", "$40\r\n0000000000000000000000000000000000000001\r\n", "is named twice",
     "name different"},
    {"INFO*", "-NOPERM no\r\n", "told no uptime", "+info"},
    {"INFO*", "-NOAUTH no\r\n", "told no uptime", "+info"},
    {"INFO*", "$25\r\nredis_mode:standalone\r\na:\r\n\r\n", "another kind of server", "26379"},
    {"*", "", "no answer within connect-timeout", NULL},
};

/* One that is not as it should be costs no vote, and is told. */
TEST(one, that_gives_no_word_is_warning, .rows = ROWS(odd))
{
    struct fake_rule rule = {.match = odd[_i].match, .reply = odd[_i].reply};
    if (!*odd[_i].reply)
        rule.then = FAKE_SILENT;
    fake_rule(fake_sentinels[2], &rule);
    program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 0, "sentinels", "warn", odd[_i].says, odd[_i].remedy);
    cli_expect_check(program, 0, "memory", "ok", NULL, NULL);
    cli_expect_json(program, "nodes.0.sentinels.1.agrees", "true");
    cli_expect_json(program, "nodes.0.sentinels.2.agrees", "false");
    char at[32];
    snprintf(at, sizeof(at), "127.0.0.1:%d", fake_endpoint(fake_sentinels[2])->port);
    cli_expect_check(program, 0, "sentinels", "warn", at, NULL);
    cli_expect_json(program, "nodes.0.sentinels.2.sentinel", at);
}

TEST(one, that_names_another_master_is_warning)
{
    fake_sentinel_names(2, masters->node[0].tcp_at.port, 0);
    program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 0, "sentinels", "warn", "names 127.0.0.1:", "reach each other");
    cli_expect_json(program, "nodes.0.server", address(1));
}

TEST(one, that_forgot_a_failover_is_warning)
{
    all_name(1, 3);
    master_do(masters, 1, "FLUSHALL", NULL);
    RUN(0, "init", "--replace", "1", "--yes");
    fake_sentinel_names(2, masters->node[0].tcp_at.port, 2);
    program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 0, "sentinels", "warn", "(term 2)", "sentinel.conf");
    cli_expect_json(program, "nodes.0.term", "3");
}

TEST(one, that_has_just_started_is_warning_that_passes)
{
    fake_says(fake_sentinels[2], NULL, 1, NULL);
    program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 0, "sentinels", "warn", "started less than max-ttl ago", NULL);
    ck_assert_ptr_null(strstr(program_out(program), "remedy"));
}

/* A Sentinel that takes no more connections is as one that is down. */
TEST(one, that_is_nearly_full_is_warning)
{
    fake_says_also(fake_sentinels[2],
                   "redis_mode:sentinel\r\nconnected_clients:80\r\nmaxclients:100\r\n");
    program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 0, "sentinels", "ok", NULL, NULL);
    fake_says_also(fake_sentinels[2],
                   "redis_mode:sentinel\r\nconnected_clients:81\r\nmaxclients:100\r\n");
    program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 0, "sentinels", "warn", "81 of 100 connections", "maxclients");
    cli_expect_json(program, "nodes.0.sentinels.2.agrees", "true");
    cli_expect_json(program, "nodes.0.sentinels.2.clients", "81");
    RUN(0, "status", "--prometheus");
    char metric[96];
    snprintf(metric, sizeof(metric), ",sentinel=\"127.0.0.1:%d\"} 81\n",
             fake_endpoint(fake_sentinels[2])->port);
    EXPECT_TEXT(program_out(program), metric);
}

TEST(one, that_does_not_agree_is_a_metric)
{
    fake_door(fake_sentinels[0], FAKE_REFUSE);
    RUN(0, "status", "--prometheus");
    for (unsigned i = 0; i < 2; i++) {
        char metric[64];
        snprintf(metric, sizeof(metric), ",sentinel=\"127.0.0.1:%d\"} %u\n",
                 fake_endpoint(fake_sentinels[i])->port, i);
        EXPECT_TEXT(program_out(program), metric);
    }
    EXPECT_TEXT(program_out(program), "\nredlock_master_term{");
    EXPECT_TEXT(program_out(program), "check=\"sentinels\"} 1\n");
}

/* ---- several lines ------------------------------------------------------------------------ */

TEST(lines, that_share_all_sentinels_are_told_once)
{
    char other[256];
    snprintf(other, sizeof(other), "%s", url);
    strcpy(strrchr(other, ':'), ":1");
    snprintf(list, sizeof(list), "%s/locks %s/third %s/second max-ttl=20s", url, other, url);
    setenv("REDLOCK_NODES", list, 1);
    int status = program_run(NULL, REDLOCK("status", "--json"), &program);
    ck_assert_int_eq(status, CLI_NOT_FIT); /* the fakes call one server by each name */
    cli_expect_check(program, 0, "host", "warn", "node 1, 3 of the list have the same Sentinels",
                     "of its own");
    cli_expect_check(program, 1, "host", "ok", NULL, NULL);
    cli_expect_check(program, 2, "host", "ok", NULL, NULL);
}

TEST(lines, of_sentinels_have_rights_of_their_own)
{
    EXPECT_TEXT(RUN(0, "status", "--acl"), "at each Sentinel: ACL SETUSER");
    ck_assert_ptr_null(strstr(program_out(program), "sentinel"));
    setenv("REDLOCK_NODES", masters_file(masters, NULL), 1);
    ck_assert_ptr_null(strstr(RUN(0, "status", "--acl"), "Sentinel"));
}

/* ---- init --------------------------------------------------------------------------------- */

static void expect_marker(const char *end)
{
    struct reply marker = master_do(masters, 1, "GET", RL_MARKER_KEY, NULL);
    ck_assert_msg(marker.type == '$' && marker.len > strlen(end) &&
                      strcmp(marker.text + marker.len - strlen(end), end) == 0,
                  "%s", marker.text);
}

TEST(init, marks_master_that_never_failed_over)
{
    RUN(69, "lock", "--try", "name");
    master_do(masters, 1, "FLUSHALL", NULL);
    RUN(0, "init");
    expect_marker(" init @0");
    ck_assert_uint_eq(masters_with(masters, RL_MARKER_KEY), 1);
    RUN(0, "lock", "--try", "--ttl", "5s", "name");
    EXPECT_TEXT(RUN(65, "init"), "has a marker already");
}

/* Two began anew, and know of no failover; the third one remembers it. */
TEST(init, believes_one_sentinel_that_remembers_failover)
{
    fake_sentinel_names(2, masters->node[0].tcp_at.port, 3);
    EXPECT_TEXT(RUN(65, "init"), "has failed over before (term 3)");
    ck_assert_uint_eq(masters_with(masters, RL_MARKER_KEY), 0);
}

/* A replica that was promoted, and then emptied, looks new: locks of before may be held. */
TEST(init, refuses_master_that_has_failed_over)
{
    all_name(1, 2);
    EXPECT_TEXT(RUN(65, "init"), "has failed over before (term 2)");
    EXPECT_TEXT(program_err(program), "22s after the first client");
    ck_assert_uint_eq(masters_with(masters, RL_MARKER_KEY), 0);
    program = cli_expect_status(CLI_NOT_FIT);
    cli_expect_check(program, 0, "guard", "warn", "no marker", NULL);
    ck_assert_ptr_null(strstr(program_out(program), "redlock init"));
}

TEST(init, marks_master_that_failed_over_where_user_says_so)
{
    all_name(1, 2);
    EXPECT_TEXT(RUN(64, "init", "--replace", "1"), "--yes");
    RUN(0, "init", "--replace", "1", "--yes");
    expect_marker(" init @2");
    RUN(0, "lock", "--try", "--ttl", "5s", "name");
}

static void nobody_counts(void)
{
    for (unsigned i = 0; i < 2; i++)
        fake_says(fake_sentinels[i], NULL, 1, NULL);
}

static void they_differ(void)
{
    fake_sentinel_names(0, masters->node[0].tcp_at.port, 0);
    fake_door(fake_sentinels[2], FAKE_REFUSE);
}

static void no_uptime(void)
{
    static const struct fake_rule rule = {.match = "INFO*", .reply = "-NOPERM no\r\n"};
    for (unsigned i = 0; i < 2; i++)
        fake_rule(fake_sentinels[i], &rule);
}

static const struct {
    void (*happens)(void);
    const char *why;
} unnamed[] = {
    {nobody_counts, "2 of 3 Sentinels started less than max-ttl ago"},
    {they_differ, "1 of 3 Sentinels names 127.0.0.1:"},
    {no_uptime, "2 of 3 Sentinels told no uptime"},
};

TEST(init, needs_the_word_of_a_majority, .rows = ROWS(unnamed))
{
    unnamed[_i].happens();
    EXPECT_TEXT(RUN(69, "init"), unnamed[_i].why);
    ck_assert_uint_eq(masters_with(masters, RL_MARKER_KEY), 0);
}

/* Whoever waits sees to the quarantine of a master that init does not take. */
TEST(init, is_not_waited_for_where_it_would_refuse)
{
    all_name(1, 2);
    use("max-ttl=1s ttl=500ms");
    RUN(0, "status", "--wait", "40s");
    expect_marker(" @2");
}

CASE(master, .timeout_s = 90, .set_up = start_marked, .tear_down = stop)
CASE(one, .timeout_s = 90, .set_up = start_marked, .tear_down = stop)
CASE(lines, .timeout_s = 90, .set_up = start_marked, .tear_down = stop)
CASE(init, .timeout_s = 120, .set_up = start, .tear_down = stop)
