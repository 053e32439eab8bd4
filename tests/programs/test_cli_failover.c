/* tags: long
 * test_cli_failover.c - redlock status and init at a real service with Sentinels, before and behind
 * a failover, and as users of few rights. */
#include "config_auto.h"

#include "cli_rig.h"
#include "json.h"
#include "sentinels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETTINGS "max-ttl 2s\n" CLI_PATIENT

static struct sentinels *sentinels;
static struct program *program;

static const char *run(int expected, const char *const argv[])
{
    int status = program_run(NULL, argv, &program);
    ck_assert_msg(status == expected, "%d: %s%s", status, program_out(program),
                  program_err(program));
    return program_err(program);
}

#define RUN(expected, ...) run(expected, REDLOCK(__VA_ARGS__))
#define EXPECT_TEXT(text, part) ck_assert_msg(strstr((text), (part)) != NULL, "%s", (text))

static bool is_marked(void)
{
    return program_run(NULL, REDLOCK("init"), &program) == 0;
}

static bool all_count(void)
{
    return program_run(NULL, REDLOCK("status", "--json"), &program) == CLI_FIT &&
           !strstr(program_out(program), "\"agrees\":false");
}

/* Sentinels count from when they have been up for max-ttl and a second. */
static void start(void)
{
    sentinels = sentinels_start(3, 2, "orders");
    setenv("REDLOCK_NODES", sentinels_file(sentinels, SETTINGS), 1);
    EXPECT_TEXT(RUN(69, "init"), "started less than max-ttl ago");
    ck_assert_msg(wait_until(is_marked(), CLI_MOMENT_MS), "%s", program_err(program));
    RUN(0, "lock", "--try", "--ttl", "1s", "name");
    ck_assert_msg(wait_until(all_count(), CLI_MOMENT_MS), "%s", program_out(program));
}

static void expect_server(unsigned server)
{
    char at[32];
    snprintf(at, sizeof(at), "127.0.0.1:%d", sentinels->servers->node[server].tcp_at.port);
    cli_expect_json(program, "nodes.0.server", at);
}

TEST(service, is_told_before_and_after_failover)
{
    program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 0, "sentinels", "ok", NULL, NULL);
    cli_expect_check(program, 0, "rights", "ok", NULL, NULL);
    expect_server(0);
    master_kill(sentinels->servers, 0);
    sentinels_await(sentinels, 1);
    RUN(0, "status", "--wait", "60s", "--json");
    expect_server(1);
    cli_expect_json(program, "lists", "alike");
    master_do(sentinels->servers, 1, "FLUSHALL", NULL);
    EXPECT_TEXT(RUN(65, "init"), "has failed over before (term ");
    ck_assert_uint_eq(masters_with(sentinels->servers, "libredlock:marker"), 0);
}

TEST(service, with_silent_sentinel_is_fit_with_warning)
{
    master_pause(sentinels->watchers, 1);
    setenv("REDLOCK_NODES", sentinels_file(sentinels, "max-ttl 2s\n"), 1);
    RUN(0, "status", "--json");
    cli_expect_check(program, 0, "sentinels", "warn", "no answer within connect-timeout", NULL);
    master_pause(sentinels->watchers, 2);
    RUN(69, "status", "--json");
    cli_expect_check(program, 0, "sentinels", "fail", "no answer within connect-timeout", NULL);
    master_resume(sentinels->watchers, 1);
    master_resume(sentinels->watchers, 2);
}

/* ---- our user at the Sentinels ------------------------------------------------------------- */

/* What --acl prints, at each Sentinel, and `more` behind it. */
static void obey(const char *more)
{
    static const char begin[] = "at each Sentinel: ";
    char text[512], *words[32], *rest = NULL;
    size_t lens[32];
    unsigned count = 0;
    const char *at = strstr(RUN(0, "status", "--acl"), begin);
    ck_assert_ptr_nonnull(at);
    snprintf(text, sizeof(text), "%.*s %s", (int)strcspn(at, "\n") - (int)sizeof(begin) + 1,
             at + sizeof(begin) - 1, more);
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        ck_assert_uint_lt(count, 32);
        words[count] = strcmp(word, ">PASSWORD") == 0 ? ">pw" : word;
        lens[count] = strlen(words[count]);
        count++;
    }
    for (unsigned i = 0; i < 3; i++) {
        struct reply reply = master_do_n(sentinels->watchers, i, count,
                                         (const char *const *)words, lens);
        ck_assert_msg(reply.type == '+', "%s", reply.text);
    }
}

static void use_as_user(void)
{
    char list[1024];
    size_t len = (size_t)snprintf(list, sizeof(list), "redis+sentinel://");
    for (unsigned i = 0; i < 3; i++)
        len += (size_t)snprintf(list + len, sizeof(list) - len, "%s127.0.0.1:%d", i ? "," : "",
                                sentinels->watchers->node[i].tcp_at.port);
    snprintf(list + len, sizeof(list) - len,
             "/orders sentinel-user=locks sentinel-password-env=OF_SENTINELS max-ttl=2s "
             "connect-timeout=10s");
    setenv("REDLOCK_NODES", list, 1);
    setenv("OF_SENTINELS", "pw", 1);
}

static const struct {
    const char *more, *says;
} taken[] = {
    {"", NULL},
    {"-info", "told no uptime"},
    {"-sentinel|master", "refused SENTINEL MASTER"},
    {"-sentinel|get-master-addr-by-name", "refused SENTINEL GET-MASTER-ADDR-BY-NAME"},
    {"-sentinel|myid", "refused SENTINEL MYID"},
    {">another <pw", "refuses the password"},
    {"-client|setname", NULL}, /* a courtesy */
};

TEST(service, printed_rights_at_sentinels_are_enough_and_each_is_missed, .rows = ROWS(taken))
{
    use_as_user();
    obey(taken[_i].more);
    RUN(taken[_i].says ? 69 : 0, "status", "--json");
    cli_expect_check(program, 0, "sentinels", taken[_i].says ? "fail" : "ok", taken[_i].says,
                     NULL);
    for (unsigned i = 0; i < 3 && !*taken[_i].more; i++) {
        struct reply denied = master_do(sentinels->watchers, i, "ACL", "LOG", "1", NULL);
        ck_assert_msg(denied.type == '*' && denied.len == 0, "%s", denied.text);
    }
}

CASE(service, .timeout_s = 240, .set_up = start)
