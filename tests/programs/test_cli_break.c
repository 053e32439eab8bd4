/* test_cli_break.c - redlock break: shows who has the lock, asks, deletes what it has shown,
 * and nothing that is not certainly a lock. */
#include "config_auto.h"

#include "child.h"
#include "cli_rig.h"
#include "json.h"
#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static struct terminal tty;

static struct program *run_program(const char *const argv[], int expected)
{
    struct program *program = NULL;
    int status = program_run(NULL, argv, &program);
    ck_assert_msg(status == expected, "%d: %s%s", status, program_out(program),
                  program_err(program));
    return program;
}

#define RUN(expected, ...) run_program(REDLOCK(__VA_ARGS__), expected)

static void set_all(const char *name, const char *value)
{
    for (unsigned i = 0; i < 5; i++)
        (void)master_do(cli_masters, i, "SET", name, value, NULL);
}

static unsigned left(const char *name)
{
    return masters_with(cli_masters, name);
}

/* A majority is free of it; a master that was late may have it still. */
static bool gone(const char *name)
{
    bool is_gone = left(name) <= 2;
    for (unsigned i = 0; i < 5; i++)
        (void)master_do(cli_masters, i, "DEL", name, NULL);
    return is_gone;
}

/* ---- at once ---------------------------------------------------------------------------- */

TEST(break, stuck_lock_is_shown_and_deleted)
{
    static const char *const kinds[][2] = {{"plain", NULL},
                                           {"reentrant", "--reentrant"},
                                           {"read-write", "--shared"},
                                           {"read-write", "--exclusive"}};
    for (unsigned i = 0; i < 4; i++) {
        const char *word = kinds[i][1] ? kinds[i][1] : "--ttl=20s";
        (void)RUN(0, "lock", word, "--ttl", "20s", "stuck");
        ck_assert_uint_ge(left("stuck"), 3);
        struct program *program = RUN(0, "break", "--yes", "stuck");
        ck_assert(program_printed(program, "'stuck': "));
        ck_assert(program_printed(program, kinds[i][0]));
        ck_assert(program_printed(program, "left"));
        ck_assert(program_printed(program, "broken: deleted on "));
        ck_assert_str_eq(program_err(program), "");
        ck_assert(gone("stuck"));
    }
    struct program *program = RUN(0, "break", "--yes", "stuck");
    ck_assert_str_eq(program_out(program), "'stuck': free, there is nothing to break\n");
}

TEST(break, json_tells_holder_and_result)
{
    (void)RUN(0, "lock", "--ttl", "20s", "stuck");
    ck_assert_uint_ge(left("stuck"), 3);
    struct program *program = RUN(64, "break", "--json", "stuck");
    cli_expect_json(program, "result", "declined");
    cli_expect_json(program, "kind", "plain");
    cli_expect_json(program, "exit_status", "64");
    cli_expect_json(program, "error", NULL);
    ck_assert_uint_ge(left("stuck"), 3);
    program = RUN(0, "break", "--json", "--yes", "stuck");
    cli_expect_json(program, "name", "stuck");
    cli_expect_json(program, "result", "broken");
    cli_expect_json(program, "kind", "plain");
    cli_expect_json(program, "holder", NULL);
    cli_expect_json(program, "nodes.4.vote", NULL);
    cli_expect_json(program, "exit_status", "0");
    cli_expect_json(program, "node_list", getenv("REDLOCK_NODES"));
    ck_assert(gone("stuck"));
    program = RUN(0, "break", "--json", "--yes", "stuck");
    cli_expect_json(program, "result", "free");
    cli_expect_json(program, "exit_status", "0");
}

TEST(break, without_terminal_it_wants_to_be_told_yes)
{
    set_all("stuck", "x");
    for (unsigned i = 0; i < 5; i++)
        (void)master_do(cli_masters, i, "PEXPIRE", "stuck", "60000", NULL);
    struct program *program = RUN(64, "break", "stuck");
    ck_assert(strstr(program_err(program), "no terminal to ask at; say --yes") != NULL);
    ck_assert(program_printed(program, "held by x, "));
    ck_assert_uint_eq(left("stuck"), 5);
    (void)RUN(0, "break", "--yes", "stuck");
}

TEST(break, lock_without_ttl_is_deleted_only_where_that_is_said)
{
    set_all("by:hand", "me");
    struct program *program = RUN(65, "break", "--yes", "by:hand");
    ck_assert(strstr(program_err(program), "say --even-without-ttl") != NULL);
    program = RUN(65, "break", "--yes", "--json", "by:hand");
    cli_expect_json(program, "result", "no lock");
    ck_assert_uint_eq(left("by:hand"), 5);
    (void)RUN(0, "break", "--yes", "--even-without-ttl", "by:hand");
    ck_assert(gone("by:hand"));
    for (unsigned i = 0; i < 5; i++)
        (void)master_do(cli_masters, i, "RPUSH", "some:list", "data", NULL);
    program = RUN(65, "break", "--yes", "--even-without-ttl", "some:list");
    ck_assert(strstr(program_err(program), "no lock but data: a list") != NULL);
    ck_assert_uint_eq(left("some:list"), 5);
    for (unsigned i = 0; i < 5; i++)
        (void)master_do(cli_masters, i, "DEL", "some:list", NULL);
}

TEST(break, name_that_is_another_locks_key_is_refused)
{
    static const char *const verbs[] = {"break", "inspect", "lock"};
    for (unsigned i = 0; i < 3; i++) {
        struct program *program = RUN(64, verbs[i], "{x}:redlock:writer");
        ck_assert(cli_one_line(program_err(program)));
        ck_assert(strstr(program_err(program), "can't end in }:redlock:queue") != NULL);
    }
}

TEST(minority, minority_is_no_reason_to_delete)
{
    set_all("stuck", "me");
    for (unsigned i = 0; i < 3; i++)
        master_kill(cli_masters, i);
    struct program *program = RUN(69, "break", "--yes", "--json", "stuck");
    cli_expect_json(program, "result", "unknown");
    ck_assert(strstr(program_err(program), "was left alone: too few masters") != NULL);
    ck_assert_uint_eq(left("stuck"), 2);
}

static void rights_of_all(const char *right)
{
    for (unsigned i = 0; i < 5; i++)
        (void)master_do(cli_masters, i, "ACL", "SETUSER", "default", right, NULL);
}

/* To look, and to delete: whichever is missing is named. */
TEST(minority, missing_right_is_named)
{
    set_all("stuck", "me");
    rights_of_all("-pttl");
    struct program *program = RUN(69, "break", "--yes", "--even-without-ttl", "stuck");
    ck_assert_msg(strstr(program_err(program), "(PTTL in ") != NULL, "%s",
                  program_err(program));
    ck_assert_ptr_nonnull(strstr(program_err(program), "redlock(7) lists"));
    rights_of_all("+pttl");
    rights_of_all("-del");
    program = RUN(69, "break", "--yes", "--even-without-ttl", "stuck");
    ck_assert_ptr_nonnull(strstr(program_err(program), "may be held still"));
    ck_assert_ptr_nonnull(strstr(program_err(program), "redlock(7) lists"));
    rights_of_all("+del");
    ck_assert_uint_eq(left("stuck"), 5);
}

/* ---- at a terminal ---------------------------------------------------------------------- */

/* Up to the question. 0, or the line that failed. */
static int ask_to_break(pid_t *ret_job)
{
    set_all("stuck", "me");
    child_expect(terminal_open(&tty));
    *ret_job =
        terminal_job(&tty, REDLOCK("break", "--even-without-ttl", "stuck"), JOB_FOREGROUND);
    child_expect(terminal_shows(&tty, "held by me, for ever"));
    child_expect(terminal_shows(&tty, "Break it? [y/N]"));
    return 0;
}

static int no_is_no(void *unused)
{
    (void)unused;
    pid_t job;
    int line = ask_to_break(&job);
    if (line != 0)
        return line;
    terminal_type(&tty, "\n");
    int status = terminal_wait(&tty, job);
    child_expect(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    child_expect(terminal_shows(&tty, "'stuck' was left alone"));
    child_expect(left("stuck") == 5);
    return 0;
}

static int yes_is_yes(void *unused)
{
    (void)unused;
    pid_t job;
    int line = ask_to_break(&job);
    if (line != 0)
        return line;
    terminal_type(&tty, "y\n");
    child_expect(terminal_shows(&tty, "broken: deleted on "));
    child_expect(terminal_wait(&tty, job) == 0);
    child_expect(gone("stuck"));
    return 0;
}

/* It was given up and taken while somebody looked at the question. */
static int another_holder_is_not_the_one_that_was_shown(void *unused)
{
    (void)unused;
    pid_t job;
    int line = ask_to_break(&job);
    if (line != 0)
        return line;
    set_all("stuck", "us"); /* as long as the one that was shown */
    terminal_type(&tty, "yes\n");
    int status = terminal_wait(&tty, job);
    child_expect(WIFEXITED(status) && WEXITSTATUS(status) == 75);
    child_expect(terminal_shows(&tty, "it has another holder now"));
    child_expect(left("stuck") == 5);
    return 0;
}

/* Nor is a lock of another kind, although its owner is called the same. */
static int lock_of_another_kind_is_not_the_one_that_was_shown(void *unused)
{
    (void)unused;
    pid_t job;
    int line = ask_to_break(&job);
    if (line != 0)
        return line;
    for (unsigned i = 0; i < 5; i++)
        (void)master_do(cli_masters, i, "DEL", "stuck", NULL);
    child_expect(
        program_run(NULL,
                    REDLOCK("lock", "--reentrant", "--owner", "me", "--ttl", "20s", "stuck"),
                    NULL) == 0);
    terminal_type(&tty, "yes\n");
    int status = terminal_wait(&tty, job);
    child_expect(WIFEXITED(status) && WEXITSTATUS(status) == 75);
    child_expect(terminal_shows(&tty, "it has another holder now"));
    child_expect(left("stuck") >= 3);
    return 0;
}

/* It ended by itself while somebody looked at the question. */
static int lock_that_has_ended_is_free(void *unused)
{
    (void)unused;
    pid_t job;
    int line = ask_to_break(&job);
    if (line != 0)
        return line;
    for (unsigned i = 0; i < 5; i++)
        (void)master_do(cli_masters, i, "DEL", "stuck", NULL);
    terminal_type(&tty, "y\n");
    child_expect(terminal_shows(&tty, "'stuck': free by now, nothing was deleted"));
    child_expect(terminal_wait(&tty, job) == 0);
    return 0;
}

static int (*const answers[])(void *) = {
    no_is_no,
    yes_is_yes,
    another_holder_is_not_the_one_that_was_shown,
    lock_of_another_kind_is_not_the_one_that_was_shown,
    lock_that_has_ended_is_free,
};

TEST(break, it_asks_at_terminal, .rows = ROWS(answers))
{
    /* A line of this file, where it went wrong. */
    ck_assert_int_eq(child_run(answers[_i], NULL, 40000), 0);
    for (unsigned i = 0; i < 5; i++)
        (void)master_do(cli_masters, i, "DEL", "stuck", NULL);
}

CASE(break, .timeout_s = 120, .set_up_once = cli_rig_start, .tear_down_once = cli_rig_stop)
CASE(minority, .timeout_s = 120, .set_up = cli_rig_start, .tear_down = cli_rig_stop)
