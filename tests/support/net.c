/* net.c - see net.h. */
#include "config_auto.h"

#include "net.h"

#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

union address {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_un un;
};

static socklen_t fill(union address *ret, const struct endpoint *endpoint)
{
    memset(ret, 0, sizeof(*ret));
    if (endpoint->path[0]) {
        ret->un.sun_family = AF_UNIX;
        snprintf(ret->un.sun_path, sizeof(ret->un.sun_path), "%s", endpoint->path);
        return sizeof(ret->un);
    }
    ret->in.sin_family = AF_INET;
    ret->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ret->in.sin_port = htons((unsigned short)endpoint->port);
    return sizeof(ret->in);
}

static int new_socket(const struct endpoint *endpoint)
{
    int family = endpoint->path[0] ? AF_UNIX : AF_INET;
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    int on = 1;
    if (family == AF_INET)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return fd;
}

void endpoint_unix(struct endpoint *ret, const char *dir, const char *file)
{
    ret->port = 0;
    size_t size = sizeof(ret->path);
    if ((size_t)snprintf(ret->path, size, "%s/%s", dir, file) >= size)
        suite_die("%s is too long for a unix socket", dir);
}

void endpoint_url(const struct endpoint *endpoint, char *ret_url)
{
    if (endpoint->path[0])
        snprintf(ret_url, ENDPOINT_URL_MAX, "unix://%s", endpoint->path);
    else
        snprintf(ret_url, ENDPOINT_URL_MAX, "redis://127.0.0.1:%d", endpoint->port);
}

int net_listen(struct endpoint *at, int backlog)
{
    int fd = new_socket(at);
    int on = 1;
    union address address;
    socklen_t len = fill(&address, at);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (at->path[0])
        unlink(at->path);
    if (bind(fd, &address.any, len) < 0 || listen(fd, backlog) < 0)
        suite_die("listen on %s:%d: %s", at->path, at->port, strerror(errno));
    if (!at->path[0]) {
        len = sizeof(address.in);
        getsockname(fd, &address.any, &len);
        at->port = ntohs(address.in.sin_port);
    }
    return fd;
}

int net_free_port(void)
{
    struct endpoint at = {.port = 0};
    close(net_listen(&at, 1));
    return at.port;
}

static int connect_to(const struct endpoint *to, bool wait)
{
    union address address;
    socklen_t len = fill(&address, to);
    int fd = new_socket(to);
    if (fd < 0)
        return -1;
    if (!wait)
        fcntl(fd, F_SETFL, O_NONBLOCK);
    if (connect(fd, &address.any, len) < 0 && (wait || errno != EINPROGRESS)) {
        close(fd);
        return -1;
    }
    return fd;
}

int net_connect(const struct endpoint *to)
{
    return connect_to(to, true);
}

int net_connect_begin(const struct endpoint *to)
{
    return connect_to(to, false);
}

bool net_send(int fd, const void *bytes, size_t len)
{
    const char *at = bytes;
    while (len > 0) {
        ssize_t sent = send(fd, at, len, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return false;
        at += sent;
        len -= (size_t)sent;
    }
    return true;
}

void net_close(int fd, bool reset)
{
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    if (reset)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
    close(fd);
}
