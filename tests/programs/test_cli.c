/* test_cli.c - redlock(1)'s command line: usage, help, and the node list file. */
#include "config_auto.h"

#include "cli_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- usage: 64 ---- */

static const char *const wrong_usage[][8] = {
    {NULL},
    {"frobnicate"},
    {"help", "frobnicate"},
    {"--help", "frobnicate"},
    {"version", "frobnicate"},
    {"--version", "frobnicate"},
    {"run"},
    {"run", "a"},
    {"run", "a", "--"},
    {"run", "--", "true"},
    {"run", "a", "", "--", "true"},
    {"run", "--shared", "--fair", "a", "--", "true"},
    {"run", "--exclusive", "--shared", "a", "--", "true"},
    {"run", "--shared", "a", "b", "--", "true"},
    {"run", "--owner", "me", "a", "--", "true"},
    {"run", "--fair", "a", "--", "true"}, /* there are five masters */
    {"run", "--reentrant", "--owner", "", "a", "--", "true"},
    {"run", "--shared=yes", "a", "--", "true"},
    {"run", "a", "true"},
    {"run", "", "--", "true"},
    {"run", "--ttl"},
    {"run", "--ttl", "10", "a", "--", "true"},
    {"run", "--ttl", "0", "a"},
    {"run", "--ttl", "-1s", "a"},
    {"run", "--wait", "soon", "a"},
    {"run", "--wait", "1s", "--try", "a", "--", "true"},
    {"lock", "--try", "--wait=0", "a"},
    {"run", "--grace=6s", "--ttl=10s", "a", "--", "true"},
    {"run", "--grace=6s", "a", "--", "true"}, /* the default TTL is 10s */
    {"lock"},
    {"lock", ""},
    {"lock", "--reentrant", "--owner", "mode", "a"},
    {"lock", "--reentrant", "--owner", "me:write", "a"},
    {"lock", "--fair", "a", "b"},
    {"lock", "a", "--grace", "1s"},
    {"lock", "-E", "256", "a"},
    {"lock", "-E", "x", "a"},
    {"lock", "--ttl", "3000d", "a"},
    {"lock", "--ttl", "1ms", "a"},
    {"lock", "--ttl", "31s", "a"}, /* over max-ttl */
    {"lock", "--nonsense", "a"},
    {"extend"},
    {"extend", "--shared", "not-a-handle"},
    {"extend", "not-a-handle"},
    {"release"},
    {"release", "not-a-handle"},
    {"release", "a", "b"},
    {"inspect"},
    {"inspect", "--ttl", "1s", "a"},
    {"inspect", "--fair", "a"},
    {"inspect", "--owner", "mode", "a"},
    {"inspect", "a", "b"},
    {"status", "a"},
};
#define WRONG_USAGE_COUNT (int)(sizeof(wrong_usage) / sizeof(wrong_usage[0]))

TEST(line, wrong_usage_is_64_and_shows_right_usage, .rows = WRONG_USAGE_COUNT)
{
    const char *argv[10] = {program_redlock()};
    for (int i = 0; i < 8 && wrong_usage[_i][i]; i++)
        argv[i + 1] = wrong_usage[_i][i];
    struct program *program = NULL;
    int status = program_run(NULL, argv, &program);
    ck_assert_msg(status == 64, "%s: %d", argv[1] ? argv[1] : "", status);
    ck_assert_str_eq(program_out(program), "");
    ck_assert_msg(cli_one_line(program_err(program)), "%s", program_err(program));
}

TEST(line, quiet_says_nothing_of_it)
{
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, REDLOCK("-q", "lock"), &program), 64);
    ck_assert_str_eq(program_err(program), "");
    ck_assert_int_eq(program_run(NULL, REDLOCK("lock", "--quiet", "a", ""), &program), 64);
    ck_assert_str_eq(program_err(program), "");
}

TEST(line, name_over_limit_is_64)
{
    char name[REDLOCK_NAME_MAX + 2];
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, REDLOCK("lock", name), &program), 64);
    ck_assert_ptr_nonnull(strstr(program_err(program), "4097 bytes"));
    name[REDLOCK_NAME_MAX] = '\0';
    ck_assert_int_eq(program_run(NULL, REDLOCK("run", name, "--", "true"), NULL), 0);
    ck_assert_int_eq(program_run(NULL, REDLOCK("run", name, "x", "--", "true"), &program), 64);
    ck_assert_ptr_nonnull(strstr(program_err(program), "all of them together"));
}

TEST(line, more_names_than_can_be_taken_are_64)
{
    const char *argv[REDLOCK_NAMES_MAX + 4] = {program_redlock(), "lock"};
    for (int i = 0; i <= REDLOCK_NAMES_MAX; i++)
        argv[2 + i] = "n";
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, argv, &program), 64);
    ck_assert_ptr_nonnull(strstr(program_err(program), "65 names are too many: 64 can be"));
}

TEST(line, every_verb_has_help_and_version)
{
    static const char *const verbs[] = {"run",     "lock",    "extend",
                                        "release", "inspect", "status"};
    struct program *program = NULL;
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        ck_assert_int_eq(program_run(NULL, REDLOCK(verbs[i], "--help"), &program), 0);
        ck_assert(program_printed(program, verbs[i]));
        ck_assert(program_printed(program, "--nodes LIST"));
        ck_assert_str_eq(program_err(program), "");
    }
    ck_assert_int_eq(program_run(NULL, REDLOCK("--help"), &program), 0);
    ck_assert(program_printed(program, "--grace D"));
    ck_assert_int_eq(program_run(NULL, REDLOCK("help", "extend"), &program), 0);
    ck_assert(program_printed(program, "redlock extend"));
    ck_assert_int_eq(program_run(NULL, REDLOCK("--version"), &program), 0);
    ck_assert_str_eq(program_out(program), "redlock " REDLOCK_VERSION "\n");
}

/* ---- the node list file: 78 ---- */

static const char *const no_nodes[] = {"REDLOCK_NODES", NULL};

TEST(line, no_node_list_is_78_and_names_places)
{
    char directory[SUITE_PATH_MAX];
    suite_new_dir(directory);
    struct program_how how = {.environment = no_nodes, .directory = directory};
    struct program *program = NULL;
    ck_assert_int_eq(program_run(&how, REDLOCK("lock", "a"), &program), 78);
    ck_assert(cli_one_line(program_err(program)));
    static const char *const places[] = {"-n", "$REDLOCK_NODES", "./redlock.conf",
                                         "/etc/redlock.conf"};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        ck_assert_ptr_nonnull(strstr(program_err(program), places[i]));
    suite_remove_dir(directory);
}

TEST(line, node_list_is_found_where_it_is_said_to_be)
{
    char directory[SUITE_PATH_MAX];
    char path[SUITE_PATH_MAX + 32];
    char text[16384];
    suite_new_dir(directory);
    file_text(getenv("REDLOCK_NODES"), text, sizeof(text));
    snprintf(path, sizeof(path), "%s/redlock.conf", directory);
    file_write(path, text);
    struct program_how here = {.environment = no_nodes, .directory = directory};
    ck_assert_int_eq(program_run(&here, REDLOCK("status"), NULL), 0);
    static const char *const empty[] = {"REDLOCK_NODES=", NULL};
    here.environment = empty;
    ck_assert_int_eq(program_run(&here, REDLOCK("status"), NULL), 0);

    static const char *const elsewhere[] = {"REDLOCK_NODES=/nonexistent/nodes", NULL};
    here.environment = elsewhere; /* named, so that nothing else is looked for */
    struct program *program = NULL;
    ck_assert_int_eq(program_run(&here, REDLOCK("status"), &program), 78);
    ck_assert_ptr_nonnull(strstr(program_err(program), "/nonexistent/nodes"));
    ck_assert_int_eq(program_run(&here, REDLOCK("status", "-n", getenv("REDLOCK_NODES")), NULL),
                     0);
    suite_remove_dir(directory);
}

TEST(line, malformed_node_list_is_78_with_its_place)
{
    char path[SUITE_PATH_MAX + 32];
    char directory[SUITE_PATH_MAX];
    suite_new_dir(directory);
    snprintf(path, sizeof(path), "%s/bad", directory);
    file_write(path, "# nodes\nnode redis://127.0.0.1:6379\nfrobnicate 3\n");
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, REDLOCK("run", "-n", path, "a", "--", "true"), &program),
                     78);
    ck_assert(cli_one_line(program_err(program)));
    ck_assert_ptr_nonnull(strstr(program_err(program), "bad:3:1:"));
    suite_remove_dir(directory);
}

/* What stands behind -- is COMMAND's: no name, and no option of ours. */
TEST(line, no_word_of_command_is_taken_for_ours)
{
    struct program *program = NULL;
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("run", "--", "echo", "started", "--json"), &program), 64);
    ck_assert_str_eq(program_out(program), "");
    ck_assert_ptr_nonnull(strstr(program_err(program), "the lock's NAME is missing"));
    ck_assert(cli_one_line(program_err(program)));
}

CASE(line, .timeout_s = 60, .set_up_once = cli_rig_start, .tear_down_once = cli_rig_stop)
