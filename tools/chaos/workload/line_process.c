/* line_process.c - starts a program, and exchanges lines with it. */
#include "config_auto.h"

#include "chaos/workload/line_process.h"

#include "base/clock.h"
#include "base/limits.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLICE_MS 20    /* how often `stop` is asked; also the most that our own stop counts */
#define ENDING_MS 2000 /* how long a program may take to end by itself */

/* In the child: only system calls, because the parent may have had threads. */
static void become(const char *command, int in, int out, int log_fd, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_IGN); /* its parent ends the contender, which ends us */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent && dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        (log_fd < 0 || log_fd == STDERR_FILENO || dup2(log_fd, STDERR_FILENO) >= 0))
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

/* A pipe with both ends above the standard descriptors, even if some of these are closed
 * here. */
static bool make_pipe(int ret_ends[2])
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    for (int i = 0; i < 2; i++) {
        ret_ends[i] = fcntl(ends[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        int code = errno;
        close(ends[i]);
        errno = code;
    }
    if (ret_ends[0] >= 0 && ret_ends[1] >= 0)
        return true;
    int code = errno;
    for (int i = 0; i < 2; i++)
        if (ret_ends[i] >= 0)
            close(ret_ends[i]);
    errno = code;
    return false;
}

bool chaos_line_process_start(struct chaos_line_process *process, const char *command,
                              int log_fd)
{
    int in[2], out[2];
    *process = (struct chaos_line_process){.to = -1, .from = -1};
    if (!make_pipe(in))
        return false;
    if (!make_pipe(out)) {
        int code = errno;
        close(in[0]);
        close(in[1]);
        errno = code;
        return false;
    }
    signal(SIGPIPE, SIG_IGN); /* pipes have no MSG_NOSIGNAL */
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        become(command, in[0], out[1], log_fd, parent);
    int code = errno;
    close(in[0]);
    close(out[1]);
    process->to = in[1];
    process->from = out[0];
    process->pid = pid > 0 ? pid : 0;
    if (pid < 0)
        chaos_line_process_end(process);
    errno = code;
    return pid > 0;
}

void chaos_line_process_write(struct chaos_line_process *process, const char *line)
{
    size_t len = strlen(line), done = 0;
    /* A line fits into an empty pipe, and it is empty: nothing is sent before the last answer.
     */
    while (process->to >= 0 && done < len) {
        ssize_t wrote = write(process->to, line + done, len - done);
        if (wrote > 0)
            done += (size_t)wrote;
        else if (errno != EINTR)
            break;
    }
}

/* Take the first line out of the buffer, where one is complete. */
static bool take(struct chaos_line_process *process, char *ret_line, enum chaos_line *ret_what)
{
    char *end = memchr(process->buffer, '\n', process->held);
    if (end == NULL)
        return false;
    size_t len = (size_t)(end - process->buffer);
    size_t kept = len > 0 && end[-1] == '\r' ? len - 1 : len;
    bool bad = kept > CHAOS_LINE_MAX || memchr(process->buffer, '\0', kept) != NULL;
    kept = kept < CHAOS_LINE_MAX ? kept : CHAOS_LINE_MAX;
    memcpy(ret_line, process->buffer, kept);
    ret_line[kept] = '\0';
    process->held -= len + 1;
    memmove(process->buffer, end + 1, process->held);
    *ret_what = bad ? CHAOS_LINE_BAD : CHAOS_LINE;
    return true;
}

/* The state of a line that will not be completed. */
static enum chaos_line give_up(struct chaos_line_process *process, enum chaos_line why,
                               char *ret_line)
{
    size_t len = process->held < CHAOS_LINE_MAX ? process->held : CHAOS_LINE_MAX;
    memcpy(ret_line, process->buffer, len);
    ret_line[len] = '\0';
    return why;
}

/* Read the bytes that are there, or wait for some a moment. False: the end. */
static bool read_some(struct chaos_line_process *process, int wait_ms)
{
    struct pollfd from = {.fd = process->from, .events = POLLIN};
    int ready = poll(&from, 1, wait_ms);
    if (ready <= 0)
        return ready == 0 || errno == EINTR;
    ssize_t got = read(process->from, process->buffer + process->held,
                       sizeof(process->buffer) - process->held);
    if (got > 0)
        process->held += (size_t)got;
    return got > 0 || (got < 0 && errno == EINTR);
}

/* Its children may keep the pipe open for longer. */
static bool has_ended(const struct chaos_line_process *process)
{
    siginfo_t info = {.si_pid = 0};
    return process->pid == 0 ||
           (waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid == process->pid);
}

enum chaos_line chaos_line_process_read(struct chaos_line_process *process,
                                        const struct chaos_patience *patience,
                                        char ret_line[CHAOS_LINE_MAX + 1])
{
    int64_t waited_ns = 0, graced_ns = 0;
    for (;;) {
        enum chaos_line what;
        if (take(process, ret_line, &what))
            return what;
        if (process->held == sizeof(process->buffer))
            return give_up(process, CHAOS_LINE_BAD, ret_line);
        bool over = patience->stop != NULL && patience->stop(patience->context);
        if (over && graced_ns >= patience->grace_ms * RL_NS_PER_MS)
            return give_up(process, CHAOS_LINE_STOPPED, ret_line);
        if (patience->limit_ms >= 0 && waited_ns > patience->limit_ms * RL_NS_PER_MS)
            return give_up(process, CHAOS_LINE_LATE, ret_line);
        int64_t before_ns = rl_clock_now_ns();
        size_t held = process->held;
        bool ended = has_ended(process); /* first: its last words are in the pipe by then */
        if (process->from < 0 || !read_some(process, SLICE_MS) ||
            (ended && process->held == held))
            return give_up(process, CHAOS_LINE_END, ret_line);
        /* While we are stopped, so is the program, so this is no time in which it could have
         * answered. */
        int64_t spent_ns = rl_clock_now_ns() - before_ns;
        int64_t most_ns = 2 * SLICE_MS * RL_NS_PER_MS;
        spent_ns = spent_ns < most_ns ? spent_ns : most_ns;
        waited_ns += spent_ns;
        graced_ns += over ? spent_ns : 0;
    }
}

bool chaos_line_process_more(struct chaos_line_process *process)
{
    if (process->held == 0 && process->from >= 0)
        (void)read_some(process, 0);
    return process->held > 0;
}

/* Wait at most so long for its end. */
static bool await_end(struct chaos_line_process *process, int64_t limit_ms, int *ret_status)
{
    int64_t until_ns = rl_clock_now_ns() + limit_ms * RL_NS_PER_MS;
    for (;;) {
        pid_t ended = waitpid(process->pid, ret_status, WNOHANG);
        if (ended == process->pid || (ended < 0 && errno != EINTR)) {
            process->pid = 0;
            return ended > 0;
        }
        if (rl_clock_now_ns() >= until_ns)
            return false;
        (void)poll(NULL, 0, 1);
    }
}

void chaos_line_process_exit_text(struct chaos_line_process *process, char *ret_text,
                                  size_t size)
{
    int status = 0;
    if (process->pid == 0 || !await_end(process, ENDING_MS, &status))
        snprintf(ret_text, size, "closed its stdout");
    else if (WIFSIGNALED(status))
        snprintf(ret_text, size, "was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(ret_text, size, "exited with %d", WEXITSTATUS(status));
}

void chaos_line_process_end(struct chaos_line_process *process)
{
    int status;
    if (process->to >= 0)
        close(process->to);
    process->to = -1;
    if (process->pid > 0 && !await_end(process, ENDING_MS, &status) && process->pid > 0) {
        kill(process->pid, SIGKILL);
        while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR) {
        }
        process->pid = 0;
    }
    if (process->from >= 0)
        close(process->from);
    process->from = -1;
}
