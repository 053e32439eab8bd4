/* test_cli_schema.c - docs/status.schema.json says what redlock status --json prints, on every
 * way out; and there is always a metric. */
#include "config_auto.h"

#include "cli_rig.h"
#include "fake_sentinels.h"
#include "json.h"
#include "json_schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct masters *masters;
static char schema[16384];

static void read_schema(void)
{
    char path[512];
    const char *srcdir = getenv("srcdir");
    snprintf(path, sizeof(path), "%s/docs/status.schema.json", srcdir ? srcdir : ".");
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s", path);
    size_t len = fread(schema, 1, sizeof(schema) - 1, file);
    fclose(file);
    ck_assert_uint_lt(len, sizeof(schema) - 1);
    schema[len] = '\0';
    ck_assert(json_valid(schema, len));
}

static void start(void)
{
    read_schema();
    masters = masters_start(3, NULL);
}

static void expect_as_said(struct program *program, int status, int expected)
{
    char why[JSON_WHY_MAX], number[16];
    const char *text = program_out(program);
    ck_assert_msg(status == expected, "%d: %s%s", status, text, program_err(program));
    ck_assert_msg(json_valid(text, strlen(text)), "%s", text);
    json_schema_check(schema, text, why);
    ck_assert_msg(*why == '\0', "%s, in %s", why, text);
    snprintf(number, sizeof(number), "%d", expected);
    cli_expect_json(program, "exit_status", number);
    cli_expect_json(program, "version", redlock_version());
}

static void expect_list(const char *settings, int expected)
{
    struct program *program = NULL;
    struct node_list list = {.len = 0};
    node_list_line(&list, "%s\n" CLI_PATIENT, settings);
    for (unsigned i = 0; i < 3; i++)
        node_list_add(&list, &masters->node[i].unix_at);
    setenv("REDLOCK_NODES", node_list_write(&list), 1);
    int status = program_run(NULL, REDLOCK("status", "--json"), &program);
    expect_as_said(program, status, expected);
}

TEST(masters, every_look_is_as_schema_says)
{
    expect_list("guard off", CLI_FIT);
    expect_list("guard on", CLI_NOT_FIT); /* they have just been started */
    expect_list("guard off\nfencing strict", CLI_FIT);
    (void)master_do(masters, 0, "ACL", "SETUSER", "default", "-time", "-client|list", NULL);
    expect_list("guard off", CLI_FIT);
    (void)master_do(masters, 1, "REPLICAOF", "127.0.0.1", "1", NULL);
    expect_list("guard off", CLI_DEGRADED);
    master_kill(masters, 2);
    expect_list("guard off", CLI_NOT_FIT);
}

TEST(masters, look_at_service_with_sentinels_is_as_schema_says)
{
    struct program *program = NULL;
    char url[512];
    fake_sentinels_start(url, sizeof(url));
    strncat(url, "/locks max-ttl=20s", sizeof(url) - strlen(url) - 1);
    for (unsigned i = 0; i < FAKE_SENTINELS; i++)
        fake_sentinel_names(i, masters->node[0].tcp_at.port, 4);
    fake_says_also(fake_sentinels[0],
                   "redis_mode:sentinel\r\nconnected_clients:1\r\nmaxclients:100\r\n");
    setenv("REDLOCK_NODES", url, 1);
    int status = program_run(NULL, REDLOCK("status", "--json"), &program);
    expect_as_said(program, status, CLI_NOT_FIT); /* it is to be quarantined */
    cli_expect_json(program, "nodes.0.term", "4");
    cli_expect_json(program, "nodes.0.sentinels.0.clients_max", "100");
    fake_door(fake_sentinels[1], FAKE_REFUSE);
    fake_door(fake_sentinels[2], FAKE_REFUSE);
    status = program_run(NULL, REDLOCK("status", "--json"), &program);
    expect_as_said(program, status, CLI_NOT_FIT);
    cli_expect_json(program, "nodes.0.sentinels.1.agrees", "false");
    fake_sentinels_stop();
}

static const struct end {
    const char *words[4];
    int status;
} ends[] = {
    {{"a"}, 64},
    {{"--nonsense"}, 64},
    {{"--wait", "soon"}, 64},
    {{"-n", "/nonexistent"}, 78},
};
#define ENDS (int)(sizeof(ends) / sizeof(ends[0]))

TEST(masters, every_end_without_look_is_as_schema_says_and_a_metric, .rows = ENDS)
{
    const char *argv[8] = {program_redlock(), "status", "--json"};
    struct program *program = NULL;
    memcpy(argv + 3, ends[_i].words, sizeof(ends[_i].words));
    expect_as_said(program, program_run(NULL, argv, &program), ends[_i].status);
    cli_expect_json(program, "fit", "false");
    argv[2] = "--prometheus";
    ck_assert_int_eq(program_run(NULL, argv, &program), ends[_i].status);
    ck_assert_ptr_nonnull(strstr(program_out(program), "\nredlock_fit 0\n"));
}

TEST(masters, gate_that_sees_nothing_is_as_schema_says)
{
    struct program *program = NULL;
    for (unsigned i = 0; i < 3; i++)
        (void)master_do(masters, i, "ACL", "SETUSER", "default", "-client|list", NULL);
    setenv("REDLOCK_NODES", masters_file(masters, NULL), 1);
    int status = program_run(NULL, REDLOCK("status", "--json", "--wait", "1m"), &program);
    expect_as_said(program, status, 77);
}

TEST(masters, time_is_that_of_the_look)
{
    struct program *program = NULL;
    char before[32], after[32], told[64];
    time_t now = time(NULL);
    strftime(before, sizeof(before), "%Y-%m-%dT%H:%M:%S", gmtime(&now));
    setenv("REDLOCK_NODES", masters_file(masters, NULL), 1);
    (void)program_run(NULL, REDLOCK("status", "--json"), &program);
    now = time(NULL) + 1;
    strftime(after, sizeof(after), "%Y-%m-%dT%H:%M:%S", gmtime(&now));
    const char *text = program_out(program);
    ck_assert_int_ge(json_get(text, strlen(text), "time", told, sizeof(told)), 20);
    ck_assert_msg(strcmp(before, told) <= 0 && strcmp(told, after) <= 0, "%s", told);
}

/* The check itself sees what is amiss. */
static const struct {
    const char *text, *why;
} amiss[] = {
    {"{\"schema\":1,\"version\":\"x\",\"fit\":false,\"exit_status\":0}", "lacks: time"},
    {"{\"schema\":2}", "not in enum: 2"},
    {"{\"fit\":1}", "boolean: 1"},
    {"{\"time\":\"now\"}", "\"now\""},
    {"{\"needed\":0}", "below the minimum: 0"},
    {"{\"nodes\":[{\"poem\":1}]}", "does not have: poem"},
    {"[]", "object: []"},
};

TEST(check, text_that_is_not_as_schema_says_is_seen, .rows = ROWS(amiss))
{
    char why[JSON_WHY_MAX];
    read_schema();
    json_schema_check(schema, amiss[_i].text, why);
    ck_assert_msg(strstr(why, amiss[_i].why), "%s", why);
}

CASE(masters, .timeout_s = 60, .set_up = start)
