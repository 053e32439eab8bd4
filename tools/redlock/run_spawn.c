/* run_spawn.c - the guard's start. It is our own program again, by /proc/self/exe: the client
 * has threads, so that nothing but exec may follow a fork here, and posix_spawn is that. */
#include "config_auto.h"

#include "redlock/run.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

extern char **environ;

#define OWN_VARIABLES 5
static const char *const own_names[OWN_VARIABLES] = {
    "REDLOCK_NAME=", "REDLOCK_HANDLE=", "REDLOCK_NODES=", "REDLOCK_KIND=", "REDLOCK_HELD="};

struct environment {
    char *own[OWN_VARIABLES];
    char **all; /* up to a NULL */
};

static void environment_free(struct environment *environment)
{
    for (size_t i = 0; i < OWN_VARIABLES; i++)
        free(environment->own[i]);
    free(environment->all);
}

static bool is_own(const char *variable)
{
    for (size_t i = 0; i < OWN_VARIABLES; i++) {
        if (strncmp(variable, own_names[i], strlen(own_names[i])) == 0)
            return true;
    }
    return false;
}

static char *join(const char *left, const char *right)
{
    size_t size = strlen(left) + strlen(right) + 1;
    char *joined = malloc(size);
    if (joined)
        snprintf(joined, size, "%s%s", left, right);
    return joined;
}

/* Ours is not changed by setenv(3): the client's threads may be reading it. Passwords of
 * masters are not COMMAND's business. */
static bool environment_make(struct environment *ret, const char *const values[OWN_VARIABLES])
{
    struct environment made = {{NULL}, NULL};
    size_t count = 0;
    while (environ[count])
        count++;
    made.all = calloc(count + OWN_VARIABLES + 1, sizeof(*made.all));
    bool complete = made.all != NULL;
    for (size_t i = 0; i < OWN_VARIABLES && complete; i++) {
        made.own[i] = join(own_names[i], values[i]);
        complete = made.own[i] != NULL;
    }
    if (!complete) {
        environment_free(&made);
        return false;
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_own(environ[i]) && !cli_nodes_is_secret(environ[i]))
            made.all[kept++] = environ[i];
    }
    for (size_t i = 0; i < OWN_VARIABLES; i++)
        made.all[kept++] = made.own[i];
    *ret = made;
    return true;
}

/* "redlock @guard FD COMMAND ..." */
static char **guard_arguments(const struct run *run, const char *control)
{
    size_t count = 0;
    while (run->cli->command[count])
        count++;
    const char *first[] = {"redlock", CLI_GUARD_VERB, control};
    const size_t first_count = sizeof(first) / sizeof(first[0]);
    char **arguments = calloc(first_count + count + 1, sizeof(*arguments));
    if (arguments) {
        memcpy(arguments, first, sizeof(first));
        memcpy(arguments + first_count, run->cli->command, count * sizeof(*arguments));
    }
    return arguments;
}

/* The guard has a process group of its own: what is typed at the terminal for us, and kill(1)
 * for our group, pass it by. Every signal is blocked in it from its first instruction on. */
static int spawn(pid_t *ret_pid, char **arguments, char **environment)
{
    posix_spawnattr_t how;
    int why = posix_spawnattr_init(&how);
    if (why != 0)
        return why;
    sigset_t all;
    sigset_t
        every_bit; /* with the two that the C library keeps, which it would leave ignored */
    sigfillset(&all);
    memset(&every_bit, 0xff, sizeof(every_bit));
    why = posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                             POSIX_SPAWN_SETSIGDEF);
    if (why == 0)
        why = posix_spawnattr_setpgroup(&how, 0);
    if (why == 0)
        why = posix_spawnattr_setsigmask(&how, &all);
    if (why == 0)
        why = posix_spawnattr_setsigdefault(&how, &every_bit);
    if (why == 0)
        why = posix_spawn(ret_pid, "/proc/self/exe", NULL, &how, arguments, environment);
    posix_spawnattr_destroy(&how);
    return why;
}

/* `guard_fd` is the one descriptor of ours that the guard inherits. */
static int spawn_guard(struct run *run, int guard_fd, const char *const values[OWN_VARIABLES])
{
    char control[16];
    snprintf(control, sizeof(control), "%d", guard_fd);
    char **arguments = guard_arguments(run, control);
    struct environment environment = {{NULL}, NULL};
    int why = ENOMEM;
    if (arguments && environment_make(&environment, values))
        why = fcntl(guard_fd, F_SETFD, 0) < 0 ? errno
                                              : spawn(&run->guard, arguments, environment.all);
    environment_free(&environment);
    free(arguments);
    return why;
}

static int send_start(struct run *run, int control_fd)
{
    struct guard_start start;
    memset(&start, 0, sizeof(start));
    start.times = run->times;
    start.deadline_ns = run->deadline_ns;
    start.run_group = getpgrp();
    start.foreground = run_terminal_wanted(&run->terminal);
    start.mask = run->cli->signals.mask;
    start.ignored = run->cli->signals.ignored;
    run->terminal.was_given = start.foreground;
    ssize_t sent = send(control_fd, &start, sizeof(start), MSG_NOSIGNAL);
    return sent == (ssize_t)sizeof(start) ? 0 : errno;
}

/* Several names are a line each. */
static void join_names(const struct cli *cli,
                       char ret_text[REDLOCK_NAME_MAX + REDLOCK_NAMES_MAX])
{
    size_t used = 0;
    for (unsigned i = 0; i < cli->name_count; i++) {
        size_t len = strlen(cli->names[i]);
        if (i > 0)
            ret_text[used++] = '\n';
        memcpy(ret_text + used, cli->names[i], len);
        used += len;
    }
    ret_text[used] = '\0';
}

int run_spawn(struct run *run)
{
    char names[REDLOCK_NAME_MAX + REDLOCK_NAMES_MAX]; /* as cli_options.c lets through */
    char handle[REDLOCK_HANDLE_MAX];
    if (redlock_handle(run->lock, handle, sizeof(handle)) != REDLOCK_OK)
        return ETIME;
    /* Should the guard be killed, its orphans come to us. */
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        return errno;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return errno;
    char *held = cli_nested_text(run->cli);
    const char *const values[OWN_VARIABLES] = {names, handle, cli_nodes_used(),
                                               cli_kind_word(run->cli->kind), held};
    join_names(run->cli, names);
    int why = held ? spawn_guard(run, ends[1], values) : ENOMEM;
    free(held);
    close(ends[1]);
    if (why == 0)
        why = send_start(run, ends[0]);
    atomic_store(&run->control_fd, ends[0]); /* from now on run_lost() uses it */
    return why;
}
