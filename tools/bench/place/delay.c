/* delay.c - proxies that hold replies back, by one thread.
 *
 * Requests go through at once. Replies wait in a ring of chunks, each with its time to leave. A
 * full ring is not read into, so that nothing is ever reordered or lost. */
#include "config_auto.h"

#include "bench/place/delay.h"

#include "bench/report/stats.h"

#include <redlock.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PIPES_MAX 128 /* connections through all proxies together */
#define CHUNKS 256
#define CHUNK_SIZE 1024

struct chunk {
    int64_t due_ns;
    size_t len;
    char bytes[CHUNK_SIZE];
};

struct pipe {
    int client; /* -1: unused */
    int server;
    unsigned first; /* of the chunks that wait */
    unsigned count;
    struct chunk chunk[CHUNKS];
};

struct bench_delay {
    unsigned count;
    int64_t delay_ns;
    int stop_fd;
    pthread_t thread;
    struct server_at node[REDLOCK_NODES_MAX];
    int listener[REDLOCK_NODES_MAX];
    int port[REDLOCK_NODES_MAX];
    struct pipe pipe[PIPES_MAX];
};

static void end_pipe(struct pipe *pipe)
{
    close(pipe->client);
    close(pipe->server);
    pipe->client = pipe->server = -1;
    pipe->first = pipe->count = 0;
}

static void accept_one(struct bench_delay *delay, unsigned index)
{
    int on = 1;
    int client = accept4(delay->listener[index], NULL, NULL, SOCK_CLOEXEC);
    if (client < 0)
        return;
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    for (size_t i = 0; i < PIPES_MAX; i++) {
        struct pipe *pipe = &delay->pipe[i];
        if (pipe->client >= 0)
            continue;
        int server = server_connect(&delay->node[index]);
        if (server < 0)
            break;
        pipe->client = client;
        pipe->server = server;
        return;
    }
    close(client);
}

static void pass_request(struct pipe *pipe)
{
    char bytes[4096];
    ssize_t got = recv(pipe->client, bytes, sizeof(bytes), 0);
    if (got <= 0 || !server_send_all(pipe->server, bytes, (size_t)got))
        end_pipe(pipe);
}

static void hold_reply(struct pipe *pipe, int64_t due_ns)
{
    struct chunk *chunk = &pipe->chunk[(pipe->first + pipe->count) % CHUNKS];
    ssize_t got = recv(pipe->server, chunk->bytes, CHUNK_SIZE, 0);
    if (got <= 0) {
        end_pipe(pipe);
        return;
    }
    chunk->len = (size_t)got;
    chunk->due_ns = due_ns;
    pipe->count++;
}

static void pass_due(struct pipe *pipe, int64_t now_ns)
{
    while (pipe->count > 0 && pipe->chunk[pipe->first].due_ns <= now_ns) {
        const struct chunk *chunk = &pipe->chunk[pipe->first];
        if (!server_send_all(pipe->client, chunk->bytes, chunk->len)) {
            end_pipe(pipe);
            return;
        }
        pipe->first = (pipe->first + 1) % CHUNKS;
        pipe->count--;
    }
}

/* The poll set: the stop descriptor, the listeners, then two places a pipe. */
static nfds_t fill_set(const struct bench_delay *delay, struct pollfd *set, int64_t *ret_due_ns)
{
    nfds_t count = 0;
    *ret_due_ns = INT64_MAX;
    set[count++] = (struct pollfd){.fd = delay->stop_fd, .events = POLLIN};
    for (unsigned i = 0; i < delay->count; i++)
        set[count++] = (struct pollfd){.fd = delay->listener[i], .events = POLLIN};
    for (size_t i = 0; i < PIPES_MAX; i++) {
        const struct pipe *pipe = &delay->pipe[i];
        bool room = pipe->count < CHUNKS;
        set[count++] = (struct pollfd){.fd = pipe->client, .events = POLLIN};
        set[count++] = (struct pollfd){.fd = room ? pipe->server : -1, .events = POLLIN};
        if (pipe->count > 0 && pipe->chunk[pipe->first].due_ns < *ret_due_ns)
            *ret_due_ns = pipe->chunk[pipe->first].due_ns;
    }
    return count;
}

static void *serve(void *context)
{
    struct bench_delay *delay = context;
    struct pollfd set[1 + REDLOCK_NODES_MAX + 2 * PIPES_MAX];
    for (;;) {
        int64_t due_ns;
        struct timespec wait = {.tv_sec = 3600};
        nfds_t count = fill_set(delay, set, &due_ns);
        if (due_ns != INT64_MAX) {
            int64_t left_ns = due_ns - bench_now_ns();
            wait = (struct timespec){0};
            if (left_ns > 0)
                wait = (struct timespec){.tv_sec = (time_t)(left_ns / 1000000000),
                                         .tv_nsec = (long)(left_ns % 1000000000)};
        }
        if (ppoll(set, count, &wait, NULL) < 0 && errno != EINTR)
            return NULL;
        if (set[0].revents != 0)
            return NULL;
        int64_t now_ns = bench_now_ns();
        const struct pollfd *pipes = &set[1 + delay->count];
        for (size_t i = 0; i < PIPES_MAX; i++) {
            struct pipe *pipe = &delay->pipe[i];
            if (pipe->client >= 0 && pipes[2 * i].revents != 0)
                pass_request(pipe);
            if (pipe->client >= 0 && pipes[2 * i + 1].revents != 0)
                hold_reply(pipe, now_ns + delay->delay_ns);
            if (pipe->client >= 0)
                pass_due(pipe, now_ns);
        }
        for (unsigned i = 0; i < delay->count; i++)
            if (set[1 + i].revents != 0)
                accept_one(delay, i);
    }
}

/* A listener on a free port of 127.0.0.1. */
static bool listen_somewhere(int *ret_fd, int *ret_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof(address);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *ret_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*ret_fd < 0 || bind(*ret_fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(*ret_fd, 16) != 0 ||
        getsockname(*ret_fd, (struct sockaddr *)&address, &len) != 0)
        return false;
    *ret_port = ntohs(address.sin_port);
    return true;
}

static void free_delay(struct bench_delay *delay)
{
    for (size_t i = 0; i < PIPES_MAX; i++)
        if (delay->pipe[i].client >= 0)
            end_pipe(&delay->pipe[i]);
    for (unsigned i = 0; i < delay->count; i++)
        if (delay->listener[i] >= 0)
            close(delay->listener[i]);
    if (delay->stop_fd >= 0)
        close(delay->stop_fd);
    free(delay);
}

struct bench_delay *bench_delay_start(const struct server_at *nodes, unsigned count,
                                      int64_t delay_ms)
{
    struct bench_delay *delay = calloc(1, sizeof(*delay));
    if (delay == NULL)
        return NULL;
    delay->count = count;
    delay->delay_ns = delay_ms * 1000000;
    delay->stop_fd = eventfd(0, EFD_CLOEXEC);
    bool fine = delay->stop_fd >= 0;
    for (size_t i = 0; i < PIPES_MAX; i++)
        delay->pipe[i].client = delay->pipe[i].server = -1;
    for (unsigned i = 0; i < count; i++)
        delay->listener[i] = -1;
    for (unsigned i = 0; i < count && fine; i++) {
        delay->node[i] = nodes[i];
        fine = listen_somewhere(&delay->listener[i], &delay->port[i]);
    }
    if (fine) {
        errno = pthread_create(&delay->thread, NULL, serve, delay);
        fine = errno == 0;
    }
    if (!fine) {
        int saved = errno;
        free_delay(delay);
        errno = saved;
        return NULL;
    }
    return delay;
}

void bench_delay_end(struct bench_delay *delay)
{
    if (delay == NULL)
        return;
    eventfd_write(delay->stop_fd, 1);
    pthread_join(delay->thread, NULL);
    free_delay(delay);
}

int bench_delay_port(const struct bench_delay *delay, unsigned index)
{
    return delay->port[index];
}
