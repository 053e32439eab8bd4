/* test_run_signals.c - redlock run: signals are forwarded to COMMAND's group, and before there
 * is one they end the wait. */
#include "config_auto.h"

#include "cli_rig.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RUN_SH(name, script) REDLOCK("run", name, "--", "sh", "-c", script)

static const int forwarded[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
#define FORWARDED_COUNT (int)(sizeof(forwarded) / sizeof(forwarded[0]))

TEST(plain, signals_are_forwarded_to_group, .rows = FORWARDED_COUNT)
{
    struct program *program = program_start(
        NULL, RUN_SH("forwarded",
                     "trap 'echo got TERM; exit 3' TERM; trap 'echo got INT; exit 3' INT;"
                     "trap 'echo got HUP; exit 3' HUP; trap 'echo got QUIT; exit 3' QUIT;"
                     "trap 'echo got USR1; exit 3' USR1; trap 'echo got USR2; exit 3' USR2;"
                     "echo ready; while :; do sleep 0.05; done"));
    ck_assert(wait_until(program_printed(program, "ready"), CLI_MOMENT_MS));
    kill(program->pid, forwarded[_i]);
    ck_assert_int_eq(program_wait(program, CLI_MOMENT_MS), 3);
    char expected[32];
    snprintf(expected, sizeof(expected), "got %s\n", sigabbrev_np(forwarded[_i]));
    ck_assert(program_printed(program, expected));
    cli_expect_free("forwarded");
}

TEST(plain, signal_kills_command_and_status_says_so, .rows = FORWARDED_COUNT)
{
    struct program *program =
        program_start(NULL, RUN_SH("forwarded", "echo ready; exec sleep 60"));
    ck_assert(wait_until(program_printed(program, "ready"), CLI_MOMENT_MS));
    kill(program->pid, forwarded[_i]);
    ck_assert_int_eq(program_wait(program, CLI_MOMENT_MS), 128 + forwarded[_i]);
    cli_expect_free("forwarded");
}

TEST(plain, signal_while_waiting_means_command_never_starts, .rows = FORWARDED_COUNT)
{
    (void)cli_acquire("waiting", "20s");
    struct program *program =
        program_start(NULL, REDLOCK("run", "-v", "waiting", "--", "echo", "started"));
    ck_assert(wait_until(strstr(program_err(program), "; waiting in the queue\n") != NULL,
                         CLI_MOMENT_MS));
    kill(program->pid, forwarded[_i]);
    ck_assert_int_eq(program_wait(program, CLI_MOMENT_MS), 128 + forwarded[_i]);
    ck_assert(cli_majority_has("waiting")); /* it did not wait for the end */
    ck_assert_str_eq(program_out(program), "");
    for (unsigned i = 0; i < 5; i++)
        (void)master_do(cli_masters, i, "DEL", "waiting", NULL);
}

static void ignore_hangups(void)
{
    signal(SIGHUP, SIG_IGN);
}

TEST(plain, signal_that_caller_ignores_ends_no_wait)
{
    static const struct program_how how = {.before_exec = ignore_hangups};
    const char *handle = cli_acquire("waiting", "20s");
    struct program *program =
        program_start(&how, REDLOCK("run", "-v", "waiting", "--", "echo", "started"));
    ck_assert(wait_until(strstr(program_err(program), "; waiting in the queue\n") != NULL,
                         CLI_MOMENT_MS));
    kill(program->pid, SIGHUP);
    ck_assert_int_eq(program_run(NULL, REDLOCK("release", handle), NULL), 0);
    ck_assert_int_eq(program_wait(program, CLI_MOMENT_MS), 0);
    ck_assert_str_eq(program_out(program), "started\n");
}

static int unread[2]; /* a pipe: the program's stderr */

static void say_to_nobody(void)
{
    dup2(unread[1], STDERR_FILENO);
}

static void fill_the_pipe(void)
{
    static const char words[PIPE_BUF];
    fcntl(unread[1], F_SETFL, O_NONBLOCK);
    while (write(unread[1], words, sizeof(words)) > 0)
        continue;
    fcntl(unread[1], F_SETFL, 0);
}

static void read_the_pipe(void)
{
    char words[PIPE_BUF];
    fcntl(unread[0], F_SETFL, O_NONBLOCK);
    while (read(unread[0], words, sizeof(words)) > 0)
        continue;
}

/* With -v it says who has granted, and waits there for a reader: the signal comes then. */
TEST(plain, signal_after_grant_means_command_never_starts)
{
    static const struct program_how how = {.before_exec = say_to_nobody};
    const char *handle = cli_acquire("granted", "20s");
    ck_assert_int_eq(pipe2(unread, O_CLOEXEC), 0);
    struct program *program =
        program_start(&how, REDLOCK("run", "-v", "granted", "--", "echo", "started"));
    ck_assert(wait_until(cli_majority_has("{granted}:redlock:queue"), CLI_MOMENT_MS));
    fill_the_pipe();
    ck_assert_int_eq(program_run(NULL, REDLOCK("release", handle), NULL), 0);
    ck_assert(wait_until(cli_majority_has("granted"), CLI_MOMENT_MS));
    pause_ms(300);
    kill(program->pid, SIGTERM);
    read_the_pipe();
    ck_assert_int_eq(program_wait(program, CLI_MOMENT_MS), 128 + SIGTERM);
    ck_assert_str_eq(program_out(program), "");
    close(unread[0]);
    close(unread[1]);
    cli_expect_free("granted");
}

/* Whenever it comes: either COMMAND never started, or it was ended by the signal. */
TEST(plain, signal_at_any_moment_leaves_nothing_behind)
{
    for (int delay_us = 0; delay_us < 30000; delay_us += 1000) {
        struct program *program = program_start(NULL, RUN_SH("moment", "sleep 60"));
        usleep((useconds_t)delay_us);
        kill(program->pid, SIGTERM);
        ck_assert_int_eq(program_wait(program, CLI_MOMENT_MS), 128 + SIGTERM);
        cli_expect_free("moment");
    }
}

CASE(plain, .timeout_s = 60, .set_up_once = cli_rig_start, .tear_down_once = cli_rig_stop)
