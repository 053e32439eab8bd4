/* run_spawn.c - the guard's start. It is forked while we have one thread, before there is a
 * client, and waits. Once we have the lock it is told to start COMMAND, and how. */
#include "config_auto.h"

#include "redlock/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the process ---- */

/* It has a process group of its own: what is typed at the terminal for us, and kill(1) for our
 * group, pass it by. Every signal is blocked in it from its first instruction on. exit() is
 * safe in it, since nothing of ours is buffered or registered yet. */
int run_guard_fork(struct run *run)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return errno;
    /* Where CHLD is ignored the number of a child that has ended is given to others. */
    struct sigaction ordinary = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &ordinary, NULL);
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    int fork_errno = errno;
    if (pid == 0) {
        setpgid(0, 0);
        close(ends[0]);
        exit(guard_main(ends[1], run->cli));
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return fork_errno;
    }
    run->guard = pid;
    run->guard_fd = ends[0];
    return 0;
}

/* KILL, because it may be stopped. */
void run_guard_dismiss(struct run *run)
{
    if (run->guard > 0) {
        kill(run->guard, SIGKILL);
        while (waitpid(run->guard, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    run->guard = 0;
}

/* ---- COMMAND's environment ---- */

/* Several names are a line each. */
static void put_names(FILE *out, const struct cli *cli)
{
    for (unsigned i = 0; i < cli->name_count; i++)
        fprintf(out, "%s%s", i > 0 ? "\n" : "", cli->names[i]);
}

/* A lock without a fencing token must not seem to have that of a `redlock run` above us. */
static void put_fencing_token(FILE *out, uint64_t token)
{
    fprintf(out, "REDLOCK_FENCING_TOKEN");
    if (token > 0)
        fprintf(out, "=%llu", (unsigned long long)token);
    fputc(0, out);
}

static void put_own(FILE *out, const struct run *run, const char *handle, const char *held)
{
    fprintf(out, "REDLOCK_NAME=");
    put_names(out, run->cli);
    fprintf(out, "%cREDLOCK_HANDLE=%s%c", 0, handle, 0);
    fprintf(out, "REDLOCK_NODES=%s%c", cli_nodes_used(), 0);
    fprintf(out, "REDLOCK_KIND=%s%c", cli_kind_word(run->cli->kind), 0);
    fprintf(out, "REDLOCK_HELD=%s%c", held, 0);
    put_fencing_token(out, run->fencing_token);
}

/* The guard has our environment and changes its own (guard_start). Passwords of masters are not
 * COMMAND's business. To be freed; NULL: no memory. */
static char *changes_make(const struct run *run, const char *handle, size_t *ret_len)
{
    char *text = NULL;
    char *held = cli_nested_text(run->cli);
    FILE *out = held ? open_memstream(&text, ret_len) : NULL;
    if (out) {
        for (unsigned i = 0; cli_nodes_secret(i); i++)
            fprintf(out, "%s%c", cli_nodes_secret(i), 0);
        put_own(out, run, handle, held);
        bool failed = ferror(out) != 0;
        if (fclose(out) != 0 || failed) {
            free(text);
            text = NULL;
        }
    }
    free(held);
    return text;
}

/* ---- the start of COMMAND ---- */

/* A guard that was killed while we waited is found dead by run_supervise(). */
static int send_start(struct run *run, char *changes, size_t changes_len)
{
    struct guard_start start;
    memset(&start, 0, sizeof(start));
    start.times = run->times;
    start.deadline_ns = run->deadline_ns;
    start.run_group = getpgrp();
    start.foreground = run_terminal_wanted(&run->terminal);
    run->terminal.was_given = start.foreground;
    struct iovec parts[] = {{.iov_base = &start, .iov_len = sizeof(start)},
                            {.iov_base = changes, .iov_len = changes_len}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    ssize_t sent = sendmsg(run->guard_fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0 || errno == EPIPE || errno == ECONNRESET)
        return 0;
    return errno == EMSGSIZE ? E2BIG : errno;
}

int run_start(struct run *run)
{
    char handle[REDLOCK_HANDLE_MAX];
    size_t changes_len = 0;
    if (redlock_handle(run->lock, handle, sizeof(handle)) != REDLOCK_OK)
        return ETIME;
    /* Should the guard be killed, its orphans come to us. */
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        return errno;
    char *changes = changes_make(run, handle, &changes_len);
    int why = changes ? send_start(run, changes, changes_len) : ENOMEM;
    free(changes);
    atomic_store(&run->control_fd, run->guard_fd); /* from now on run_lost() uses it */
    return why;
}
