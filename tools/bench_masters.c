/* bench_masters.c - private masters and the faults they are put through. */
#include "config_auto.h"

#include "bench_masters.h"

#include "bench_stats.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define READY_LIMIT_MS 10000
#define FILLED_AFTER_MS 50
#define BACKLOG "128" /* a crowd connects at once; and yet it can be filled */

/* What the signal handler ends: it has no other way to learn of it. */
static struct bench_masters *running;

static void end_master(struct bench_master *master)
{
    if (master->pid > 0) {
        kill(master->pid, SIGKILL);
        while (waitpid(master->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
        master->pid = 0;
    }
    unlink(master->socket);
    unlink(master->log);
}

/* Only calls that a signal handler may make. */
void bench_masters_end(struct bench_masters *masters)
{
    if (masters == NULL)
        return;
    for (unsigned i = 0; i < masters->count; i++)
        end_master(&masters->master[i]);
    unlink(masters->node_file);
    rmdir(masters->dir);
}

static void end_on_exit(void)
{
    bench_masters_end(running);
}

static void end_on_signal(int number)
{
    bench_masters_end(running);
    signal(number, SIG_DFL);
    raise(number);
}

static void arrange_the_end(struct bench_masters *masters)
{
    static const int ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGABRT};
    struct sigaction action = {.sa_handler = end_on_signal};
    sigfillset(&action.sa_mask);
    running = masters;
    atexit(end_on_exit);
    for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
        sigaction(ending[i], &action, NULL);
}

/* A TCP port that is free now. 0: none. */
static int free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof(address);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int port = 0;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return 0;
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &len) == 0)
        port = ntohs(address.sin_port);
    close(fd);
    return port;
}

static void exec_server(const struct bench_masters *masters, const struct bench_master *master,
                        pid_t parent)
{
    char port[16];
    snprintf(port, sizeof(port), "%d", master->port);
    /* The last line: the kernel ends the master when we are gone without a word. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(127);
    int log = open(master->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (log < 0 || null < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
        _exit(127);
    setpgid(0, 0); /* a Ctrl-C is for us, who end it then */
    static const char *const program[] = {"redis-server", "valkey-server"};
    for (size_t i = 0; i < 2; i++)
        execlp(program[i], program[i], "--port", port, "--bind", "127.0.0.1", "--unixsocket",
               master->socket, "--dir", masters->dir, "--save", "", "--appendonly", "no",
               "--daemonize", "no", "--tcp-backlog", BACKLOG, (char *)NULL);
    _exit(127);
}

/* It answers, and it is the one we started (its port could be another's by now). */
static bool is_ready(const struct bench_masters *masters, unsigned index)
{
    struct bench_talk talk;
    char text[8192];
    char expected[48];
    struct bench_node node = bench_masters_node(masters, index);
    if (!bench_talk_open(&talk, &node))
        return false;
    char type = bench_talk_say(&talk, "INFO server", text, sizeof(text));
    bench_talk_close(&talk);
    snprintf(expected, sizeof(expected), "\nprocess_id:%d\r", (int)masters->master[index].pid);
    return type == '$' && strstr(text, expected) != NULL;
}

/* False: it ended, or wasn't ready in time. */
static bool start_master(struct bench_masters *masters, unsigned index)
{
    struct bench_master *master = &masters->master[index];
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0)
        exec_server(masters, master, parent);
    if (pid < 0)
        return false;
    master->pid = pid;
    master->stopped = false;
    int64_t limit = bench_now_ns() + READY_LIMIT_MS * INT64_C(1000000);
    while (!is_ready(masters, index)) {
        int status;
        if (waitpid(pid, &status, WNOHANG) == pid) {
            master->pid = 0;
            return false;
        }
        if (bench_now_ns() > limit)
            return false;
        bench_sleep_ms(5);
    }
    return true;
}

static bool start_on_some_port(struct bench_masters *masters, unsigned index)
{
    struct bench_master *master = &masters->master[index];
    for (int attempt = 0; attempt < 5; attempt++) {
        master->port = masters->unix_sockets ? 0 : free_port();
        if (!masters->unix_sockets && master->port == 0)
            return false;
        if (start_master(masters, index))
            return true;
        end_master(master);
    }
    return false;
}

static bool write_node_file(const struct bench_masters *masters)
{
    FILE *file = fopen(masters->node_file, "we");
    if (file == NULL)
        return false;
    for (unsigned i = 0; i < masters->count; i++) {
        const struct bench_master *master = &masters->master[i];
        if (masters->unix_sockets)
            fprintf(file, "node unix://%s\n", master->socket);
        else
            fprintf(file, "node redis://127.0.0.1:%d\n", master->port);
    }
    return fclose(file) == 0;
}

struct bench_masters *bench_masters_start(unsigned count, bool unix_sockets, char *why,
                                          size_t why_size)
{
    assert(count > 0 && count <= REDLOCK_NODES_MAX && running == NULL);
    static struct bench_masters masters;
    const char *base = getenv("TMPDIR");
    masters = (struct bench_masters){.unix_sockets = unix_sockets};
    int len = snprintf(masters.dir, sizeof(masters.dir), "%s/redlock-bench.XXXXXX",
                       base != NULL && *base != '\0' ? base : "/tmp");
    if (len < 0 || (size_t)len >= sizeof(masters.dir) || mkdtemp(masters.dir) == NULL) {
        snprintf(why, why_size, "cannot make a directory in %s: %s",
                 base != NULL ? base : "/tmp",
                 (size_t)len >= sizeof(masters.dir) ? "its path is too long" : strerror(errno));
        return NULL;
    }
    snprintf(masters.node_file, sizeof(masters.node_file), "%s/nodes", masters.dir);
    arrange_the_end(&masters);
    for (unsigned i = 0; i < count; i++) {
        struct bench_master *master = &masters.master[i];
        snprintf(master->socket, sizeof(master->socket), "%s/%u.sock", masters.dir, i + 1);
        snprintf(master->log, sizeof(master->log), "%s/%u.log", masters.dir, i + 1);
        for (size_t f = 0; f < BENCH_FILLERS_MAX; f++)
            master->filler[f] = -1;
        masters.count = i + 1;
        if (!start_on_some_port(&masters, i)) {
            snprintf(why, why_size, "cannot start master %u (is redis-server installed?)",
                     i + 1);
            bench_masters_end(&masters);
            return NULL;
        }
    }
    if (!write_node_file(&masters)) {
        snprintf(why, why_size, "cannot write %s: %s", masters.node_file, strerror(errno));
        bench_masters_end(&masters);
        return NULL;
    }
    return &masters;
}

struct bench_node bench_masters_node(const struct bench_masters *masters, unsigned index)
{
    assert(index < masters->count);
    const struct bench_master *master = &masters->master[index];
    if (masters->unix_sockets)
        return (struct bench_node){.path = master->socket};
    return (struct bench_node){.host = "127.0.0.1", .port = master->port};
}

bool bench_master_kill(struct bench_masters *masters, unsigned index)
{
    struct bench_master *master = &masters->master[index];
    assert(master->pid > 0 && !master->stopped);
    end_master(master);
    return true;
}

bool bench_master_restart(struct bench_masters *masters, unsigned index)
{
    assert(masters->master[index].pid == 0);
    return start_master(masters, index);
}

static bool signal_and_await(pid_t pid, int number, int options)
{
    int status;
    if (kill(pid, number) != 0)
        return false;
    while (waitpid(pid, &status, options) < 0)
        if (errno != EINTR)
            return false;
    return options == WUNTRACED ? WIFSTOPPED(status) : WIFCONTINUED(status);
}

bool bench_master_stop(struct bench_masters *masters, unsigned index)
{
    struct bench_master *master = &masters->master[index];
    assert(master->pid > 0 && !master->stopped);
    master->stopped = signal_and_await(master->pid, SIGSTOP, WUNTRACED);
    return master->stopped;
}

/* One more connection. True: it hangs, so the backlog is full. */
static bool fill(const struct bench_master *master, int *ret_fd)
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

bool bench_master_blackhole(struct bench_masters *masters, unsigned index)
{
    struct bench_master *master = &masters->master[index];
    assert(!masters->unix_sockets);
    if (!bench_master_stop(masters, index))
        return false;
    for (size_t i = 0; i < BENCH_FILLERS_MAX; i++)
        if (fill(master, &master->filler[i]))
            return true;
    return false;
}

bool bench_master_resume(struct bench_masters *masters, unsigned index)
{
    struct bench_master *master = &masters->master[index];
    assert(master->stopped);
    for (size_t i = 0; i < BENCH_FILLERS_MAX; i++) {
        if (master->filler[i] >= 0)
            close(master->filler[i]);
        master->filler[i] = -1;
    }
    master->stopped = !signal_and_await(master->pid, SIGCONT, WCONTINUED);
    return !master->stopped;
}
