/* servers.c - see servers.h. */
#include "config_auto.h"

#include "cluster/servers_parts.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Below the ports that the kernel gives to outgoing connections: one of those must not sit on
 * the port of a server that is down. */
#define PORT_MIN 20000
#define PORT_MAX 32000

/* The servers that the signal handler ends: it has no other way to find them. */
static struct servers *running;

/* Without `keep`, only calls that a signal handler may make. */
void servers_end(struct servers *servers)
{
    if (servers == NULL || servers->dir[0] == '\0')
        return;
    for (unsigned i = 0; i < servers->count; i++) {
        server_end(&servers->master[i]);
        rmdir(servers->master[i].dir);
    }
    unlink(servers->node_file);
    if (servers->want.keep)
        server_remove_tree(servers->dir);
    else
        rmdir(servers->dir);
    servers->dir[0] = '\0';
}

static void end_on_exit(void)
{
    servers_end(running);
}

static void end_on_signal(int number)
{
    servers_end(running);
    signal(number, SIG_DFL);
    raise(number);
}

static void arrange_the_end(struct servers *servers)
{
    static const int ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGABRT};
    struct sigaction action = {.sa_handler = end_on_signal};
    sigfillset(&action.sa_mask);
    running = servers;
    atexit(end_on_exit);
    if (!servers->want.end_on_signals)
        return;
    for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
        sigaction(ending[i], &action, NULL);
}

static bool port_is_free(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((uint16_t)port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    bool is_free = bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
    close(fd);
    return is_free;
}

/* A TCP port that is free now. 0: none. */
static int free_port(void)
{
    static unsigned last; /* so that two servers that start together do not meet */
    unsigned from = last != 0 ? last + 1 : (unsigned)getpid() * 40503u + (unsigned)time(NULL);
    for (unsigned i = 0; i < PORT_MAX - PORT_MIN; i++) {
        int port = PORT_MIN + (int)((from + i) % (PORT_MAX - PORT_MIN));
        if (port_is_free(port)) {
            last = from + i;
            return port;
        }
    }
    return 0;
}

/* ---- all of them ---------------------------------------------------------------------- */

static bool make_clock(struct server *server)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/clock", server->dir);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    void *memory = MAP_FAILED;
    if (ftruncate(fd, sizeof(*server->clock_ns)) == 0)
        memory =
            mmap(NULL, sizeof(*server->clock_ns), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    server->clock_ns = memory == MAP_FAILED ? NULL : memory;
    return memory != MAP_FAILED;
}

static bool prepare_server(struct servers *servers, unsigned index)
{
    struct server *server = &servers->master[index];
    unsigned number = index + 1;
    snprintf(server->dir, sizeof(server->dir), "%s/%u", servers->dir, number);
    snprintf(server->socket, sizeof(server->socket), "%s/%u/redis.sock", servers->dir, number);
    snprintf(server->log, sizeof(server->log), "%s/%u/log", servers->dir, number);
    for (size_t f = 0; f < SERVER_FILLERS_MAX; f++)
        server->filler[f] = -1;
    servers->count = number;
    return mkdir(server->dir, 0700) == 0 &&
           (servers->want.clock_lib == NULL || make_clock(server));
}

static bool log_says(const struct server *server, const char *text)
{
    char log[4096];
    int fd = open(server->log, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd >= 0 ? read(fd, log, sizeof(log)) : -1;
    if (fd >= 0)
        close(fd);
    return len > 0 && memmem(log, (size_t)len, text, strlen(text)) != NULL;
}

static bool start_on_some_port(struct servers *servers, unsigned index)
{
    struct server *server = &servers->master[index];
    for (int attempt = 0; attempt < 5; attempt++) {
        server->port = servers->want.unix_sockets ? 0 : free_port();
        if (!servers->want.unix_sockets && server->port == 0)
            return false;
        if (server_start(servers, index))
            return true;
        if (log_says(server, "enable-debug-command"))
            servers->debug = false; /* before 7 it was always enabled */
        server_end(server);
    }
    return false;
}

static bool write_node_file(const struct servers *servers)
{
    FILE *file = fopen(servers->node_file, "we");
    if (file == NULL)
        return false;
    for (unsigned i = 0; i < servers->count; i++) {
        const struct server *master = &servers->master[i];
        if (servers->want.unix_sockets)
            fprintf(file, "node unix://%s\n", master->socket);
        else
            fprintf(file, "node redis://127.0.0.1:%d\n", master->port);
    }
    return fclose(file) == 0;
}

static bool make_dir(struct servers *servers, char *why, size_t why_size)
{
    const char *base = getenv("TMPDIR");
    if (base == NULL || *base == '\0')
        base = "/tmp";
    int len = snprintf(servers->dir, sizeof(servers->dir), "%s/%s.XXXXXX", base,
                       servers->want.prefix);
    bool fits = len > 0 && (size_t)len < sizeof(servers->dir);
    if (fits && mkdtemp(servers->dir) != NULL)
        return true;
    snprintf(why, why_size, "cannot make a directory in %s: %s", base,
             fits ? strerror(errno) : "its path is too long");
    servers->dir[0] = '\0';
    return false;
}

struct servers *servers_start(const struct servers_want *want, char *why, size_t why_size)
{
    static struct servers servers;
    assert(want->count > 0 && want->count <= REDLOCK_NODES_MAX && running == NULL);
    servers = (struct servers){.want = *want, .debug = want->keep};
    if (!make_dir(&servers, why, why_size))
        return NULL;
    snprintf(servers.node_file, sizeof(servers.node_file), "%s/nodes", servers.dir);
    arrange_the_end(&servers);
    for (unsigned i = 0; i < want->count; i++)
        if (!prepare_server(&servers, i) || !start_on_some_port(&servers, i)) {
            snprintf(why, why_size, "cannot start master %u (is redis-server installed?)",
                     i + 1);
            servers_end(&servers);
            return NULL;
        }
    if (!write_node_file(&servers)) {
        snprintf(why, why_size, "cannot write %s: %s", servers.node_file, strerror(errno));
        servers_end(&servers);
        return NULL;
    }
    return &servers;
}

struct server_at servers_at(const struct servers *servers, unsigned index)
{
    assert(index < servers->count);
    const struct server *master = &servers->master[index];
    if (servers->want.unix_sockets)
        return (struct server_at){.path = master->socket};
    return (struct server_at){.host = "127.0.0.1", .port = master->port};
}
