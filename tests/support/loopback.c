/* loopback.c - see loopback.h. */
#include "config_auto.h"

#include "loopback.h"

#include "suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

union name {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static socklen_t fill(union name *ret_name, const char *address, int port)
{
    memset(ret_name, 0, sizeof(*ret_name));
    if (inet_pton(AF_INET, address, &ret_name->v4.sin_addr) == 1) {
        ret_name->v4.sin_family = AF_INET;
        ret_name->v4.sin_port = htons((in_port_t)port);
        return sizeof(ret_name->v4);
    }
    if (inet_pton(AF_INET6, address, &ret_name->v6.sin6_addr) != 1)
        suite_die("%s is no address", address);
    ret_name->v6.sin6_family = AF_INET6;
    ret_name->v6.sin6_port = htons((in_port_t)port);
    return sizeof(ret_name->v6);
}

int loopback_listen(const char *address, int port, int backlog)
{
    const int on = 1;
    union name name;
    socklen_t len = fill(&name, address, port);
    int fd = socket(name.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (fd < 0 || bind(fd, &name.any, len) != 0 || listen(fd, backlog) != 0)
        suite_die("listen on %s:%d: %s", address, port, strerror(errno));
    return fd;
}

int loopback_black_hole(const char *address, int port)
{
    union name name;
    socklen_t len = fill(&name, address, port);
    int listens = loopback_listen(address, port, 0);
    for (int i = 0; i < 8; i++) {
        /* Not by connect(), which a test may have a stand-in for. */
        int fd = socket(name.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        syscall(SYS_connect, fd, &name, len);
        struct pollfd ready = {.fd = fd, .events = POLLOUT};
        if (poll(&ready, 1, 100) == 0)
            return listens;
    }
    suite_die("%s still answers", address);
}

const char *loopback_text(const char *format, int port)
{
    static char text[512];
    size_t len = 0;
    text[0] = '\0';
    for (const char *rest = format; *rest && len < sizeof(text);) {
        const char *mark = strstr(rest, "%d");
        int part = mark ? (int)(mark - rest) : (int)strlen(rest);
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%.*s", part, rest);
        rest += part;
        if (mark && len < sizeof(text)) {
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%d", port);
            rest += 2;
        }
    }
    return text;
}
