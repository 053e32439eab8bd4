/* test_cli_nodes.c - which node list redlock(1) uses, and what becomes of the secrets in it. */
#include "config_auto.h"

#include "cli_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[SUITE_PATH_MAX];
static char list[SUITE_PATH_MAX + 32];
static const char *const unnamed[] = {"REDLOCK_NODES", NULL};
static struct program_how here = {.environment = unnamed, .directory = directory};

/* A directory with a good redlock.conf in it. */
static void set_up(void)
{
    char text[16384];
    umask(022);
    suite_new_dir(directory);
    snprintf(list, sizeof(list), "%s/redlock.conf", directory);
    file_text(getenv("REDLOCK_NODES"), text, sizeof(text));
    file_write(list, text);
    ck_assert_int_eq(chmod(list, 0644), 0);
    ck_assert_int_eq(chmod(directory, 0755), 0);
}

static void tear_down(void)
{
    suite_remove_dir(directory);
}

/* ---- the list of the working directory -------------------------------------------------- */

static void expect_refused(const char *why)
{
    struct program *program = NULL;
    ck_assert_int_eq(program_run(&here, REDLOCK("status"), &program), 78);
    ck_assert(cli_one_line(program_err(program)));
    ck_assert_msg(strstr(program_err(program), why) && strstr(program_err(program), "-n"), "%s",
                  program_err(program));
    ck_assert_str_eq(program_out(program), "");
    /* Named, it is the caller's choice. */
    ck_assert_int_eq(program_run(&here, REDLOCK("status", "-n", list), NULL), 0);
}

static const struct {
    mode_t file, directory;
    const char *why;
} writable[] = {
    {0666, 0755, "it may be written by others"},
    {0664, 0755, "it may be written by others"},
    {0602, 0755, "it may be written by others"},
    {0644, 0777, "its directory may be written by others"},
    {0644, 01777, "its directory may be written by others"},
    {0600, 0775, "its directory may be written by others"},
};

TEST(cli_nodes, list_that_others_may_write_is_not_used, .rows = ROWS(writable))
{
    ck_assert_int_eq(chmod(list, writable[_i].file), 0);
    ck_assert_int_eq(chmod(directory, writable[_i].directory), 0);
    expect_refused(writable[_i].why);
}

/* Of a user whom root meets in its directory, or the other way round. */
TEST(cli_nodes, list_of_somebody_else_is_not_used)
{
    if (geteuid() != 0)
        return; /* only root can give files away */
    ck_assert_int_eq(chown(list, 65534, 65534), 0);
    expect_refused("it belongs to somebody else (uid 65534");
    ck_assert_int_eq(chown(list, 0, 0), 0);
    ck_assert_int_eq(chown(directory, 65534, 65534), 0);
    expect_refused("its directory belongs to somebody else (uid 65534");
}

static const char *const one_each[][6] = {
    {"status", "--json"},
    {"lock", "cli_nodes", "--json"},
    {"inspect", "cli_nodes", "--json"},
};

TEST(cli_nodes, verbose_and_json_say_which_list_is_used)
{
    struct program *program = NULL;
    char line[SUITE_PATH_MAX + 64];
    snprintf(line, sizeof(line), "redlock: node list: %s\n", list);
    ck_assert_int_eq(program_run(&here, REDLOCK("-v", "status"), &program), 0);
    ck_assert_ptr_nonnull(strstr(program_err(program), line));
    ck_assert_int_eq(program_run(&here, REDLOCK("status"), &program), 0);
    ck_assert_str_eq(program_err(program), "");
    for (size_t i = 0; i < sizeof(one_each) / sizeof(one_each[0]); i++) {
        const char *argv[8] = {program_redlock()};
        memcpy(argv + 1, one_each[i], sizeof(one_each[i]));
        ck_assert_int_eq(program_run(&here, argv, &program), 0);
        cli_expect_json(program, "node_list", list);
    }
}

TEST(cli_nodes, empty_name_of_list_is_wrong_use)
{
    struct program *program = NULL;
    ck_assert_int_eq(program_run(&here, REDLOCK("status", "-n", ""), &program), 64);
    ck_assert_str_eq(program_err(program),
                     "redlock: -n is empty: give the path of a node list file, or URLs\n");
}

/* ---- a list in words ---- */

/* The masters of the rig, as words; all are private. */
static const char *in_words(void)
{
    static char words[4096];
    char text[16384];
    size_t len = 0;
    file_text(list, text, sizeof(text));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (strncmp(line, "node ", 5) == 0)
            len += (size_t)snprintf(words + len, sizeof(words) - len, "%s\n", line + 5);
    }
    snprintf(words + len, sizeof(words) - len, "guard=off");
    return words;
}

TEST(cli_nodes, words_are_a_list_for_every_verb_and_for_command)
{
    struct program *program = NULL;
    const char *words = in_words();
    ck_assert_int_eq(setenv("REDLOCK_NODES", words, 1), 0);
    ck_assert_int_eq(program_run(NULL,
                                 REDLOCK("run", "--try", "words", "--", "sh", "-c",
                                         "printf %s \"$REDLOCK_NODES\"; exec \"$0\" inspect words",
                                         program_redlock()),
                                 &program),
                     0);
    ck_assert_ptr_nonnull(strstr(program_out(program), words));
    ck_assert_ptr_nonnull(strstr(program_out(program), "words"));
    /* A run below a run of the same lock would wait for itself, as with a file. */
    ck_assert_int_ne(program_run(NULL,
                                 REDLOCK("run", "words", "--", program_redlock(), "run", "words",
                                         "--", "true"),
                                 &program),
                     0);
    ck_assert_ptr_nonnull(strstr(program_err(program), "the redlock run that this runs under"));
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "-n", words), NULL), 0);
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "-n", "redis://a,redis://b"), &program),
                     78);
    ck_assert_ptr_nonnull(strstr(program_err(program), "URLs stand apart by blanks"));
}

/* ---- secrets ---------------------------------------------------------------------------- */

static struct masters *start_with_password(void)
{
    struct masters *masters = masters_start(1, NULL);
    (void)master_do(masters, 0, "CONFIG", "SET", "requirepass", "hunter2", NULL);
    masters->password = "hunter2";
    return masters;
}

static void write_list(const struct masters *masters, const char *option)
{
    static struct node_list nodes;
    nodes.len = 0;
    for (unsigned i = 0; i < masters->n; i++) {
        char url[ENDPOINT_URL_MAX];
        endpoint_url(&masters->node[i].unix_at, url);
        node_list_line(&nodes, "node %s %s", url, option);
    }
    node_list_line(&nodes, "guard off");
    setenv("REDLOCK_NODES", node_list_write(&nodes), 1);
}

TEST(cli_nodes, command_does_not_inherit_passwords)
{
    struct masters *masters = start_with_password();
    static const char *const environment[] = {"TEST_PW=hunter2", "TEST_PW2=kept", NULL};
    struct program_how how = {.environment = environment};
    struct program *program = NULL;
    write_list(masters, "password-env=TEST_PW");
    /* Nor where the guard, its parent, shows what it was started with. */
    ck_assert_int_eq(program_run(&how,
                                 REDLOCK("run", "name", "--", "sh", "-c",
                                         "env; tr '\\0' '\\n' </proc/$PPID/environ"),
                                 &program),
                     0);
    ck_assert_ptr_null(strstr(program_out(program), "hunter2"));
    ck_assert(program_printed(program, "TEST_PW2=kept\n"));
    ck_assert(program_printed(program, "REDLOCK_HANDLE="));
    /* Nothing stands in its place. */
    ck_assert_int_eq(
        program_run(&how,
                    REDLOCK("run", "name", "--", "grep", "-zc", "^$", "/proc/self/environ"),
                    &program),
        1);
    ck_assert_str_eq(program_out(program), "0\n");
}

/* In the environment it is between the user and the system; on the command line all see it. */
TEST(cli_nodes, password_in_words_is_never_shown)
{
    struct masters *masters = start_with_password();
    char words[ENDPOINT_URL_MAX + 64], url[ENDPOINT_URL_MAX];
    struct program *program = NULL;
    endpoint_url(&masters->node[0].unix_at, url);
    ck_assert_int_eq(strncmp(url, "unix://", 7), 0);
    snprintf(words, sizeof(words), "unix://:hunter2@%s guard=off", url + 7);
    setenv("REDLOCK_NODES", words, 1);
    ck_assert_int_eq(program_run(NULL, REDLOCK("-v", "lock", "--json", "name"), &program), 0);
    cli_expect_json(program, "node_list", url);
    ck_assert_ptr_null(strstr(program_out(program), "hunter2"));
    ck_assert_ptr_null(strstr(program_err(program), "hunter2"));
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("run", "other", "--", "sh", "-c", "echo $REDLOCK_HELD"), &program),
        0);
    ck_assert_str_eq(program_err(program), "");
    ck_assert_ptr_null(strstr(program_out(program), "68756e74657232")); /* in hexadecimal */
    ck_assert_int_eq(program_run(NULL, REDLOCK("run", "-n", words, "other", "--", "true"), &program),
                     0);
    ck_assert(cli_one_line(program_err(program)));
    ck_assert_ptr_nonnull(strstr(program_err(program), "everybody sees it by ps"));
    masters_stop(masters);
}

TEST(cli_nodes, secrets_that_others_may_read_are_told_without_verbose)
{
    char secret[SUITE_PATH_MAX + 32], option[SUITE_PATH_MAX + 64];
    struct masters *masters = start_with_password();
    struct program *program = NULL;
    snprintf(secret, sizeof(secret), "%s/secret", directory);
    snprintf(option, sizeof(option), "password-file=%s", secret);
    file_write(secret, "hunter2\n");
    write_list(masters, option);
    ck_assert_int_eq(chmod(secret, 0644), 0);
    ck_assert_int_eq(program_run(NULL, REDLOCK("status"), &program), 0);
    ck_assert(cli_one_line(program_err(program)));
    ck_assert_ptr_nonnull(strstr(program_err(program), "others may use the file (mode 0644)"));
    ck_assert_int_eq(chmod(secret, 0600), 0);
    ck_assert_int_eq(program_run(NULL, REDLOCK("status"), &program), 0);
    ck_assert_str_eq(program_err(program), "");
}

CASE(cli_nodes,
     .timeout_s = 60, .set_up_once = cli_rig_start, .tear_down_once = cli_rig_stop,
     .set_up = set_up, .tear_down = tear_down)
