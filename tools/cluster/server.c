/* server.c - one private master: its process, and its faults. */
#include "config_auto.h"

#include "cluster/servers_parts.h"

#include "base/clock.h"
#include "base/limits.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define READY_LIMIT_MS 10000
#define FILLED_AFTER_MS 50
#define BACKLOG "128" /* a crowd connects at once; and yet it can be filled */
#define ARGUMENTS_MAX 32
#define CLOCK_VARIABLE "SERVER_CLOCK" /* where server_clock.so finds the file */

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    (void)type;
    (void)at;
    remove(path);
    return 0;
}

void server_remove_tree(const char *dir)
{
    nftw(dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

void server_end(struct server *server)
{
    if (server->pid > 0) {
        kill(server->pid, SIGKILL);
        while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
        server->pid = 0;
    }
    unlink(server->socket);
    unlink(server->log);
}

/* ---- beginning ------------------------------------------------------------------------- */

static size_t add(const char **argv, size_t argc, const char *name, const char *value)
{
    assert(argc + 2 < ARGUMENTS_MAX);
    argv[argc++] = name;
    argv[argc++] = value;
    return argc;
}

static void exec_server(const struct servers *servers, const struct server *server,
                        enum server_from from, pid_t parent)
{
    char port[16];
    char clock[128];
    const char *argv[ARGUMENTS_MAX] = {NULL};
    size_t argc = 1;
    snprintf(port, sizeof(port), "%d", server->port);
    snprintf(clock, sizeof(clock), "%s/clock", server->dir);
    /* The last line: the kernel ends the server when we are gone without a word. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(127);
    int log = open(server->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (log < 0 || null < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
        _exit(127);
    setpgid(0, 0); /* a Ctrl-C is for us; we end it then */
    argc = add(argv, argc, "--port", port);
    argc = add(argv, argc, "--bind", "127.0.0.1");
    argc = add(argv, argc, "--unixsocket", server->socket);
    argc = add(argv, argc, "--dir", server->dir);
    argc = add(argv, argc, "--save", "");
    argc = add(argv, argc, "--daemonize", "no");
    argc = add(argv, argc, "--tcp-backlog", BACKLOG);
    argc = add(argv, argc, "--maxmemory-policy", "noeviction");
    bool aof = servers->want.keep && from != SERVER_FROM_RDB;
    argc = add(argv, argc, "--appendonly", aof ? "yes" : "no");
    /* Written before each answer. With everysec it may be a while later. */
    argc = add(argv, argc, "--appendfsync", "no");
    if (servers->debug)
        argc = add(argv, argc, "--enable-debug-command", "yes");
    if (server->clock_ns != NULL) {
        setenv("LD_PRELOAD", servers->want.clock_lib, 1);
        setenv(CLOCK_VARIABLE, clock, 1);
    }
    static const char *const program[] = {"redis-server", "valkey-server"};
    for (size_t i = 0; i < 2; i++) {
        argv[0] = program[i];
        execvp(program[i], (char *const *)argv);
    }
    _exit(127);
}

/* The server answers, and is the one we started (its port could be another's by now). */
static bool answers(const struct servers *servers, unsigned index)
{
    struct server_talk talk;
    char text[8192];
    char expected[48];
    struct server_at node = servers_at(servers, index);
    if (!server_talk_open(&talk, &node))
        return false;
    char type = server_talk_say(&talk, "INFO server", text, sizeof(text));
    server_talk_close(&talk);
    snprintf(expected, sizeof(expected), "\nprocess_id:%d\r", (int)servers->master[index].pid);
    return type == '$' && strstr(text, expected) != NULL;
}

/* Data that the master must not begin with is removed. */
static void keep_only(const struct server *server, enum server_from from)
{
    char path[128];
    if (from == SERVER_FROM_AOF)
        return;
    snprintf(path, sizeof(path), "%s/appendonlydir", server->dir);
    server_remove_tree(path);
    snprintf(path, sizeof(path), "%s/appendonly.aof", server->dir);
    unlink(path);
    snprintf(path, sizeof(path), "%s/dump.rdb", server->dir);
    if (from == SERVER_EMPTY)
        unlink(path);
}

bool server_launch(struct servers *servers, unsigned index, enum server_from from)
{
    struct server *server = &servers->master[index];
    pid_t parent = getpid();
    assert(server->pid == 0);
    if (servers->want.keep)
        keep_only(server, from);
    pid_t pid = fork();
    if (pid == 0)
        exec_server(servers, server, from, parent);
    if (pid < 0)
        return false;
    server->pid = pid;
    server->stopped = false;
    return true;
}

bool server_has_ended(struct servers *servers, unsigned index, int *ret_status)
{
    struct server *server = &servers->master[index];
    if (server->pid == 0 || waitpid(server->pid, ret_status, WNOHANG) != server->pid)
        return false;
    server->pid = 0;
    server->stopped = false;
    return true;
}

bool server_is_ready(struct servers *servers, unsigned index, bool *ret_ended)
{
    int status;
    *ret_ended = false;
    if (answers(servers, index))
        return true;
    *ret_ended = server_has_ended(servers, index, &status) || servers->master[index].pid == 0;
    return false;
}

bool server_start(struct servers *servers, unsigned index)
{
    bool ended = false;
    struct timespec nap = {.tv_nsec = 5 * RL_NS_PER_MS};
    int64_t limit_ns = rl_clock_now_ns() + READY_LIMIT_MS * RL_NS_PER_MS;
    if (!server_launch(servers, index, SERVER_EMPTY))
        return false;
    while (!server_is_ready(servers, index, &ended)) {
        if (ended || rl_clock_now_ns() > limit_ns)
            return false;
        nanosleep(&nap, NULL);
    }
    return true;
}

/* ---- faults ---------------------------------------------------------------------------- */

bool server_kill(struct servers *servers, unsigned index)
{
    struct server *master = &servers->master[index];
    assert(master->pid > 0 && !master->stopped);
    server_end(master);
    return true;
}

bool server_restart(struct servers *servers, unsigned index)
{
    assert(servers->master[index].pid == 0);
    return server_start(servers, index);
}

/* A server that was ended by somebody else instead is reaped here. */
static bool signal_and_await(struct server *master, int number, int options)
{
    int status;
    if (kill(master->pid, number) != 0)
        return false;
    while (waitpid(master->pid, &status, options) < 0)
        if (errno != EINTR)
            return false;
    if (WIFEXITED(status) || WIFSIGNALED(status))
        master->pid = 0;
    return options == WUNTRACED ? WIFSTOPPED(status) : WIFCONTINUED(status);
}

bool server_stop(struct servers *servers, unsigned index)
{
    struct server *master = &servers->master[index];
    assert(master->pid > 0 && !master->stopped);
    master->stopped = signal_and_await(master, SIGSTOP, WUNTRACED);
    return master->stopped;
}

/* One more connection. True: it hangs, so the backlog is full. */
static bool fill(const struct server *master, int *ret_fd)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    address.sin_port = htons((uint16_t)master->port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *ret_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*ret_fd < 0 || connect(*ret_fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return false;
    struct pollfd poll_fd = {.fd = *ret_fd, .events = POLLOUT};
    return errno == EINPROGRESS && poll(&poll_fd, 1, FILLED_AFTER_MS) == 0;
}

bool server_blackhole(struct servers *servers, unsigned index)
{
    struct server *master = &servers->master[index];
    assert(!servers->want.unix_sockets);
    if (!server_stop(servers, index))
        return false;
    for (size_t i = 0; i < SERVER_FILLERS_MAX; i++)
        if (fill(master, &master->filler[i]))
            return true;
    return false;
}

bool server_resume(struct servers *servers, unsigned index)
{
    struct server *master = &servers->master[index];
    assert(master->stopped);
    for (size_t i = 0; i < SERVER_FILLERS_MAX; i++) {
        if (master->filler[i] >= 0)
            close(master->filler[i]);
        master->filler[i] = -1;
    }
    bool goes_on = signal_and_await(master, SIGCONT, WCONTINUED);
    master->stopped = !goes_on && master->pid > 0;
    return goes_on;
}
