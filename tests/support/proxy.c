/* proxy.c - see proxy.h. Each direction of a connection (a pipe) is a buffer with a mark for
 * every read. The bytes up to a mark may go on at its time. */
#include "config_auto.h"

#include "proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 32, ROOM = 524288, MARKS = 1024 };

struct control {
    int delay_ms;
    long limit; /* bytes that may still pass; -1: all */
};

struct pipe {
    int from, to;
    struct control control;
    bool ended; /* `from` has no more */
    size_t len;
    char bytes[ROOM];
    struct {
        int64_t due_ms;
        size_t len;
    } mark[MARKS];
    unsigned marks;
};

struct connection {
    int number; /* -1: free */
    bool cut, reset;
    struct pipe pipe[2];
};

struct proxy {
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t turned;
    pthread_t thread;
    struct endpoint at, master, other;
    unsigned from; /* connections from this number on lead to the other one; 0: none */
    bool balances; /* each second connection leads to the other one */
    char dir[SUITE_PATH_MAX];
    int listener;
    int wake[2];
    bool stopping, shut;
    unsigned long turns; /* times the thread looked at the controls */
    unsigned accepted;
    long passed[2];
    struct control control[2];
    struct connection connection[CONNECTIONS_MAX];
};

/* ---- pipes ------------------------------------------------------------------------------ */

/* How many bytes may go on now. */
static size_t due(const struct pipe *pipe)
{
    size_t len = 0;
    for (unsigned i = 0; i < pipe->marks && pipe->mark[i].due_ms <= now_ms(); i++)
        len += pipe->mark[i].len;
    if (pipe->control.limit >= 0 && len > (size_t)pipe->control.limit)
        len = (size_t)pipe->control.limit;
    return len;
}

static void drop_front(struct pipe *pipe, size_t len)
{
    pipe->len -= len;
    memmove(pipe->bytes, pipe->bytes + len, pipe->len);
    while (len > 0) {
        size_t part = len < pipe->mark[0].len ? len : pipe->mark[0].len;
        len -= part;
        pipe->mark[0].len -= part;
        if (pipe->mark[0].len == 0)
            memmove(pipe->mark, pipe->mark + 1, --pipe->marks * sizeof(pipe->mark[0]));
    }
}

static bool wants_more(const struct pipe *pipe)
{
    return !pipe->ended && pipe->marks < MARKS && pipe->len < ROOM;
}

static void take(struct pipe *pipe)
{
    ssize_t got = recv(pipe->from, pipe->bytes + pipe->len, ROOM - pipe->len, MSG_DONTWAIT);
    if (got > 0) {
        pipe->mark[pipe->marks].due_ms = now_ms() + pipe->control.delay_ms;
        pipe->mark[pipe->marks++].len = (size_t)got;
        pipe->len += (size_t)got;
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        pipe->ended = true;
    }
}

/* False: it has come to its end, behind the last byte; a black hole keeps the end back too. */
static bool pump(struct proxy *proxy, struct pipe *pipe, int way)
{
    if (wants_more(pipe))
        take(pipe);
    size_t len = due(pipe);
    if (len == 0)
        return !pipe->ended || pipe->len > 0 || pipe->control.limit == 0;
    ssize_t sent = send(pipe->to, pipe->bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0)
        return errno == EAGAIN || errno == EINTR;
    proxy->passed[way] += sent;
    if (pipe->control.limit >= 0)
        pipe->control.limit -= sent;
    drop_front(pipe, (size_t)sent);
    return true;
}

/* What to wait for; lowers `wait_ms` to the time of the next mark. */
static void expect(const struct pipe *pipe, struct pollfd *ready, int *wait_ms)
{
    ready->fd = wants_more(pipe) ? pipe->from : -1;
    ready->events = POLLIN;
    if (pipe->marks == 0 || pipe->control.limit == 0)
        return;
    int64_t left = pipe->mark[0].due_ms - now_ms();
    if (left < 1)
        left = 1; /* due, and the kernel took no more: soon again */
    if (left < *wait_ms)
        *wait_ms = (int)left;
}

/* ---- the thread ------------------------------------------------------------------------- */

static void admit(struct proxy *proxy)
{
    int fd = accept4(proxy->listener, NULL, NULL, SOCK_CLOEXEC);
    bool other = (proxy->balances && proxy->accepted % 2 == 1) ||
                 (proxy->from > 0 && proxy->accepted >= proxy->from);
    int master = fd >= 0 && !proxy->shut
                     ? net_connect(other ? &proxy->other : &proxy->master)
                     : -1;
    int i = 0;
    while (i < CONNECTIONS_MAX && proxy->connection[i].number >= 0)
        i++;
    if (master < 0 || i == CONNECTIONS_MAX) {
        if (fd >= 0)
            close(fd);
        return;
    }
    struct connection *connection = &proxy->connection[i];
    memset(connection, 0, sizeof(*connection));
    connection->number = (int)proxy->accepted++;
    for (int way = 0; way < 2; way++) {
        connection->pipe[way].from = way == PROXY_THERE ? fd : master;
        connection->pipe[way].to = way == PROXY_THERE ? master : fd;
        connection->pipe[way].control = proxy->control[way];
    }
}

static void end(struct connection *connection)
{
    net_close(connection->pipe[PROXY_THERE].from, connection->reset);
    net_close(connection->pipe[PROXY_THERE].to, false);
    connection->number = -1;
}

static void move_all(struct proxy *proxy, struct pollfd *ready, int *wait_ms)
{
    *wait_ms = 1000;
    for (int i = 0; i < CONNECTIONS_MAX; i++) {
        struct connection *connection = &proxy->connection[i];
        bool open = connection->number >= 0 && !connection->cut;
        for (int way = 0; way < 2 && open; way++)
            open = pump(proxy, &connection->pipe[way], way);
        if (!open && connection->number >= 0)
            end(connection);
        for (int way = 0; way < 2; way++) {
            ready[2 * i + way].fd = -1;
            if (open)
                expect(&connection->pipe[way], &ready[2 * i + way], wait_ms);
        }
    }
}

static void *proxy_main(void *argument)
{
    struct proxy *proxy = argument;
    struct pollfd ready[2 * CONNECTIONS_MAX + 2];
    memset(ready, 0, sizeof(ready));
    struct pollfd *door = &ready[2 * CONNECTIONS_MAX], *wake = door + 1;
    *door = (struct pollfd){.fd = proxy->listener, .events = POLLIN};
    *wake = (struct pollfd){.fd = proxy->wake[0], .events = POLLIN};
    pthread_mutex_lock(&proxy->mutex);
    while (!proxy->stopping) {
        int wait_ms;
        char drain[64];
        move_all(proxy, ready, &wait_ms);
        proxy->turns++;
        pthread_cond_broadcast(&proxy->turned);
        pthread_mutex_unlock(&proxy->mutex);
        poll(ready, sizeof(ready) / sizeof(ready[0]), wait_ms);
        pthread_mutex_lock(&proxy->mutex);
        if (wake->revents && read(wake->fd, drain, sizeof(drain)) < 0)
            suite_die("pipe: %s", strerror(errno));
        if (door->revents)
            admit(proxy);
    }
    for (int i = 0; i < CONNECTIONS_MAX; i++) {
        if (proxy->connection[i].number >= 0)
            end(&proxy->connection[i]);
    }
    pthread_mutex_unlock(&proxy->mutex);
    return NULL;
}

/* ---- the test's side -------------------------------------------------------------------- */

static void stop(void *what)
{
    proxy_stop(what);
}

struct proxy *proxy_start(const struct endpoint *master, bool on_unix_socket)
{
    struct proxy *proxy = calloc(1, sizeof(*proxy));
    if (!proxy || pipe2(proxy->wake, O_CLOEXEC) < 0)
        suite_die("no room for a proxy");
    pthread_mutex_init(&proxy->mutex, NULL);
    pthread_cond_init(&proxy->turned, NULL);
    suite_new_dir(proxy->dir);
    if (on_unix_socket)
        endpoint_unix(&proxy->at, proxy->dir, "proxy.sock");
    proxy->master = *master;
    proxy->listener = net_listen(&proxy->at, 64);
    proxy->control[0].limit = proxy->control[1].limit = -1;
    for (int i = 0; i < CONNECTIONS_MAX; i++)
        proxy->connection[i].number = -1;
    if (pthread_create(&proxy->thread, NULL, proxy_main, proxy) != 0)
        suite_die("no thread for a proxy");
    suite_at_end(stop, proxy);
    return proxy;
}

/* With the mutex held: let the thread see a change, and go on once it has. */
static void apply(struct proxy *proxy)
{
    unsigned long turns = proxy->turns;
    if (write(proxy->wake[1], "", 1) != 1)
        suite_die("pipe: %s", strerror(errno));
    while (proxy->turns == turns && !proxy->stopping)
        pthread_cond_wait(&proxy->turned, &proxy->mutex);
    pthread_mutex_unlock(&proxy->mutex);
}

void proxy_stop(struct proxy *proxy)
{
    suite_forget(proxy);
    pthread_mutex_lock(&proxy->mutex);
    proxy->stopping = true;
    apply(proxy);
    pthread_join(proxy->thread, NULL);
    close(proxy->listener);
    close(proxy->wake[0]);
    close(proxy->wake[1]);
    suite_remove_dir(proxy->dir);
    pthread_mutex_destroy(&proxy->mutex);
    pthread_cond_destroy(&proxy->turned);
    free(proxy);
}

const struct endpoint *proxy_endpoint(const struct proxy *proxy)
{
    return &proxy->at;
}

static bool meant(const struct connection *connection, int number)
{
    return connection->number >= 0 && (number == PROXY_ALL || number == connection->number);
}

void proxy_delay(struct proxy *proxy, int connection, enum proxy_way way, int ms)
{
    pthread_mutex_lock(&proxy->mutex);
    if (connection == PROXY_ALL)
        proxy->control[way].delay_ms = ms;
    for (int i = 0; i < CONNECTIONS_MAX; i++) {
        if (meant(&proxy->connection[i], connection))
            proxy->connection[i].pipe[way].control.delay_ms = ms;
    }
    apply(proxy);
}

void proxy_limit(struct proxy *proxy, int connection, enum proxy_way way, long bytes)
{
    pthread_mutex_lock(&proxy->mutex);
    if (connection == PROXY_ALL)
        proxy->control[way].limit = bytes;
    for (int i = 0; i < CONNECTIONS_MAX; i++) {
        if (meant(&proxy->connection[i], connection))
            proxy->connection[i].pipe[way].control.limit = bytes;
    }
    apply(proxy);
}

void proxy_cut(struct proxy *proxy, int connection, bool reset)
{
    pthread_mutex_lock(&proxy->mutex);
    for (int i = 0; i < CONNECTIONS_MAX; i++) {
        if (!meant(&proxy->connection[i], connection))
            continue;
        proxy->connection[i].cut = true;
        proxy->connection[i].reset = reset;
    }
    apply(proxy);
}

void proxy_lead_next(struct proxy *proxy, const struct endpoint *master)
{
    pthread_mutex_lock(&proxy->mutex);
    proxy->master = *master;
    pthread_mutex_unlock(&proxy->mutex);
}

void proxy_take_turns(struct proxy *proxy, const struct endpoint *other)
{
    pthread_mutex_lock(&proxy->mutex);
    proxy->other = *other;
    proxy->balances = true;
    pthread_mutex_unlock(&proxy->mutex);
}

void proxy_lead_from(struct proxy *proxy, unsigned connection, const struct endpoint *other)
{
    pthread_mutex_lock(&proxy->mutex);
    proxy->other = *other;
    proxy->from = connection;
    pthread_mutex_unlock(&proxy->mutex);
}

void proxy_lead(struct proxy *proxy, const struct endpoint *master)
{
    pthread_mutex_lock(&proxy->mutex);
    proxy->master = *master;
    for (int i = 0; i < CONNECTIONS_MAX; i++) {
        struct pipe *pipe = proxy->connection[i].pipe;
        if (proxy->connection[i].number < 0)
            continue;
        if (pipe[PROXY_THERE].len > 0 || pipe[PROXY_BACK].len > 0)
            suite_die("a proxy is led elsewhere while bytes are under way");
        net_close(pipe[PROXY_THERE].to, false);
        pipe[PROXY_THERE].to = pipe[PROXY_BACK].from = net_connect(master);
        if (pipe[PROXY_BACK].from < 0)
            suite_die("a proxy can't be led elsewhere: %s", strerror(errno));
    }
    apply(proxy);
}

void proxy_shut(struct proxy *proxy, bool shut)
{
    pthread_mutex_lock(&proxy->mutex);
    proxy->shut = shut;
    apply(proxy);
}

unsigned proxy_connections(struct proxy *proxy)
{
    pthread_mutex_lock(&proxy->mutex);
    unsigned accepted = proxy->accepted;
    pthread_mutex_unlock(&proxy->mutex);
    return accepted;
}

long proxy_passed(struct proxy *proxy, enum proxy_way way)
{
    pthread_mutex_lock(&proxy->mutex);
    long passed = proxy->passed[way];
    pthread_mutex_unlock(&proxy->mutex);
    return passed;
}
