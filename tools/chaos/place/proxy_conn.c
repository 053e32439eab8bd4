/* proxy_conn.c - see proxy_conn.h. */
#include "config_auto.h"

#include "chaos/place/proxy_conn.h"

#include "base/limits.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define SPLIT_NS 100000 /* between two bytes that go one by one */

struct chaos_proxy_conn *chaos_proxy_conn_new(int fd, struct chaos_path *path,
                                              const struct chaos_address *master)
{
    struct chaos_proxy_conn *conn = calloc(1, sizeof(*conn));
    if (conn == NULL)
        return NULL;
    conn->fd[CHAOS_THERE] = fd;
    conn->fd[CHAOS_BACK] = -1;
    conn->path = path;
    conn->master = master;
    conn->half_opens = atomic_load(&path->half_opens);
    conn->resets = atomic_load(&path->resets);
    atomic_fetch_add(&path->connections, 1);
    return conn;
}

static void close_socket(int fd, bool reset)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    if (fd < 0)
        return;
    if (reset)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(fd);
}

void chaos_proxy_conn_free(struct chaos_proxy_conn *conn, bool reset)
{
    if (reset)
        atomic_fetch_add(&conn->path->reset, 1);
    atomic_fetch_sub(&conn->path->connections, 1);
    close_socket(conn->fd[CHAOS_THERE], reset);
    close_socket(conn->fd[CHAOS_BACK], reset);
    free(conn);
}

static enum chaos_pass passing(const struct chaos_proxy_conn *conn, enum chaos_way way)
{
    return (enum chaos_pass)atomic_load(&conn->path->pass[way]);
}

/* ---- the master's end ----------------------------------------------------------------- */

static bool begin_to_connect(struct chaos_proxy_conn *conn)
{
    int on = 1;
    int family = conn->master->address.ss_family;
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    if (family != AF_UNIX)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    conn->fd[CHAOS_BACK] = fd;
    if (connect(fd, (const struct sockaddr *)&conn->master->address, conn->master->len) == 0)
        return true;
    /* A unix socket whose backlog is full says EAGAIN, and there is no waiting for it. */
    conn->connecting = errno == EINPROGRESS;
    return conn->connecting;
}

/* False: the master can't be reached. */
static bool go_on_connecting(struct chaos_proxy_conn *conn)
{
    int error = 0;
    socklen_t len = sizeof(error);
    struct sockaddr_storage peer;
    socklen_t peer_len = sizeof(peer);
    int fd = conn->fd[CHAOS_BACK];
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0 || error != 0)
        return false;
    conn->connecting = getpeername(fd, (struct sockaddr *)&peer, &peer_len) != 0;
    return true;
}

/* ---- bytes ---------------------------------------------------------------------------- */

static bool has_room(const struct chaos_stream *stream)
{
    return !stream->ended && stream->len < CHAOS_CONN_ROOM && stream->marks < CHAOS_CONN_MARKS;
}

static void take(struct chaos_proxy_conn *conn, enum chaos_way way, int64_t now_ns)
{
    struct chaos_stream *stream = &conn->stream[way];
    char *to = stream->bytes + stream->len;
    ssize_t got = recv(conn->fd[way], to, CHAOS_CONN_ROOM - stream->len, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        stream->ended = true;
        return;
    }
    atomic_fetch_add(&conn->path->came[way], (uint64_t)got);
    if (passing(conn, way) == CHAOS_VANISHES) {
        atomic_fetch_add(&conn->path->lost[way], (uint64_t)got);
        conn->torn = true;
        return;
    }
    stream->mark[stream->marks].due_ns =
        now_ns + atomic_load(&conn->path->delay_ms) * RL_NS_PER_MS;
    stream->mark[stream->marks++].len = (size_t)got;
    stream->len += (size_t)got;
}

static void drop_front(struct chaos_stream *stream, size_t len)
{
    assert(len <= stream->len);
    stream->len -= len;
    memmove(stream->bytes, stream->bytes + len, stream->len);
    while (len > 0) {
        size_t part = len < stream->mark[0].len ? len : stream->mark[0].len;
        len -= part;
        stream->mark[0].len -= part;
        if (stream->mark[0].len == 0)
            memmove(stream->mark, stream->mark + 1, --stream->marks * sizeof(stream->mark[0]));
    }
}

static size_t due(const struct chaos_stream *stream, int64_t now_ns)
{
    size_t len = 0;
    for (unsigned i = 0; i < stream->marks && stream->mark[i].due_ns <= now_ns; i++)
        len += stream->mark[i].len;
    return len;
}

/* False: the other end takes nothing any more. */
static bool give(struct chaos_proxy_conn *conn, enum chaos_way way, int64_t now_ns,
                 int64_t *due_ns)
{
    struct chaos_stream *stream = &conn->stream[way];
    bool split = atomic_load(&conn->path->split);
    size_t len = due(stream, now_ns);
    stream->full = false;
    if (len > 0) {
        int to = conn->fd[way == CHAOS_THERE ? CHAOS_BACK : CHAOS_THERE];
        ssize_t sent = send(to, stream->bytes, split ? 1 : len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        stream->full = sent < 0;
        if (sent > 0) {
            atomic_fetch_add(&conn->path->went[way], (uint64_t)sent);
            atomic_fetch_add(&conn->path->parts[way], 1);
            drop_front(stream, (size_t)sent);
        }
    }
    if (stream->marks > 0 && !stream->full) {
        int64_t next_ns = stream->mark[0].due_ns;
        if (split && next_ns < now_ns + SPLIT_NS)
            next_ns = now_ns + SPLIT_NS;
        if (next_ns < *due_ns)
            *due_ns = next_ns;
    }
    return true;
}

static bool move_way(struct chaos_proxy_conn *conn, enum chaos_way way, int64_t now_ns,
                     int64_t *due_ns)
{
    struct chaos_stream *stream = &conn->stream[way];
    enum chaos_pass pass = passing(conn, way);
    bool master = conn->fd[CHAOS_BACK] >= 0 && !conn->connecting;
    if (pass == CHAOS_STANDS)
        return true;
    if (has_room(stream) && conn->fd[way] >= 0 && (way == CHAOS_THERE || master))
        take(conn, way, now_ns);
    if (pass == CHAOS_VANISHES) {
        /* The news that the master has closed the connection is lost as well. */
        conn->torn = conn->torn || stream->ended;
        return !stream->ended || way == CHAOS_BACK;
    }
    if (master && !give(conn, way, now_ns, due_ns))
        return false;
    return !stream->ended || stream->len > 0;
}

/* ---- the whole ------------------------------------------------------------------------ */

/* Half open: the proxy takes all bytes, and keeps the connection for as long as the contender
 * does. */
static bool is_left(struct chaos_proxy_conn *conn)
{
    ssize_t got;
    do {
        got = recv(conn->fd[CHAOS_THERE], conn->stream[CHAOS_THERE].bytes, CHAOS_CONN_ROOM,
                   MSG_DONTWAIT);
        if (got > 0) {
            atomic_fetch_add(&conn->path->came[CHAOS_THERE], (uint64_t)got);
            atomic_fetch_add(&conn->path->lost[CHAOS_THERE], (uint64_t)got);
        }
    } while (got > 0 || (got < 0 && errno == EINTR));
    return got == 0 || errno != EAGAIN;
}

bool chaos_proxy_conn_move(struct chaos_proxy_conn *conn, int64_t now_ns, int64_t *due_ns,
                           bool *ret_reset)
{
    struct chaos_path *path = conn->path;
    enum chaos_pass there = passing(conn, CHAOS_THERE), back = passing(conn, CHAOS_BACK);
    *ret_reset = true;
    if (conn->resets != atomic_load(&path->resets))
        return false;
    if (conn->half_opens != atomic_load(&path->half_opens))
        conn->dead = true;
    if (conn->dead)
        return !is_left(conn);
    if (conn->torn && there == CHAOS_PASSES && back == CHAOS_PASSES)
        return false;
    /* A connection is made where its packets pass both ways; lost replies are the exception,
     * or there would be nothing to lose. */
    if (conn->fd[CHAOS_BACK] < 0 && there == CHAOS_PASSES && back != CHAOS_STANDS &&
        !begin_to_connect(conn))
        return false;
    if (conn->connecting && !go_on_connecting(conn))
        return false;
    *ret_reset = false;
    return move_way(conn, CHAOS_THERE, now_ns, due_ns) &&
           move_way(conn, CHAOS_BACK, now_ns, due_ns);
}

uint32_t chaos_proxy_conn_interest(const struct chaos_proxy_conn *conn, enum chaos_way end)
{
    enum chaos_way out = end == CHAOS_THERE ? CHAOS_BACK : CHAOS_THERE;
    if (conn->dead)
        return end == CHAOS_THERE ? EPOLLIN : 0;
    if (end == CHAOS_BACK && conn->connecting)
        return EPOLLOUT;
    uint32_t events = 0;
    if (passing(conn, end) != CHAOS_STANDS && has_room(&conn->stream[end]))
        events |= EPOLLIN;
    if (conn->stream[out].full && passing(conn, out) == CHAOS_PASSES)
        events |= EPOLLOUT;
    return events;
}
