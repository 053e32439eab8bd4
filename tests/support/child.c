/* child.c - see child.h. */
#include "config_auto.h"

#include "child.h"

#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct child child_start(int (*body)(void *argument), void *argument)
{
    int ends[2];
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC) < 0)
        suite_die("pipe: %s", strerror(errno));
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        suite_die("fork: %s", strerror(errno));
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        int result = getppid() == parent ? body(argument) : 0;
        _exit(write(ends[1], &result, sizeof(result)) == sizeof(result) ? 0 : 1);
    }
    close(ends[1]);
    return (struct child){.pid = pid, .result_fd = ends[0]};
}

int child_wait(struct child *child, int limit_ms)
{
    int64_t end = now_ms() + limit_ms;
    struct pollfd ready = {.fd = child->result_fd, .events = POLLIN};
    int result = -1;
    for (;;) {
        int64_t left = end - now_ms();
        int got = left > 0 ? poll(&ready, 1, (int)left) : 0;
        if (got < 0 && errno == EINTR)
            continue;
        if (got > 0 && read(child->result_fd, &result, sizeof(result)) != sizeof(result))
            result = -2;
        break;
    }
    close(child->result_fd);
    if (result == -1)
        kill(child->pid, SIGKILL);
    while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    return result;
}

int child_run(int (*body)(void *argument), void *argument, int limit_ms)
{
    struct child child = child_start(body, argument);
    return child_wait(&child, limit_ms);
}

void child_signal(pid_t pid, int number, int effect)
{
    int status;
    kill(pid, number);
    while (waitpid(pid, &status, effect) < 0 && errno == EINTR)
        continue;
}
