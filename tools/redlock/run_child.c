/* run_child.c - from the guard to COMMAND: fork and exec. The guard has one thread, so that
 * the child of fork() may do what it likes. */
#include "config_auto.h"

#include "redlock/run_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

/* What a signal does, as it was for `redlock run`; then the mask, as late as can be: from
 * there on a signal for the group ends us as it would end COMMAND. */
static void restore_signals(const struct guard_start *start)
{
    for (int number = 1; number < NSIG; number++) {
        if (number == SIGKILL || number == SIGSTOP)
            continue;
        bool ignored = sigismember(&start->ignored, number) == 1;
        struct sigaction action = {.sa_handler = ignored ? SIG_IGN : SIG_DFL};
        sigaction(number, &action, NULL); /* fails for the C library's own: as it should */
    }
    sigprocmask(SIG_SETMASK, &start->mask, NULL);
}

static _Noreturn void become_command(char **command, const struct guard_start *start,
                                     int terminal_fd, pid_t guard, int exec_fd)
{
    /* Should the guard be killed, so are we; it may have been before we asked for that. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != guard)
        _exit(127);
    setpgid(0, 0);
    if (start->foreground && terminal_fd >= 0)
        (void)tcsetpgrp(terminal_fd, getpid()); /* TTOU is blocked still */
    restore_signals(start);
    execvp(command[0], command);
    int why = errno;
    ssize_t told = write(exec_fd, &why, sizeof(why));
    _exit(told == (ssize_t)sizeof(why) ? 127 : 126);
}

pid_t run_child_start(char **command, const struct guard_start *start, int terminal_fd,
                      int *ret_exec_fd)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return -1;
    pid_t guard = getpid();
    pid_t pid = fork();
    if (pid == 0)
        become_command(command, start, terminal_fd, guard, ends[1]);
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
