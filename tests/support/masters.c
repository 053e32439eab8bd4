/* masters.c - see masters.h. */
#include "config_auto.h"

#include "masters.h"

#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { START_LIMIT_MS = 20000, START_TRIES = 5, ARGUMENTS_MAX = 40 };

const char *const masters_keeping[] = {"--appendonly", "yes", "--appendfsync", "no", NULL};

/* In the child: everything was made ready before fork(). */
static void run_server(char *const argv[], const char *log_path, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int log = open(log_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    execvp(argv[0], argv);
    _exit(127);
}

/* What Sentinel begins with. It writes into the file what it learns. */
static void write_watch(const char *path, const char *watch)
{
    if (access(path, F_OK) == 0)
        return;
    FILE *file = fopen(path, "w");
    if (!file || fputs(watch, file) < 0 || fclose(file) != 0)
        suite_die("can't write %s", path);
}

static void spawn(const struct masters *masters, struct master *master)
{
    char port[16];
    char log_path[SUITE_PATH_MAX + 8];
    char watch_path[SUITE_PATH_MAX + 16];
    snprintf(port, sizeof(port), "%d", master->tcp_at.port);
    snprintf(log_path, sizeof(log_path), "%s/log", master->dir);
    snprintf(watch_path, sizeof(watch_path), "%s/sentinel.conf", master->dir);
    const char *const server[] = {"redis-server", NULL};
    const char *const sentinel[] = {"redis-server", watch_path, "--sentinel", NULL};
    const char *const common[] = {"--port",           port,   "--bind",      "127.0.0.1",
                                  "--unixsocket",     master->unix_at.path,
                                  "--unixsocketperm", "700",  "--dir",       master->dir,
                                  "--daemonize",      "no",   NULL};
    static const char *const keys[] = {"--save", "", "--maxmemory-policy", "noeviction", NULL};
    const char *const *const parts[] = {masters->watch ? sentinel : server, common,
                                        masters->watch ? NULL : keys, masters->extra};
    const char *argv[ARGUMENTS_MAX] = {NULL};
    unsigned argc = 0;
    for (unsigned part = 0; part < 4; part++)
        for (unsigned i = 0; parts[part] && parts[part][i]; i++) {
            if (argc + 1 == ARGUMENTS_MAX)
                suite_die("too many arguments for redis-server");
            argv[argc++] = parts[part][i];
        }
    if (masters->watch)
        write_watch(watch_path, masters->watch);
    pid_t parent = getpid();
    master->pid = fork();
    if (master->pid < 0)
        suite_die("fork: %s", strerror(errno));
    if (master->pid == 0)
        run_server((char *const *)argv, log_path, parent);
}

static void await_ready(struct masters *masters, unsigned node)
{
    struct master *master = &masters->node[node];
    int64_t end = now_ms() + START_LIMIT_MS;
    for (unsigned try = 1; strcmp(master_do(masters, node, "PING", NULL).text, "PONG") != 0;) {
        if (now_ms() > end)
            suite_die("redis-server in %s does not answer", master->dir);
        if (waitpid(master->pid, NULL, WNOHANG) == master->pid) {
            /* Somebody took the port meanwhile: it was only known to be free. */
            if (++try > START_TRIES)
                suite_die("redis-server in %s does not start", master->dir);
            master->tcp_at.port = net_free_port();
            spawn(masters, master);
        }
        pause_ms(2);
    }
}

struct masters *masters_start(unsigned n, const char *const *extra)
{
    return masters_start_as(n, extra, NULL, NULL);
}

static void stop(void *what)
{
    masters_stop(what);
}

static struct masters *start(unsigned n, struct masters like)
{
    struct masters *masters = malloc(sizeof(*masters));
    if (!masters || n > MASTERS_MAX)
        suite_die("%u masters are too many", n);
    *masters = like;
    masters->n = n;
    for (unsigned i = 0; i < n; i++) {
        struct master *master = &masters->node[i];
        suite_new_dir(master->dir);
        endpoint_unix(&master->unix_at, master->dir, "redis.sock");
        master->tcp_at.port = net_free_port();
        spawn(masters, master);
    }
    for (unsigned i = 0; i < n; i++)
        await_ready(masters, i);
    suite_at_end(stop, masters);
    return masters;
}

struct masters *masters_start_as(unsigned n, const char *const *extra, const char *user,
                                 const char *password)
{
    return start(n, (struct masters){.extra = extra, .user = user, .password = password});
}

struct masters *masters_start_watching(unsigned n, const char *watch)
{
    return start(n, (struct masters){.watch = watch});
}

bool masters_are_redis_7_0(void)
{
    char line[128] = "";
    FILE *version = popen("redis-server --version", "r");
    if (!version || !fgets(line, sizeof(line), version))
        suite_die("redis-server tells no version");
    pclose(version);
    bool is = strncmp(line, "Redis server v=7.0.", 19) == 0;
    if (!is)
        printf("the model is of Redis 7.0, and this is %s", line);
    return is;
}

void master_kill(struct masters *masters, unsigned node)
{
    struct master *master = &masters->node[node];
    if (master->pid == 0)
        return;
    child_signal(master->pid, SIGKILL, 0);
    master->pid = 0;
    master->paused = false;
}

void master_pause(struct masters *masters, unsigned node)
{
    child_signal(masters->node[node].pid, SIGSTOP, WUNTRACED);
    masters->node[node].paused = true;
}

void master_resume(struct masters *masters, unsigned node)
{
    child_signal(masters->node[node].pid, SIGCONT, WCONTINUED);
    masters->node[node].paused = false;
}

void master_restart(struct masters *masters, unsigned node, bool empty)
{
    struct master *master = &masters->node[node];
    master_kill(masters, node);
    if (empty) {
        suite_remove_dir(master->dir);
        mkdir(master->dir, 0700);
    }
    spawn(masters, master);
    await_ready(masters, node);
}

void masters_stop(struct masters *masters)
{
    suite_forget(masters);
    for (unsigned i = 0; i < masters->n; i++) {
        master_kill(masters, i);
        suite_remove_dir(masters->node[i].dir);
    }
    free(masters);
}

static const char *list_file(struct masters *masters, const char *guard, const char *settings)
{
    static struct node_list list;
    list.len = 0;
    for (unsigned i = 0; i < masters->n; i++)
        node_list_add(&list, &masters->node[i].unix_at);
    node_list_line(&list, "%s%s", guard, settings ? settings : "");
    return node_list_write(&list);
}

const char *masters_file(struct masters *masters, const char *settings)
{
    return list_file(masters, "guard off\n", settings);
}

const char *masters_guarded_file(struct masters *masters, const char *settings)
{
    return list_file(masters, "", settings);
}
