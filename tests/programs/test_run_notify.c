/* test_run_notify.c - what redlock run tells a service manager: that the service is ready once the
 * command has been started under the lock, whom it waits for, and why the lock was lost. */
#include "config_auto.h"

#include "cli_rig.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int manager = -1;
static char dir[SUITE_PATH_MAX], variable[SUITE_PATH_MAX + 32], heard[4096];

/* The manager's socket, by a path or by an abstract name. */
static void listen_at(bool abstract)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int on = 1;
    snprintf(at.sun_path, sizeof(at.sun_path), "%.90s/notify", dir);
    snprintf(variable, sizeof(variable), "NOTIFY_SOCKET=%s", at.sun_path);
    size_t len = offsetof(struct sockaddr_un, sun_path) + strlen(at.sun_path);
    if (abstract) {
        *strchr(variable, '/') = '@';
        at.sun_path[0] = '\0';
    }
    manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    ck_assert_int_ge(manager, 0);
    ck_assert_int_eq(setsockopt(manager, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)), 0);
    ck_assert_int_eq(bind(manager, (struct sockaddr *)&at, (socklen_t)(len + !abstract)), 0);
}

static void start(void)
{
    cli_rig_start();
    suite_new_dir(dir);
    listen_at(false);
}

static void stop(void)
{
    close(manager);
    suite_remove_dir(dir);
    cli_rig_stop();
}

/* The next datagram goes to heard[], and its sender is returned; 0: there is none yet. */
static pid_t hear(void)
{
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr aligned;
    } control;
    struct iovec part = {.iov_base = heard, .iov_len = sizeof(heard) - 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    struct ucred sender = {.pid = 0};
    ssize_t len = recvmsg(manager, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    heard[len > 0 ? len : 0] = '\0';
    if (len > 0)
        memcpy(&sender, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(sender));
    return sender.pid;
}

static void expect_heard(const struct program *from, const char *begin)
{
    pid_t sender = 0;
    ck_assert_msg(wait_until((sender = hear()) != 0, CLI_MOMENT_MS), "not heard: %s", begin);
    ck_assert_int_eq(sender, from->pid);
    ck_assert_msg(strncmp(heard, begin, strlen(begin)) == 0, "%s", heard);
}

static struct program *run_with(const char *const *environment, const char *name,
                                const char *script)
{
    struct program_how how = {.environment = environment};
    return program_start(&how, REDLOCK("run", name, "--", "sh", "-c", script));
}

static struct program *run_sh(const char *name, const char *script)
{
    return run_with((const char *const[]){variable, NULL}, name, script);
}

static void expect_end(struct program *program, int status)
{
    ck_assert_msg(program_wait(program, CLI_MOMENT_MS) == status, "%s", program_err(program));
}

/* ---- ready ---- */

TEST(told, ready_once_command_runs, .rows = 2)
{
    if (_i == 1) {
        close(manager);
        listen_at(true);
    }
    struct program *program = run_sh("notify", "sleep 0.1; exit 3");
    expect_heard(program, "READY=1\nSTATUS=has 'notify' since 20");
    expect_end(program, 3);
    ck_assert_int_eq(hear(), 0); /* once, and nothing of the end */
}

TEST(told, holder_is_named_while_another_has_lock)
{
    struct program *holder = cli_hold("", "notify");
    char held_by[32];
    struct program *program = run_sh("notify", "true");
    expect_heard(program, "STATUS=waiting for 'notify'; at 20");
    snprintf(held_by, sizeof(held_by), ":%d", (int)holder->pid);
    ck_assert_msg(strstr(heard, ": held by ") && strstr(heard, held_by), "%s", heard);
    ck_assert_int_eq(usleep(300000), 0); /* nothing is to come: time for what might */
    ck_assert_int_eq(hear(), 0);
    program_kill(holder);
    for (unsigned i = 0; i < cli_masters->n; i++)
        (void)master_do(cli_masters, i, "DEL", "notify", NULL);
    expect_heard(program, "READY=1\n");
    expect_end(program, 0);
}

TEST(told, missing_quorum_is_what_it_waits_for)
{
    for (unsigned i = 0; i < 3; i++)
        master_kill(cli_masters, i);
    struct program *program = run_sh("notify", "true");
    expect_heard(program, "STATUS=waiting for 'notify'; at 20");
    ck_assert_msg(strstr(heard, ": no quorum, ") != NULL, "%s", heard);
    kill(program->pid, SIGTERM);
    expect_end(program, 128 + SIGTERM);
    ck_assert_int_eq(hear(), 0);
}

TEST(told, command_that_can_not_be_run_is_never_ready)
{
    struct program_how how = {.environment = (const char *const[]){variable, NULL}};
    struct program *program =
        program_start(&how, REDLOCK("run", "notify", "--", "/nonexistent/x"));
    expect_end(program, 127);
    ck_assert_int_eq(hear(), 0);
}

/* A manager that reads nothing for a while has no say in how long the lock lives. */
TEST(told, full_queue_delays_ready_and_not_command)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int filler = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    snprintf(at.sun_path, sizeof(at.sun_path), "%.90s/notify", dir);
    while (sendto(filler, "F", 1, 0, (struct sockaddr *)&at, sizeof(at)) == 1)
        continue;
    close(filler);
    struct program *program = run_sh("notify", "echo begun; exec sleep 60");
    ck_assert(wait_until(program_printed(program, "begun"), CLI_MOMENT_MS));
    ck_assert(wait_until(cli_majority_has("notify"), CLI_MOMENT_MS));
    do { /* as soon as there is room it may be told */
        ck_assert(wait_until(hear() != 0, CLI_MOMENT_MS));
    } while (strcmp(heard, "F") == 0);
    ck_assert_msg(strncmp(heard, "READY=1\n", 8) == 0, "%s", heard);
    program_kill(program);
}

/* ---- lost ---- */

TEST(told, loss_is_last_status)
{
    struct program *program = run_sh("notify", "exec sleep 60");
    expect_heard(program, "READY=1\n");
    for (unsigned i = 0; i < cli_masters->n; i++)
        (void)master_do(cli_masters, i, "DEL", "notify", NULL);
    expect_heard(program, "STATUS='notify' was lost at 20");
    ck_assert_msg(strstr(heard, ": its key was deleted on ") != NULL, "%s", heard);
    expect_end(program, 74);
}

/* ---- by whom ---- */

/* A line of a name would be a line of the datagram: MAINPID makes the manager watch another. */
TEST(told, name_is_one_line)
{
    struct program *program = run_sh("notify\nMAINPID=1", "true");
    expect_heard(program, "READY=1\nSTATUS=has 'notify\\x0aMAINPID=1' since ");
    ck_assert_ptr_null(strstr(heard, "\nMAINPID"));
    expect_end(program, 0);
}

TEST(told, holder_is_one_line)
{
    for (unsigned i = 0; i < cli_masters->n; i++)
        (void)master_do(cli_masters, i, "SET", "notify", "x\nREADY=1", "PX", "60000", NULL);
    struct program *program = run_sh("notify", "true");
    expect_heard(program, "STATUS=waiting for 'notify'; at 20");
    ck_assert_ptr_null(strchr(heard, '\n'));
    kill(program->pid, SIGTERM);
    expect_end(program, 128 + SIGTERM);
}

/* A service that runs `redlock run` as one of its jobs is not ready by that. */
TEST(told, job_of_service_tells_nothing)
{
    struct program *program = run_with(
        (const char *const[]){variable, "SYSTEMD_EXEC_PID=1", NULL}, "notify", "true");
    expect_end(program, 0);
    ck_assert_int_eq(hear(), 0);
    struct program_how how = {.environment = (const char *const[]){variable, NULL}};
    program = program_start(
        &how, (const char *const[]){"sh", "-c",
                                    "SYSTEMD_EXEC_PID=$$; export SYSTEMD_EXEC_PID; exec \"$0\" "
                                    "run notify -- true",
                                    program_redlock(), NULL});
    expect_heard(program, "READY=1\n");
    expect_end(program, 0);
}

/* ---- what the command has ---- */

TEST(told, command_has_socket_and_its_own_numbers)
{
    struct program_how how = {.environment = (const char *const[]){variable, NULL}};
    struct program *program = program_start(
        &how,
        (const char *const[]){
            "sh", "-c",
            "export LISTEN_PID=$$ LISTEN_PIDFDID=7 WATCHDOG_PID=$$ WATCHDOG_USEC=9; exec \"$0\" "
            "run notify -- sh -c 'echo $NOTIFY_SOCKET $((LISTEN_PID - $$)) "
            "$((WATCHDOG_PID - $$)) $WATCHDOG_USEC ${LISTEN_PIDFDID-none}'",
            program_redlock(), NULL});
    char expected[sizeof(variable) + 32];
    snprintf(expected, sizeof(expected), "%s 0 0 9 none\n", strchr(variable, '=') + 1);
    expect_end(program, 0);
    ck_assert_str_eq(program_out(program), expected);
}

/* ---- nobody to tell ---- */

static const char *const nobody[] = {"NOTIFY_SOCKET=", "NOTIFY_SOCKET=@",
                                     "NOTIFY_SOCKET=notify", "NOTIFY_SOCKET=/nonexistent/x",
                                     "NOTIFY_SOCKET=vsock:2:1234", NULL};

TEST(told, nobody_to_tell_is_no_fault, .rows = 6)
{
    char too_long[200] = "NOTIFY_SOCKET=/";
    memset(too_long + strlen(too_long), 'x', sizeof(too_long) - strlen(too_long) - 1);
    too_long[sizeof(too_long) - 1] = '\0';
    struct program *program = run_with(
        (const char *const[]){nobody[_i] ? nobody[_i] : too_long, NULL}, "notify", "true");
    expect_end(program, 0);
    ck_assert_str_eq(program_err(program), "");
}

CASE(told, .timeout_s = 90, .set_up = start, .tear_down = stop)
