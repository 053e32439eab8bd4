/* run_child.c - from the guard to COMMAND: its environment, fork and exec. The guard has one
 * thread, so that the child of fork() may do what it likes. */
#include "config_auto.h"

#include "base/wipe.h"
#include "redlock/cli.h"
#include "redlock/run_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

extern char **environ;

/* Its value is not to be found in /proc/PID/environ of COMMAND's parent either. */
static void wipe_value(const char *name)
{
    size_t len = strlen(name);
    for (char **at = environ; *at; at++) {
        if (strncmp(*at, name, len) == 0 && (*at)[len] == '=')
            rl_wipe(*at + len + 1, strlen(*at + len + 1));
    }
}

int run_child_environment(char *changes, size_t len)
{
    for (char *at = changes; at < changes + len; at += strlen(at) + 1) {
        char *equals = strchr(at, '=');
        if (equals)
            *equals = '\0';
        else
            wipe_value(at);
        if (unsetenv(at) != 0) /* each of that name */
            return errno;
        if (!equals)
            continue;
        *equals = '=';
        if (putenv(at) != 0)
            return ENOMEM;
    }
    return 0;
}

/* systemd tells a service by its process number that descriptors, or a watchdog, are meant for it.
 * It has told redlock so; COMMAND is that service. `twin` says the same by a number that only the
 * kernel can give; without it a service goes by the process number. */
static void hand_on(const char *variable, const char *twin, pid_t run)
{
    char own[24];
    const char *value = getenv(variable);
    if (!value || strtol(value, NULL, 10) != (long)run)
        return;
    snprintf(own, sizeof(own), "%ld", (long)getpid());
    (void)setenv(variable, own, 1);
    (void)unsetenv(twin);
}

static _Noreturn void become_command(const struct cli *cli, int foreground_fd, pid_t guard,
                                     pid_t run, int exec_fd)
{
    /* Should the guard be killed, so are we; it may have been before we asked for that. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != guard)
        _exit(127);
    hand_on("LISTEN_PID", "LISTEN_PIDFDID", run);
    hand_on("WATCHDOG_PID", "WATCHDOG_PIDFDID", run);
    setpgid(0, 0);
    if (foreground_fd >= 0)
        (void)tcsetpgrp(foreground_fd, getpid()); /* TTOU is blocked still */
    cli_signals_restore(&cli->signals);           /* as late as can be */
    execvp(cli->command[0], cli->command);
    int why = errno;
    ssize_t told = write(exec_fd, &why, sizeof(why));
    _exit(told == (ssize_t)sizeof(why) ? 127 : 126);
}

pid_t run_child_start(const struct cli *cli, int foreground_fd, int *ret_exec_fd)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return -1;
    pid_t guard = getpid();
    pid_t run = getppid();
    pid_t pid = fork();
    if (pid == 0)
        become_command(cli, foreground_fd, guard, run, ends[1]);
    int fork_errno = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        errno = fork_errno;
        return -1;
    }
    setpgid(pid, pid); /* parent and child both do it, because either may come first */
    *ret_exec_fd = ends[0];
    return pid;
}

/* PF_FORKNOEXEC of the kernel: "forked but didn't exec". It is the same on all architectures. */
#define NEVER_EXECED 0x40ul
#define FLAGS_FIELD 7 /* behind the name, which is in parentheses and may have blanks */

bool run_child_ran(pid_t pid)
{
    char path[48], stat[512];
    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd >= 0 ? read(fd, stat, sizeof(stat) - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (len <= 0)
        return true;
    stat[len] = '\0';
    char *field = strrchr(stat, ')');
    for (unsigned i = 0; i < FLAGS_FIELD && field; i++)
        field = strchr(field + 1, ' ');
    return !field || (strtoul(field, NULL, 10) & NEVER_EXECED) == 0;
}
