/* test_cli_nested.c - what people type and mean otherwise: a run under a run of the same name,
 * a command without its --, verbs of other programs, an output that is closed. */
#include "config_auto.h"

#include "cli_rig.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- a lock that a caller has -------------------------------------------------------------
 */

/* `redlock run` with these words (a shell's), under one with those. */
static int run_in_run(const char *outer, const char *inner, struct program **ret_program)
{
    char script[512];
    snprintf(script, sizeof(script), "%s run %s -- %s run %s -- echo inside", program_redlock(),
             outer, program_redlock(), inner);
    struct program *program =
        program_start(NULL, (const char *const[]){"sh", "-c", script, NULL});
    int status = program_wait(program, CLI_MOMENT_MS); /* -1 where it waits for itself */
    *ret_program = program;
    return status;
}

static const struct nest {
    const char *outer, *inner;
    int status;
} nests[] = {
    {"n:1", "n:1", 75},
    {"n:1 n:2", "n:2", 75},
    {"n:1", "n:3 n:1", 75},
    {"n:1", "n:2", 0},
    {"--exclusive n:3", "--exclusive n:3", 75},
    {"--exclusive n:3", "--shared n:3", 75},
    {"--shared n:3", "--exclusive --wait 60s n:3", 75},
    {"--shared n:3", "--shared n:3", 0},
    {"--reentrant n:4", "--reentrant n:4", 75},
    {"--reentrant --owner me n:4", "--reentrant --owner you n:4", 75},
    {"--reentrant --owner me n:4", "--reentrant --owner me n:4", 0},
    {"--exclusive --owner me n:3", "--shared --owner me n:3", 0},
};
#define NESTS (int)(sizeof(nests) / sizeof(nests[0]))

TEST(nested, run_under_its_own_lock_does_not_wait_for_itself, .rows = NESTS)
{
    struct program *program = NULL;
    int status = run_in_run(nests[_i].outer, nests[_i].inner, &program);
    ck_assert_msg(status == nests[_i].status, "%s, %s: %d: %s", nests[_i].outer,
                  nests[_i].inner, status, program_err(program));
    ck_assert_int_eq(program_printed(program, "inside"), status == 0);
    if (status == 75)
        ck_assert_ptr_nonnull(strstr(program_err(program), "would wait for itself"));
}

/* The writer waits for the outer reader, the inner reader would for the writer. */
TEST(nested, reader_under_reader_does_not_wait_behind_writer)
{
    char script[1024];
    const char *command = program_redlock();
    snprintf(script, sizeof(script),
             "exec %s run --shared n:10 -- sh -c '"
             "env -u REDLOCK_HELD %s run --exclusive n:10 -- true & "
             "until %s inspect n:10 | grep -q writer; do sleep 0.05; done; "
             "%s run --shared n:10 -- echo inside; status=$?; kill $!; exit $status'",
             command, command, command, command);
    struct program *program =
        program_start(NULL, (const char *const[]){"sh", "-c", script, NULL});
    int status = program_wait(program, CLI_MOMENT_MS);
    ck_assert_msg(status == 75, "%d: %s", status, program_err(program));
    ck_assert(!program_printed(program, "inside"));
    ck_assert_ptr_nonnull(strstr(program_err(program), "would wait for itself"));
}

TEST(nested, it_is_noticed_through_run_between_them)
{
    char between[256];
    struct program *program = NULL;
    snprintf(between, sizeof(between), "n:6 -- %s run n:5", program_redlock());
    ck_assert_int_eq(run_in_run("n:5", between, &program), 75);
    ck_assert_ptr_nonnull(strstr(program_err(program), "would wait for itself"));
}

TEST(nested, same_name_on_other_masters_is_another_lock)
{
    char inner[256];
    struct program *program = NULL;
    struct masters *others = masters_start(1, NULL);
    const char *file = masters_file(others, NULL);
    ck_assert_int_eq(program_run(NULL, REDLOCK("lock", "-n", file, "n:9"), NULL), 0);
    snprintf(inner, sizeof(inner), "-n %s --wait 100ms n:9", file);
    ck_assert_int_eq(run_in_run("n:9", inner, &program), 75);
    ck_assert_ptr_nonnull(strstr(program_err(program), "'n:9' is held by another"));
    ck_assert_ptr_null(strstr(program_err(program), "would wait for itself"));
}

TEST(nested, owner_comes_from_environment)
{
    static const char *const me[] = {"REDLOCK_OWNER=me", NULL};
    struct program_how how = {.environment = me};
    struct program *program = NULL;
    ck_assert_int_eq(program_run(&how, REDLOCK("lock", "--reentrant", "n:7"), NULL), 0);
    ck_assert_int_eq(program_run(NULL, REDLOCK("lock", "--reentrant", "n:7"), NULL), 75);
    ck_assert_int_eq(
        program_run(&how, REDLOCK("lock", "--reentrant", "--owner", "you", "n:7"), NULL), 75);
    ck_assert_int_eq(program_run(&how, REDLOCK("lock", "--reentrant", "n:7"), NULL), 0);
    ck_assert_int_eq(program_run(&how, REDLOCK("lock", "n:8"), NULL), 0); /* a plain one */
    ck_assert_int_eq(program_run(NULL, REDLOCK("inspect", "n:7"), &program), 0);
    ck_assert(program_printed(program, "held by me (2 holds)"));
}

/* ---- words that others use ----------------------------------------------------------------
 */

static const struct hint {
    const char *word[6];
    const char *hint;
} hints[] = {
    {{"run", "x", "echo", "hi"}, "redlock run x -- echo"},
    {{"run", "-n", "x", "--", "echo"}, "-n names the node list"},
    {{"unlock", "x"}, "did you mean release?"},
    {{"acquire", "x"}, "did you mean lock?"},
    {{"doctor", "x"}, "did you mean status?"},
    {{"releese", "x"}, "did you mean release?"},
    {{"frobnicate"}, "run, lock, extend, release, inspect"},
};
#define HINTS (int)(sizeof(hints) / sizeof(hints[0]))

TEST(nested, line_for_another_program_gets_hint, .rows = HINTS)
{
    const char *argv[8] = {program_redlock()};
    memcpy(argv + 1, hints[_i].word, sizeof(hints[_i].word));
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, argv, &program), 64);
    ck_assert(cli_one_line(program_err(program)));
    ck_assert_msg(strstr(program_err(program), hints[_i].hint), "%s", program_err(program));
}

TEST(nested, help_and_version_are_verbs)
{
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, REDLOCK("help"), &program), 0);
    ck_assert(program_printed(program, "usage: redlock VERB"));
    ck_assert_int_eq(program_run(NULL, REDLOCK("help", "run"), &program), 0);
    ck_assert(program_printed(program, "usage: redlock run"));
    ck_assert_int_eq(program_run(NULL, REDLOCK("version"), &program), 0);
    ck_assert_str_eq(program_out(program), "redlock " REDLOCK_VERSION "\n");
}

TEST(nested, plain_lock_beside_readers_is_told_of_exclusive)
{
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, REDLOCK("lock", "--shared", "n:rw"), NULL), 0);
    ck_assert_int_eq(program_run(NULL, REDLOCK("lock", "n:rw"), &program), 65);
    ck_assert_ptr_nonnull(strstr(program_err(program), "--exclusive"));
}

/* ---- an output that is not there ----------------------------------------------------------
 */

static void close_stdout(void)
{
    close(STDOUT_FILENO);
}

TEST(nested, lock_whose_handle_nobody_could_get_is_not_taken)
{
    struct program_how how = {.before_exec = close_stdout};
    struct program *program = NULL;
    ck_assert_int_eq(program_run(&how, REDLOCK("lock", "n:closed"), &program), 71);
    ck_assert_ptr_nonnull(strstr(program_err(program), "standard output is closed"));
    cli_expect_free("n:closed");
    const char *handle = cli_acquire("n:closed", "20s"); /* releasing prints nothing */
    ck_assert_int_eq(program_run(&how, REDLOCK("release", handle), NULL), 0);
}

CASE(nested, .timeout_s = 60, .set_up_once = cli_rig_start, .tear_down_once = cli_rig_stop)
