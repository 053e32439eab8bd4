/* test_cli_service.c - a service has a user of its own, by an ACL file, and its node list says
 * which locks it has: status then needs no options, nor does a probe of its readiness. */
#include "config_auto.h"

#include "cli_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 3 };

#define WORDS "status-prefix orders:\nstatus-kinds plain,fenced,reentrant\n"

static struct masters *masters;
static struct program *program;
static char acl_dir[SUITE_PATH_MAX], acl_file[SUITE_PATH_MAX + 8];

/* The node list of the service, with these lines. */
static const char *list_with(const char *settings)
{
    static struct node_list list;
    list.len = 0;
    node_list_line(&list, "guard off");
    if (*settings)
        node_list_line(&list, "%s", settings);
    for (unsigned i = 0; masters && i < N; i++)
        node_list_line(&list, "node unix://locks@%s password-env=TEST_REDLOCK_SECRET",
                       masters->node[i].unix_at.path);
    for (unsigned i = 0; !masters && i < N; i++)
        node_list_line(&list, "node redis://127.0.0.1:%u", 1 + i);
    setenv("TEST_REDLOCK_SECRET", "pw", 1);
    setenv("REDLOCK_NODES", node_list_write(&list), 1);
    return list.path;
}

/* What status --acl prints, as a line of an ACL file: "user locks on >pw ...", but this word. */
static void write_acl_file(const char *but)
{
    static const char begin[] = "ACL SETUSER ";
    char *rest = NULL;
    list_with(WORDS);
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "--acl"), &program), 0);
    char *text = strdup(program_out(program));
    ck_assert_int_eq(strncmp(text, begin, sizeof(begin) - 1), 0);
    FILE *file = fopen(acl_file, "w");
    ck_assert_ptr_nonnull(file);
    fputs("user default off\nuser admin on >secret ~* &* +@all\nuser", file);
    for (char *word = strtok_r(text + sizeof(begin) - 1, " \n", &rest); word;
         word = strtok_r(NULL, " \n", &rest)) {
        if (!but || strcmp(word, but) != 0)
            fprintf(file, " %s", strcmp(word, ">PASSWORD") == 0 ? ">pw" : word);
    }
    fputs("\n", file);
    ck_assert_int_eq(fclose(file), 0);
    free(text);
}

static void start_but(const char *but)
{
    static const char *extra[] = {"--aclfile", acl_file, NULL};
    masters = NULL;
    suite_new_dir(acl_dir);
    snprintf(acl_file, sizeof(acl_file), "%s/acl", acl_dir);
    write_acl_file(but);
    masters = masters_start_as(N, extra, "admin", "secret");
}

static void start(void)
{
    start_but(NULL);
}

static void stop(void)
{
    masters_stop(masters);
    suite_remove_dir(acl_dir);
}

static void expect_nothing_denied(void)
{
    for (unsigned i = 0; i < N; i++) {
        struct reply reply = master_do(masters, i, "ACL", "LOG", "1", NULL);
        ck_assert_msg(reply.type == '*' && reply.len == 0, "%s", reply.text);
    }
}

TEST(user, is_fit_by_words_of_its_list)
{
    list_with(WORDS);
    program = cli_expect_status(CLI_FIT);
    for (unsigned i = 0; i < N; i++)
        cli_expect_check(program, i, "rights", "ok", NULL, NULL);
    ck_assert_ptr_nonnull(strstr(program_out(program), "\"rights\":{\"plain\":[],\"reentrant\":[],"
                                                      "\"fenced\":[],"));
    list_with("");
    program = cli_expect_status(CLI_NOT_FIT);
}

TEST(user, has_locks_that_words_tell_of)
{
    list_with(WORDS);
    ck_assert_int_eq(program_run(NULL, REDLOCK("run", "--fenced", "--reentrant", "--owner", "me",
                                               "orders:1", "--", "true"), NULL), 0);
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "--probe"), &program), 0);
    expect_nothing_denied();
}

/* The user has rights to other names by no means. */
TEST(user, command_line_goes_before_list)
{
    list_with(WORDS);
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "--prefix", "bills:"), &program),
                     CLI_NOT_FIT);
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("status", "--json", "--kinds", "read-write"), &program),
        CLI_NOT_FIT);
    cli_expect_check(program, 0, "rights", "fail", "kinds in use", "status --acl");
    list_with("status-prefix bills:\nstatus-kinds read-write");
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("status", "--prefix", "orders:", "--kinds", "plain"), &program),
        CLI_FIT);
}

TEST(no_user, right_of_kind_in_use_that_lacks_is_found)
{
    start_but("+hincrby");
    list_with(WORDS);
    program = cli_expect_status(CLI_NOT_FIT);
    cli_expect_check(program, 2, "rights", "fail", "+hincrby", "status --acl");
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "--kinds", "plain"), &program), CLI_FIT);
    stop();
}

static const struct {
    const char *words, *says;
    bool acl;
} bad[] = {
    {"status-kinds plain,fast", ":2:14: status-kinds names plain, reentrant, ", false},
    {"status-kinds plain,fast", ":2:14: status-kinds names plain, reentrant, ", true},
    {"status-kinds fair", ":2:14: fair locks are for a list of one master", false},
    {"status-kinds fair", ":2:14: fair locks are for a list of one master", true},
};

TEST(no_user, word_that_is_none_is_told_with_its_place, .rows = 4)
{
    masters = NULL;
    list_with(bad[_i].words);
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", bad[_i].acl ? "--acl" : "-v"), &program),
                     78);
    ck_assert_ptr_nonnull(strstr(program_err(program), bad[_i].says));
}

/* ---- a probe of readiness ---------------------------------------------------------------- */

static void expect_probe(int status, const char *verdict)
{
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "--probe"), &program), status);
    ck_assert_msg(strstr(program_out(program), verdict) != NULL, "%s", program_out(program));
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "--probe", "--json"), &program), status);
    cli_expect_json(program, "fit", status == 0 ? "true" : "false");
}

TEST(user, probe_is_well_while_locks_can_be_had)
{
    list_with(WORDS CLI_PATIENT);
    expect_probe(0, "fit: 3 of 3");
    master_kill(masters, 0);
    ck_assert_int_eq(program_run(NULL, REDLOCK("status"), NULL), CLI_DEGRADED);
    expect_probe(0, "DEGRADED: 2 of 3");
    master_kill(masters, 1);
    expect_probe(CLI_NOT_FIT, "NOT FIT: 1 of 3");
}

/* A fleet's probes must not have each master list its clients all the time. */
TEST(user, probe_asks_for_nothing_but_locks)
{
    list_with(WORDS);
    for (unsigned look = 0; look < 2; look++) {
        (void)master_do(masters, 0, "CONFIG", "RESETSTAT", NULL);
        ck_assert_int_eq(program_run(NULL, REDLOCK("status", look ? "-v" : "--probe"), NULL), 0);
        struct reply stats = master_do(masters, 0, "INFO", "commandstats", NULL);
        ck_assert_ptr_nonnull(strstr(stats.text, "cmdstat_evalsha:"));
        ck_assert_int_eq(strstr(stats.text, "cmdstat_client|list") != NULL, look > 0);
    }
}

static const char *const beside[] = {"--acl", "--watch", "--prometheus", "--wait=5s",
                                     "--kinds=plain"};

TEST(no_user, probe_is_a_look_of_its_own, .rows = 5)
{
    masters = NULL;
    list_with("");
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "--probe", beside[_i]), &program), 64);
    ck_assert_ptr_nonnull(strstr(program_err(program), "--probe goes with none of"));
}

CASE(user, .timeout_s = 60, .set_up = start, .tear_down = stop)
CASE(no_user, .timeout_s = 60)
