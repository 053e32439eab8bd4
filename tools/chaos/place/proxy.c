/* proxy.c - see proxy.h: the parent's side. */
#include "config_auto.h"

#include "chaos/place/proxy_parts.h"

#include "base/clock.h"
#include "base/limits.h"

#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OBEY_LIMIT_MS 5000
#define BACKLOG 64

/* ---- the beginning -------------------------------------------------------------------- */

/* The first address of the name that takes a connection, or the first at all. */
static bool find_address(const struct rl_node_config *node, struct chaos_address *ret)
{
    char service[16];
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    if (node->transport == RL_UNIX) {
        struct sockaddr_un *address = (struct sockaddr_un *)&ret->address;
        address->sun_family = AF_UNIX;
        snprintf(address->sun_path, sizeof(address->sun_path), "%s", node->path);
        ret->len = sizeof(*address);
        return true;
    }
    snprintf(service, sizeof(service), "%d", node->port);
    if (getaddrinfo(node->host, service, &hints, &found) != 0 || found == NULL)
        return false;
    memcpy(&ret->address, found->ai_addr, found->ai_addrlen);
    ret->len = found->ai_addrlen;
    for (const struct addrinfo *at = found; at != NULL; at = at->ai_next) {
        int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        bool taken = fd >= 0 && connect(fd, at->ai_addr, at->ai_addrlen) == 0;
        if (fd >= 0)
            close(fd);
        if (taken) {
            memcpy(&ret->address, at->ai_addr, at->ai_addrlen);
            ret->len = at->ai_addrlen;
            break;
        }
    }
    freeaddrinfo(found);
    return true;
}

static bool open_listener(int *ret_fd, int *ret_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof(address);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    *ret_fd = fd;
    if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(fd, BACKLOG) != 0 || getsockname(fd, (struct sockaddr *)&address, &len) != 0)
        return false;
    *ret_port = ntohs(address.sin_port);
    return true;
}

/* Descriptors enough for every connection, where the system allows it. */
static void raise_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static void close_all(struct chaos_proxies *proxies)
{
    for (unsigned i = 0; i < proxies->clients * proxies->nodes; i++)
        if (proxies->listener[i] >= 0)
            close(proxies->listener[i]);
    free(proxies->listener);
    proxies->listener = NULL;
}

static bool prepare(struct chaos_proxies *proxies, const struct rl_config *config, char *why,
                    size_t why_size)
{
    unsigned paths = proxies->clients * proxies->nodes;
    for (unsigned i = 0; i < proxies->nodes; i++)
        if (!find_address(&config->nodes[i], &proxies->master[i])) {
            snprintf(why, why_size, "%s: no such host; put the node list right",
                     config->nodes[i].label);
            return false;
        }
    for (unsigned i = 0; i < paths; i++)
        if (!open_listener(&proxies->listener[i], &proxies->port[i])) {
            snprintf(why, why_size, "cannot open %u ports for proxies: %s; use fewer --clients",
                     paths, strerror(errno));
            return false;
        }
    proxies->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    proxies->orders_size = sizeof(struct chaos_orders) + paths * sizeof(struct chaos_path);
    proxies->orders = mmap(NULL, proxies->orders_size, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (proxies->wake < 0 || proxies->orders == MAP_FAILED) {
        snprintf(why, why_size, "cannot make ready for proxies: %s", strerror(errno));
        return false;
    }
    return true;
}

struct chaos_proxies *chaos_proxies_start(const struct rl_config *config, unsigned clients,
                                          struct chaos_stall_log *stalls, char *why,
                                          size_t why_size)
{
    static struct chaos_proxies only;
    struct chaos_proxies *proxies = &only;
    unsigned paths = clients * config->node_count;
    assert(paths > 0 && proxies->pid == 0);
    *proxies = (struct chaos_proxies){
        .clients = clients,
        .nodes = config->node_count,
        .wake = -1,
        .orders = MAP_FAILED,
        .stalls = stalls,
    };
    raise_limit();
    proxies->listener = malloc(paths * sizeof(int));
    proxies->port = calloc(paths, sizeof(int));
    if (proxies->listener == NULL || proxies->port == NULL) {
        snprintf(why, why_size, "out of memory");
        free(proxies->listener);
        free(proxies->port);
        return NULL;
    }
    for (unsigned i = 0; i < paths; i++)
        proxies->listener[i] = -1;
    pid_t parent = getpid();
    if (!prepare(proxies, config, why, why_size) || (proxies->pid = fork()) < 0) {
        if (proxies->pid < 0)
            snprintf(why, why_size, "cannot start a process: %s", strerror(errno));
        proxies->pid = 0;
        chaos_proxies_end(proxies);
        return NULL;
    }
    if (proxies->pid == 0)
        chaos_proxy_main(proxies, parent);
    close_all(proxies);
    return proxies;
}

/* ---- the rest ------------------------------------------------------------------------- */

bool chaos_proxies_gone(struct chaos_proxies *proxies)
{
    if (proxies->pid > 0 && waitpid(proxies->pid, NULL, WNOHANG) == proxies->pid)
        proxies->pid = 0;
    return proxies->pid == 0;
}

void chaos_proxies_end(struct chaos_proxies *proxies)
{
    if (proxies == NULL)
        return;
    if (proxies->pid > 0) {
        kill(proxies->pid, SIGKILL);
        while (waitpid(proxies->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
        proxies->pid = 0;
    }
    if (proxies->listener != NULL)
        close_all(proxies);
    free(proxies->port);
    proxies->port = NULL;
    if (proxies->wake >= 0)
        close(proxies->wake);
    proxies->wake = -1;
    if (proxies->orders != MAP_FAILED)
        munmap(proxies->orders, proxies->orders_size);
    proxies->orders = MAP_FAILED;
}

unsigned chaos_proxies_nodes(const struct chaos_proxies *proxies)
{
    return proxies->nodes;
}

int chaos_proxies_port(const struct chaos_proxies *proxies, unsigned client, unsigned node)
{
    assert(client < proxies->clients && node < proxies->nodes);
    return proxies->port[client * proxies->nodes + node];
}

struct chaos_path *chaos_proxies_path(struct chaos_proxies *proxies, unsigned client,
                                      unsigned node)
{
    assert(client < proxies->clients && node < proxies->nodes);
    return &proxies->orders->path[client * proxies->nodes + node];
}

bool chaos_proxies_obey(struct chaos_proxies *proxies)
{
    struct chaos_orders *orders = proxies->orders;
    struct timespec nap = {.tv_nsec = 200000};
    uint64_t one = 1;
    unsigned order = atomic_fetch_add(&orders->given, 1) + 1;
    int64_t limit_ns = rl_clock_now_ns() + OBEY_LIMIT_MS * RL_NS_PER_MS;
    if (write(proxies->wake, &one, sizeof(one)) < 0 && errno != EAGAIN)
        return false;
    while ((int)(atomic_load(&orders->obeyed) - order) < 0) {
        if (chaos_proxies_gone(proxies) || rl_clock_now_ns() > limit_ns)
            return false;
        nanosleep(&nap, NULL);
    }
    return true;
}
