/* test_cli_json.c - with --json redlock(1) prints one object, whatever happens: taken, refused,
 * out of time, wrongly called. */
#include "config_auto.h"

#include "cli_rig.h"
#include "json.h"

#include <stdio.h>
#include <string.h>

/* Run it, and expect one object with this result and the exit status in it. */
static void expect_result(const char *const argv[], int status, const char *result,
                          const char *member)
{
    char number[16];
    struct program *program = NULL;
    int got = program_run(NULL, argv, &program);
    ck_assert_msg(got == status, "%d: %s%s", got, program_out(program), program_err(program));
    snprintf(number, sizeof(number), "%d", status);
    cli_expect_json(program, "result", result);
    cli_expect_json(program, "exit_status", number);
    if (member)
        cli_expect_json(program, member, NULL);
    if (status != 0)
        cli_expect_json(program, "error", NULL);
    const char *text = program_out(program);
    ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
}

TEST(json, every_outcome_of_lock_extend_and_release_is_object)
{
    expect_result(REDLOCK("lock", "json:a", "--ttl", "20s", "--json"), 0, "acquired", "handle");
    const char *handle = cli_acquire("json:b", "20s");
    expect_result(REDLOCK("lock", "json:b", "--json"), 75, "held", "nodes.0.vote");
    expect_result(REDLOCK("lock", "json:b", "--wait", "50ms", "--json"), 75, "held", "needed");
    expect_result(REDLOCK("lock", "json:b", "json:c", "--json"), 75, "held", "names.1.name");
    expect_result(REDLOCK("lock", "-q", "json:b", "-E", "7", "--json"), 7, "held", "name");
    expect_result(REDLOCK("lock", "--shared", "json:b", "--json"), 65, "other kind", "name");
    expect_result(REDLOCK("extend", handle, "--ttl", "40s", "--json"), 64, "usage", "nodes");
    expect_result(REDLOCK("extend", handle, "--ttl", "25s", "--json"), 0, "extended", "handle");
    expect_result(REDLOCK("release", handle, "--json"), 0, "released", "name");
    expect_result(REDLOCK("release", handle, "--json"), 1, "expired", "name");
    expect_result(REDLOCK("extend", handle, "--json"), 1, "expired", "nodes");
}

static const char *const wrong[][6] = {
    {"lock", "--json"},
    {"--json", "frobnicate"},
    {"lock", "a", "--json", "--nonsense"},
    {"lock", "--nonsense", "a", "--json"},
    {"extend", "no-handle", "--json"},
    {"release", "no-handle", "--json"},
    {"inspect", "--json", "a", "b"},
    {"status", "--json", "a"},
};
#define WRONG_COUNT (int)(sizeof(wrong) / sizeof(wrong[0]))

TEST(json, wrong_line_is_object_too, .rows = WRONG_COUNT)
{
    const char *argv[8] = {program_redlock()};
    memcpy(argv + 1, wrong[_i], sizeof(wrong[_i]));
    expect_result(argv, 64, "usage", NULL);
}

TEST(json, node_list_that_is_not_there_is_object_too)
{
    static const char *const verbs[][2] = {
        {"lock", "a"}, {"extend", "a"}, {"release", "a"}, {"inspect", "a"}, {"status", NULL}};
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        const char *argv[] = {program_redlock(), verbs[i][0], "-n", "/nonexistent",
                              "--json",          verbs[i][1], NULL};
        expect_result(argv, 78, "config", NULL);
    }
}

TEST(json, run_tells_on_stderr_how_it_ended)
{
    static const struct {
        const char *script;
        int status;
        const char *text;
    } rows[] = {
        {"true", 0,
         "{\"name\":\"json:run\",\"result\":\"ended\",\"exit_status\":0,\"node_list\":"},
        {"exit 3", 3,
         "{\"name\":\"json:run\",\"result\":\"ended\",\"exit_status\":3,\"node_list\":"},
        {"exec /nonexistent", 127, "\"result\":\"ended\",\"exit_status\":127,\"node_list\":"},
    };
    struct program *program = NULL;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int status = program_run(
            NULL, REDLOCK("run", "--json", "json:run", "--", "sh", "-c", rows[i].script),
            &program);
        ck_assert_int_eq(status, rows[i].status);
        ck_assert_ptr_nonnull(strstr(program_err(program), rows[i].text));
        ck_assert_str_eq(program_out(program), "");
    }
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("run", "--json", "json:run", "--", "/nonexistent"), &program),
        127);
    ck_assert_ptr_nonnull(strstr(program_err(program), "\"result\":\"not run\""));
    (void)cli_acquire("json:run", "20s");
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("run", "-q", "--try", "--json", "json:run", "--", "true"),
                    &program),
        75);
    ck_assert(strncmp(program_err(program), "{\"name\":\"json:run\",", 19) == 0);
}

TEST(json, no_quorum_is_object_with_each_masters_word)
{
    const char *handle = cli_acquire("json:kept", "20s");
    for (unsigned i = 0; i < 3; i++)
        master_kill(cli_masters, i);
    expect_result(REDLOCK("lock", "json:none", "--json"), 69, "no quorum", "nodes.0.text");
    expect_result(REDLOCK("extend", handle, "--json"), 69, "no quorum", "validity_ms");
    expect_result(REDLOCK("release", handle, "--json"), 69, "unknown", "name");
}

/* The wait was too short to tell: no master is known to have failed, and no holder. */
TEST(json, wait_that_ends_undecided_is_75_and_says_so)
{
    static const char says[] = "'json:undecided' was not acquired: undecided, the masters had less "
                               "time than an answer may take, and no holder is known (2 of 5 "
                               "granted, 3 needed)";
    struct program *program = NULL;
    const char *argv[] = {"tests/support/undecided", "run", "--wait", "10ms", "--json",
                          "json:undecided", "--", "false", NULL};
    ck_assert_int_eq(program_run(NULL, argv, &program), 75);
    const char *object = strstr(program_err(program), "\n{");
    ck_assert_msg(object != NULL, "%s", program_err(program));
    ck_assert_int_eq(strncmp(program_err(program), "redlock: ", 9), 0);
    ck_assert_int_eq(strncmp(object - strlen(says), says, strlen(says)), 0);
    ck_assert(json_valid(object + 1, strlen(object + 1)));
    ck_assert_ptr_nonnull(strstr(object, "\"granted\":2,\"held\":0,\"failed\":0,\"needed\":3,"));
    ck_assert_ptr_nonnull(strstr(object, "\"result\":\"undecided\",\"exit_status\":75,\"error\":\""));
    argv[3] = "0";
    ck_assert_int_eq(program_run(NULL, argv, &program), 75);
    argv[4] = "-E7";
    ck_assert_int_eq(program_run(NULL, argv, &program), 7);
}

CASE(json, .timeout_s = 90, .set_up = cli_rig_start, .tear_down = cli_rig_stop)
