/* sim_socket.c - the calls on sockets: TCP over IPv4 that never blocks, which is what the
 * library uses where names are looked up by the simulator. Errors and readiness are Linux's.
 */
#include "config_auto.h"

#include "sim_fiber.h"
#include "sim_net_parts.h"
#include "sim_real.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

enum {
    IDLE_S = 7200, /* of SO_KEEPALIVE, where nothing else is asked for */
    EVERY_S = 75,
    NET_OF_MASTERS = 0x0a000001, /* 10.0.0.1 and on */
    NET_OF_CLIENTS = 0x0a010001
};

static int fail(int error)
{
    errno = error;
    return -1;
}

static struct sim_socket *socket_of(struct sim_file *file)
{
    assert(file->kind == SIM_FILE_SOCKET);
    return &file->as.socket;
}

/* ---- readiness ------------------------------------------------------------------------ */

static size_t readable(const struct sim_socket *socket)
{
    const struct sim_conn *conn = socket->conn;
    return conn ? conn->pipe[SIM_BACK].come - conn->pipe[SIM_BACK].start : 0;
}

static uint32_t connected_events(const struct sim_socket *socket)
{
    uint32_t events = 0;
    bool no_more_in = socket->ended || socket->no_more_in;
    if (readable(socket) > 0 || no_more_in)
        events |= EPOLLIN | EPOLLRDNORM;
    if (no_more_in)
        events |= EPOLLRDHUP;
    /* As Linux has it: a third must be free before a writer is called. */
    if (socket->no_more_out ||
        sim_conn_room(socket->conn) * 3 >= socket->conn->route->path.send_buffer)
        events |= EPOLLOUT | EPOLLWRNORM;
    if (no_more_in && socket->no_more_out)
        events |= EPOLLHUP;
    return events;
}

void sim_socket_update(struct sim_file *file)
{
    const struct sim_socket *socket = &file->as.socket;
    uint32_t events = 0;
    switch (socket->state) {
    case SIM_FRESH:
        events = EPOLLOUT | EPOLLWRNORM | EPOLLHUP;
        break;
    case SIM_CONNECTING:
        break;
    case SIM_CONNECTED:
        events = connected_events(socket);
        break;
    case SIM_OVER:
        events = EPOLLIN | EPOLLRDNORM | EPOLLRDHUP | EPOLLOUT | EPOLLWRNORM | EPOLLHUP;
        break;
    }
    sim_file_ready(file, socket->error ? events | EPOLLERR : events);
}

/* The error that waits for somebody to ask; 0: none. It is told once. */
static int take_error(struct sim_file *file)
{
    struct sim_socket *socket = &file->as.socket;
    int error = socket->error;
    if (error != 0) {
        socket->error = 0;
        sim_socket_update(file);
    }
    return error;
}

/* ---- connecting ----------------------------------------------------------------------- */

int sim_bound_socket(int family, int type, int protocol)
{
    if (!sim_proc())
        return sim_real_socket(family, type, protocol);
    sim_system_call();
    assert(family == AF_INET && type == (SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC) &&
           protocol == 0);
    struct sim_file *file = sim_file_new(SIM_FILE_SOCKET);
    if (!file)
        return -1;
    file->as.socket.idle_ns = IDLE_S * SIM_S;
    file->as.socket.every_ns = EVERY_S * SIM_S;
    sim_socket_update(file);
    return file->fd;
}

int sim_bound_connect(int fd, const struct sockaddr *address, socklen_t len)
{
    struct sim_file *file = sim_file(fd);
    struct sockaddr_in to;
    if (!file)
        return sim_real_connect(fd, address, len);
    struct sim_socket *socket = socket_of(file);
    if (address->sa_family == AF_UNSPEC) {
        if (socket->state == SIM_CONNECTED && !socket->conn->route->path.relay)
            sim_conn_reset(socket->conn);
        return 0;
    }
    assert(len == sizeof(to) && address->sa_family == AF_INET);
    memcpy(&to, address, sizeof(to));
    uint32_t master = ntohl(to.sin_addr.s_addr) - NET_OF_MASTERS;
    if (socket->state == SIM_CONNECTING)
        return fail(EALREADY);
    if (socket->state == SIM_CONNECTED)
        return fail(EISCONN);
    if (socket->state == SIM_OVER)
        return fail(ECONNABORTED);
    if (master >= SIM_MASTERS_MAX || ntohs(to.sin_port) != SIM_PORT || file->proc->crashed)
        return fail(ENETUNREACH);
    socket->port = (uint16_t)(SIM_PORTS_FROM + ++file->proc->fds->port % SIM_PORTS_FROM);
    sim_conn_connect(file, master);
    sim_socket_update(file);
    return fail(EINPROGRESS);
}

static int give_address(uint32_t host, uint16_t port, struct sockaddr *ret_address,
                        socklen_t *ret_len)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(host)};
    assert(*ret_len >= sizeof(address));
    memcpy(ret_address, &address, sizeof(address));
    *ret_len = sizeof(address);
    return 0;
}

int sim_bound_getsockname(int fd, struct sockaddr *ret_address, socklen_t *ret_len)
{
    struct sim_file *file = sim_file(fd);
    if (!file)
        return sim_real_getsockname(fd, ret_address, ret_len);
    return give_address(NET_OF_CLIENTS + file->proc->index, socket_of(file)->port, ret_address,
                        ret_len);
}

int sim_bound_getpeername(int fd, struct sockaddr *ret_address, socklen_t *ret_len)
{
    struct sim_file *file = sim_file(fd);
    if (!file)
        return sim_real_getpeername(fd, ret_address, ret_len);
    const struct sim_socket *socket = socket_of(file);
    if (socket->state != SIM_CONNECTED)
        return fail(ENOTCONN);
    return give_address(NET_OF_MASTERS + socket->conn->route->master, SIM_PORT, ret_address,
                        ret_len);
}

/* ---- options -------------------------------------------------------------------------- */

int sim_bound_getsockopt(int fd, int level, int option, void *ret_value, socklen_t *ret_len)
{
    struct sim_file *file = sim_file(fd);
    if (!file)
        return sim_real_getsockopt(fd, level, option, ret_value, ret_len);
    assert(level == SOL_SOCKET && option == SO_ERROR && *ret_len == sizeof(int));
    socket_of(file);
    int error = take_error(file);
    memcpy(ret_value, &error, sizeof(error));
    return 0;
}

/* Those that change nothing here succeed. */
int sim_bound_setsockopt(int fd, int level, int option, const void *bytes, socklen_t len)
{
    struct sim_file *file = sim_file(fd);
    int value;
    if (!file)
        return sim_real_setsockopt(fd, level, option, bytes, len);
    struct sim_socket *socket = socket_of(file);
    if (len != sizeof(value))
        return 0;
    memcpy(&value, bytes, sizeof(value));
    if (level == SOL_SOCKET && option == SO_KEEPALIVE)
        socket->keepalive = value != 0;
    else if (level == IPPROTO_TCP && option == TCP_USER_TIMEOUT)
        socket->user_timeout_ns = value * SIM_MS;
    else if (level == IPPROTO_TCP && option == TCP_KEEPIDLE)
        socket->idle_ns = value * SIM_S;
    else if (level == IPPROTO_TCP && option == TCP_KEEPINTVL)
        socket->every_ns = value * SIM_S;
    return 0;
}

/* ---- bytes ---------------------------------------------------------------------------- */

ssize_t sim_bound_send(int fd, const void *bytes, size_t len, int flags)
{
    struct sim_file *file = sim_file(fd);
    if (!file)
        return sim_real_send(fd, bytes, len, flags);
    const struct sim_socket *socket = socket_of(file);
    assert(flags == MSG_NOSIGNAL && len > 0);
    int error = take_error(file);
    if (error)
        return fail(error);
    if (socket->state == SIM_FRESH || socket->state == SIM_OVER || socket->no_more_out)
        return fail(EPIPE);
    if (socket->state == SIM_CONNECTING)
        return fail(EAGAIN);
    if (sim_chance(socket->conn->route->path.short_write_ppm))
        len = sim_below(4) == 0 ? 0 : (size_t)sim_below(len);
    size_t sent = sim_conn_send(socket->conn, bytes, len);
    sim_socket_update(file);
    return sent > 0 ? (ssize_t)sent : fail(EAGAIN);
}

/* Is it to be stopped here? */
static void begin_recv(void)
{
    struct sim_proc *proc = sim_proc();
    if (!proc || proc->parts->stop_recv_ns == 0)
        return;
    int64_t for_ns = proc->parts->stop_recv_ns;
    proc->parts->stop_recv_ns = 0;
    sim_proc_pause(proc, for_ns);
}

ssize_t sim_bound_recv(int fd, void *bytes, size_t len, int flags)
{
    begin_recv();
    struct sim_file *file = sim_file(fd);
    if (!file)
        return sim_real_recv(fd, bytes, len, flags);
    const struct sim_socket *socket = socket_of(file);
    size_t there_is = readable(socket);
    assert(flags == 0 && len > 0);
    if (there_is == 0) {
        int error = take_error(file);
        if (error)
            return fail(error);
        if (socket->state == SIM_FRESH)
            return fail(ENOTCONN);
        return socket->state == SIM_OVER || socket->ended || socket->no_more_in ? 0
                                                                                : fail(EAGAIN);
    }
    if (len > there_is)
        len = there_is;
    if (len > 1 && sim_chance(socket->conn->route->path.short_read_ppm))
        len = 1 + (size_t)sim_below(len - 1);
    sim_pipe_take(&socket->conn->pipe[SIM_BACK], bytes, len);
    sim_socket_update(file);
    return (ssize_t)len;
}

int sim_bound_shutdown(int fd, int how)
{
    struct sim_file *file = sim_file(fd);
    if (!file)
        return sim_real_shutdown(fd, how);
    struct sim_socket *socket = socket_of(file);
    assert(how == SHUT_RDWR || how == SHUT_WR);
    if (socket->state == SIM_FRESH || socket->state == SIM_OVER)
        return fail(ENOTCONN);
    if (socket->state == SIM_CONNECTING) {
        sim_conn_break(socket->conn, 0); /* and no connection comes of it */
        return 0;
    }
    if (!socket->no_more_out)
        sim_conn_finish(socket->conn);
    socket->no_more_out = true;
    socket->no_more_in = socket->no_more_in || how == SHUT_RDWR;
    sim_socket_update(file);
    return 0;
}
