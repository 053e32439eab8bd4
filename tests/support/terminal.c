/* terminal.c - see terminal.h. */
#include "config_auto.h"

#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_MS = 10000 };

static int open_slave(int master)
{
    char name[128];
    if (grantpt(master) < 0 || unlockpt(master) < 0 ||
        ptsname_r(master, name, sizeof(name)) != 0)
        return -1;
    return open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
}

bool terminal_open(struct terminal *terminal)
{
    memset(terminal, 0, sizeof(*terminal));
    terminal->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal->master < 0)
        return false;
    fcntl(terminal->master, F_SETFL, O_NONBLOCK);
    terminal->slave = open_slave(terminal->master);
    signal(SIGTTOU, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    return terminal->slave >= 0 && setsid() >= 0 && ioctl(terminal->slave, TIOCSCTTY, 0) == 0;
}

static _Noreturn void become(const struct terminal *terminal, const char *const argv[],
                             enum job_kind kind)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (kind == JOB_ALONE) {
        /* Stolen from our shell: root may. Else it gets one that the shell gave up. */
        setsid();
        if (ioctl(terminal->slave, TIOCSCTTY, 1) < 0)
            _exit(125);
    } else {
        setpgid(0, 0);
        if (kind == JOB_FOREGROUND)
            tcsetpgrp(terminal->slave, getpid());
    }
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        dup2(terminal->slave, fd);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL); /* our own caller may ignore what is typed */
    execvp(argv[0], (char *const *)(uintptr_t)argv);
    _exit(125);
}

pid_t terminal_job(struct terminal *terminal, const char *const argv[], enum job_kind kind)
{
    if (kind == JOB_ALONE)
        ioctl(terminal->slave, TIOCNOTTY);
    pid_t job = fork();
    if (job == 0)
        become(terminal, argv, kind);
    if (job > 0 && kind != JOB_ALONE)
        setpgid(job, job);
    return job;
}

void terminal_fg(struct terminal *terminal, pid_t job)
{
    tcsetpgrp(terminal->slave, job);
    kill(-job, SIGCONT);
}

void terminal_bg(struct terminal *terminal, pid_t job)
{
    tcsetpgrp(terminal->slave, getpgrp());
    kill(-job, SIGCONT);
}

void terminal_type(struct terminal *terminal, const char *keys)
{
    if (write(terminal->master, keys, strlen(keys)) != (ssize_t)strlen(keys))
        suite_die("typing: %s", strerror(errno));
}

static void drain(struct terminal *terminal)
{
    for (;;) {
        size_t room = sizeof(terminal->screen) - 1 - terminal->len;
        ssize_t got =
            room > 0 ? read(terminal->master, terminal->screen + terminal->len, room) : 0;
        if (got <= 0)
            return;
        terminal->len += (size_t)got;
        terminal->screen[terminal->len] = '\0';
    }
}

bool terminal_shows(struct terminal *terminal, const char *text)
{
    return wait_until((drain(terminal), strstr(terminal->screen, text) != NULL), LIMIT_MS);
}

void terminal_clear(struct terminal *terminal)
{
    drain(terminal);
    terminal->len = 0;
    terminal->screen[0] = '\0';
}

long terminal_number(struct terminal *terminal, const char *word)
{
    if (!terminal_shows(terminal, word))
        return -1;
    return strtol(strstr(terminal->screen, word) + strlen(word), NULL, 10);
}

bool terminal_is_of(struct terminal *terminal, pid_t group)
{
    return wait_until(tcgetpgrp(terminal->slave) == group, LIMIT_MS);
}

int terminal_wait(struct terminal *terminal, pid_t job)
{
    int status = 0;
    bool changed = wait_until(
        (drain(terminal), waitpid(job, &status, WNOHANG | WUNTRACED) == job), LIMIT_MS);
    return changed ? status : -1;
}
