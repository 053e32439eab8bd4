/* test_run_terminal.c - redlock run at a terminal: a little shell on a pseudo-terminal starts
 * it as a job, types, and looks at who has the terminal. */
#include "config_auto.h"

#include "child.h"
#include "cli_rig.h"
#include "terminal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define RUN(ttl, script) REDLOCK("run", "--ttl", ttl, "tty", "--", "sh", "-c", script)

static struct terminal tty;

/* Says who it is, reads a line, says what it read. The word after "=" is not in the script, so
 * that the screen does not show it before it is there. */
static const char reader[] = "echo pid=$$.; read line; echo got=$line.";

static bool free_soon(void)
{
    return wait_until(masters_with(cli_masters, "tty") == 0, 5000);
}

static int foreground(void *unused)
{
    (void)unused;
    child_expect(terminal_open(&tty));
    pid_t job = terminal_job(&tty, RUN("10s", reader), JOB_FOREGROUND);
    pid_t command = (pid_t)terminal_number(&tty, "pid=");
    child_expect(command > 0 && command != job);
    child_expect(terminal_is_of(&tty, command));
    child_expect(getpgid(job) == job);
    terminal_type(&tty, "hello\n");
    child_expect(terminal_shows(&tty, "got=hello."));
    child_expect(terminal_wait(&tty, job) == 0);
    child_expect(terminal_is_of(&tty, job)); /* it gave it back before it ended */
    child_expect(free_soon());
    return 0;
}

static int interrupt(void *unused)
{
    (void)unused;
    child_expect(terminal_open(&tty));
    pid_t job = terminal_job(&tty, RUN("10s", "echo pid=$$.; exec sleep 60"), JOB_FOREGROUND);
    child_expect(terminal_is_of(&tty, (pid_t)terminal_number(&tty, "pid=")));
    terminal_type(&tty, "\x03");
    int status = terminal_wait(&tty, job);
    child_expect(status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    child_expect(free_soon());
    return 0;
}

static int interrupt_that_command_handles(void *unused)
{
    (void)unused;
    child_expect(terminal_open(&tty));
    pid_t job = terminal_job(&tty,
                             RUN("10s", "trap 'exit 5' INT; echo pid=$$.; "
                                        "while :; do sleep 0.01; done"),
                             JOB_FOREGROUND);
    child_expect(terminal_is_of(&tty, (pid_t)terminal_number(&tty, "pid=")));
    terminal_type(&tty, "\x03");
    int status = terminal_wait(&tty, job);
    child_expect(status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 5);
    return 0;
}

/* A script that calls us in a loop ends on ^C as it does with any other command. */
static int interrupt_ends_the_calling_script(void *unused)
{
    (void)unused;
    setenv("REDLOCK", program_redlock(), 1);
    child_expect(terminal_open(&tty));
    const char *const argv[] = {"bash", "-c",
                                "\"$REDLOCK\" run tty -- sh -c 'echo pid=$$.; "
                                "exec sleep 60'; echo script goes on=$?.",
                                NULL};
    pid_t job = terminal_job(&tty, argv, JOB_FOREGROUND);
    child_expect(terminal_is_of(&tty, (pid_t)terminal_number(&tty, "pid=")));
    terminal_type(&tty, "\x03");
    int status = terminal_wait(&tty, job);
    child_expect(status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    child_expect(!strstr(tty.screen, "goes on=1"));
    return 0;
}

static int suspend_and_foreground(void *unused)
{
    (void)unused;
    child_expect(terminal_open(&tty));
    pid_t job = terminal_job(&tty, RUN("20s", reader), JOB_FOREGROUND);
    pid_t command = (pid_t)terminal_number(&tty, "pid=");
    for (int i = 0; i < 3; i++) {
        /* It has the terminal before it is continued, which takes back a ^Z in between. */
        child_expect(terminal_is_of(&tty, command));
        child_expect(wait_until(!process_stands(command), CLI_MOMENT_MS));
        terminal_type(&tty, "\x1a");
        int status = terminal_wait(&tty, job);
        child_expect(status != -1 && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTSTP);
        child_expect(tcgetpgrp(tty.slave) == job);
        terminal_fg(&tty, job);
    }
    child_expect(terminal_is_of(&tty, command));
    terminal_type(&tty, "again\n");
    child_expect(terminal_shows(&tty, "got=again."));
    child_expect(terminal_wait(&tty, job) == 0);
    return 0;
}

/* It need not ask for the terminal to get it back. */
static int suspend_and_foreground_what_does_not_read(void *unused)
{
    (void)unused;
    child_expect(terminal_open(&tty));
    pid_t job = terminal_job(&tty, RUN("20s", "echo pid=$$.; exec sleep 60"), JOB_FOREGROUND);
    pid_t command = (pid_t)terminal_number(&tty, "pid=");
    child_expect(terminal_is_of(&tty, command));
    terminal_type(&tty, "\x1a");
    int status = terminal_wait(&tty, job);
    child_expect(status != -1 && WIFSTOPPED(status));
    terminal_fg(&tty, job);
    child_expect(terminal_is_of(&tty, command));
    terminal_type(&tty, "\x03");
    status = terminal_wait(&tty, job);
    child_expect(status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    return 0;
}

static int suspend_background_and_foreground(void *unused)
{
    (void)unused;
    child_expect(terminal_open(&tty));
    pid_t job = terminal_job(&tty, RUN("20s", reader), JOB_FOREGROUND);
    pid_t command = (pid_t)terminal_number(&tty, "pid=");
    child_expect(terminal_is_of(&tty, command));
    terminal_type(&tty, "\x1a");
    int status = terminal_wait(&tty, job);
    child_expect(status != -1 && WIFSTOPPED(status));
    terminal_bg(&tty, job); /* it wants to read, and has to stop for it */
    status = terminal_wait(&tty, job);
    child_expect(status != -1 && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTTIN);
    child_expect(tcgetpgrp(tty.slave) == getpgrp()); /* it left the terminal to us */
    terminal_fg(&tty, job);
    child_expect(terminal_is_of(&tty, command));
    terminal_type(&tty, "there\n");
    child_expect(terminal_shows(&tty, "got=there."));
    child_expect(terminal_wait(&tty, job) == 0);
    return 0;
}

static int background_from_the_start(void *unused)
{
    (void)unused;
    child_expect(terminal_open(&tty));
    pid_t job = terminal_job(&tty, RUN("20s", reader), JOB_BACKGROUND);
    pid_t command = (pid_t)terminal_number(&tty, "pid=");
    int status = terminal_wait(&tty, job);
    child_expect(status != -1 && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTTIN);
    child_expect(tcgetpgrp(tty.slave) == getpgrp());
    terminal_fg(&tty, job);
    child_expect(terminal_is_of(&tty, command));
    terminal_type(&tty, "late\n");
    child_expect(terminal_shows(&tty, "got=late."));
    child_expect(terminal_wait(&tty, job) == 0);
    return 0;
}

/* `redlock run ... | cat`: the terminal stays with the pipeline until COMMAND asks for it. */
static int pipeline(void *unused)
{
    (void)unused;
    setenv("REDLOCK", program_redlock(), 1);
    child_expect(terminal_open(&tty));
    const char *const argv[] = {"sh", "-c",
                                "\"$REDLOCK\" run tty -- sh -c 'echo pid=$$.; while [ "
                                "! -e \"$0\" ]; do sleep 0.01; done; read line; echo "
                                "got=$line.' \"$GO\" | cat",
                                NULL};
    char go[SUITE_PATH_MAX + 8];
    char directory[SUITE_PATH_MAX];
    suite_new_dir(directory);
    strcpy(go, directory);
    strcat(go, "/go");
    setenv("GO", go, 1);
    pid_t job = terminal_job(&tty, argv, JOB_FOREGROUND);
    pid_t command = (pid_t)terminal_number(&tty, "pid=");
    child_expect(command > 0);
    child_expect(tcgetpgrp(tty.slave) == job);
    file_write(go, "");
    child_expect(terminal_is_of(&tty, command));
    terminal_type(&tty, "asked\n");
    child_expect(terminal_shows(&tty, "got=asked."));
    child_expect(terminal_wait(&tty, job) == 0);
    return 0;
}

static int stop_signal_to_run(void *unused)
{
    (void)unused;
    child_expect(terminal_open(&tty));
    pid_t job = terminal_job(&tty, RUN("20s", reader), JOB_FOREGROUND);
    pid_t command = (pid_t)terminal_number(&tty, "pid=");
    child_expect(terminal_is_of(&tty, command));
    kill(job, SIGTSTP);
    int status = terminal_wait(&tty, job);
    child_expect(status != -1 && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTSTP);
    terminal_fg(&tty, job);
    terminal_type(&tty, "on\n");
    child_expect(terminal_shows(&tty, "got=on."));
    child_expect(terminal_wait(&tty, job) == 0);
    return 0;
}

/* While it stands nobody extends the lock: the guard ends COMMAND in time. */
static int suspended_beyond_the_lease(void *unused)
{
    (void)unused;
    child_expect(terminal_open(&tty));
    pid_t job = terminal_job(&tty, RUN("1s", reader), JOB_FOREGROUND);
    pid_t command = (pid_t)terminal_number(&tty, "pid=");
    child_expect(terminal_is_of(&tty, command));
    terminal_type(&tty, "\x1a");
    int status = terminal_wait(&tty, job);
    child_expect(status != -1 && WIFSTOPPED(status));
    child_expect(wait_until(!process_lives(command), 5000));
    terminal_fg(&tty, job);
    status = terminal_wait(&tty, job);
    child_expect(status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 74);
    return 0;
}

/* The script that called it goes on, and has the terminal. */
static int run_killed_terminal_returned(void *unused)
{
    (void)unused;
    setenv("REDLOCK", program_redlock(), 1);
    child_expect(terminal_open(&tty));
    const char *const argv[] = {"sh", "-c",
                                "\"$REDLOCK\" run --ttl 1s tty -- sh -c 'trap \"\" TERM;"
                                "echo pid=$$.; sleep 60; sleep 60' & echo run=$!.; "
                                "wait $!; sleep 0.3; read line; echo got=$line.",
                                NULL};
    pid_t job = terminal_job(&tty, argv, JOB_FOREGROUND);
    pid_t run = (pid_t)terminal_number(&tty, "run=");
    pid_t command = (pid_t)terminal_number(&tty, "pid=");
    child_expect(run > 0 && command > 0);
    tcsetpgrp(tty.slave, command); /* a background job of sh has no terminal as stdin */
    kill(run, SIGKILL);
    child_expect(terminal_is_of(&tty, job));
    child_expect(wait_until(!process_lives(command), 5000));
    terminal_type(&tty, "back\n");
    child_expect(terminal_shows(&tty, "got=back."));
    child_expect(terminal_wait(&tty, job) == 0);
    return 0;
}

static int modes_of_a_killed_command_are_restored(void *unused)
{
    (void)unused;
    struct termios modes;
    child_expect(terminal_open(&tty));
    pid_t job = terminal_job(&tty, RUN("10s", "stty raw -echo; echo pid=$$.; exec sleep 60"),
                             JOB_FOREGROUND);
    pid_t command = (pid_t)terminal_number(&tty, "pid=");
    child_expect(tcgetattr(tty.slave, &modes) == 0 && !(modes.c_lflag & (ICANON | ECHO)));
    kill(command, SIGKILL);
    int status = terminal_wait(&tty, job);
    child_expect(status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGKILL);
    child_expect(tcgetattr(tty.slave, &modes) == 0);
    child_expect((modes.c_lflag & ICANON) && (modes.c_lflag & ECHO));
    return 0;
}

/* As under script(1) or in a container: no shell could continue it, so ^Z does nothing. */
static int without_a_shell_suspend_does_nothing(void *unused)
{
    (void)unused;
    child_expect(terminal_open(&tty));
    pid_t job = terminal_job(&tty, RUN("10s", reader), JOB_ALONE);
    child_expect(terminal_number(&tty, "pid=") > 0);
    terminal_type(&tty, "\x1a\x1a");
    pause_ms(200);
    terminal_type(&tty, "on\n");
    child_expect(terminal_shows(&tty, "got=on."));
    child_expect(terminal_wait(&tty, job) == 0);
    return 0;
}

/* Whoever waits there learns after a moment what for. */
static int who_waits_is_told(void *unused)
{
    (void)unused;
    char handle[REDLOCK_HANDLE_MAX];
    snprintf(handle, sizeof(handle), "%s", cli_acquire("tty", "20s"));
    child_expect(terminal_open(&tty));
    pid_t job = terminal_job(&tty, RUN("10s", "echo got=it."), JOB_FOREGROUND);
    child_expect(terminal_shows(&tty, "'tty' is held by another"));
    child_expect(terminal_shows(&tty, "waiting in the queue"));
    child_expect(program_run(NULL, REDLOCK("release", handle), NULL) == 0);
    child_expect(terminal_shows(&tty, "got=it."));
    child_expect(terminal_wait(&tty, job) == 0);
    return 0;
}

static int (*const scenes[])(void *) = {foreground,
                                        interrupt,
                                        interrupt_that_command_handles,
                                        interrupt_ends_the_calling_script,
                                        suspend_and_foreground,
                                        suspend_and_foreground_what_does_not_read,
                                        suspend_background_and_foreground,
                                        background_from_the_start,
                                        pipeline,
                                        stop_signal_to_run,
                                        suspended_beyond_the_lease,
                                        run_killed_terminal_returned,
                                        modes_of_a_killed_command_are_restored,
                                        without_a_shell_suspend_does_nothing,
                                        who_waits_is_told};

TEST(jobs, at_terminal, .rows = ROWS(scenes))
{
    /* A line of this file, where it went wrong. */
    ck_assert_int_eq(child_run(scenes[_i], NULL, 40000), 0);
    ck_assert(free_soon());
}

CASE(jobs, .timeout_s = 60, .set_up_once = cli_rig_start, .tear_down_once = cli_rig_stop)
