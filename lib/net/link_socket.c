/* link_socket.c - a link's sockets: open, watch and close them, and say why they failed. */
#include "config_auto.h"

#include "net/link_internal.h"

#include "base/text_escape.h"

#include <assert.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- one socket ----------------------------------------------------------------------- */

/* A failure of these is harmless. */
static void tune(int fd)
{
    const int on = 1, idle_s = RL_LINK_PROBE_AFTER_S, every_s = RL_LINK_PROBE_EVERY_S;
    const unsigned dead_ms = RL_LINK_DEAD_AFTER_MS;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every_s, sizeof(every_s));
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &dead_ms, sizeof(dead_ms));
}

int rl_link_start_socket(struct rl_link *link, const struct sockaddr *address, socklen_t len)
{
    assert(len > 0 && !link->tls);
    if (link->fd < 0) {
        link->fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (link->fd < 0)
            return errno;
        if (address->sa_family != AF_UNIX)
            tune(link->fd);
    }
    /* A signal does not stop a connect that has begun. */
    if (connect(link->fd, address, len) != 0 && errno != EINPROGRESS && errno != EINTR)
        return errno;
    /* If it is connected already, the event comes at once. */
    return rl_link_watch(link, EPOLLOUT) ? 0 : errno;
}

/* If nothing listens on a port of the ephemeral range, the kernel may give it to our own end.
 * TCP then connects the socket to itself, and the master can't get its port back. */
static bool is_own_end(const struct sockaddr_storage *peer, socklen_t peer_len, int fd)
{
    struct sockaddr_storage own;
    socklen_t own_len = sizeof(own);

    if (peer->ss_family != AF_INET && peer->ss_family != AF_INET6)
        return false;
    memset(&own, 0, sizeof(own));
    return getsockname(fd, (struct sockaddr *)&own, &own_len) == 0 && own_len == peer_len &&
           memcmp(&own, peer, own_len) == 0;
}

int rl_socket_error(int fd)
{
    int error = 0;
    socklen_t error_size = sizeof(error);
    struct sockaddr_storage peer;
    socklen_t peer_len = sizeof(peer);
    assert(fd >= 0);

    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &error_size) != 0)
        return errno;
    if (error != 0)
        return error;
    /* The event may have been meant for an earlier socket of this link. */
    memset(&peer, 0, sizeof(peer));
    if (getpeername(fd, (struct sockaddr *)&peer, &peer_len) != 0)
        return errno == ENOTCONN ? EINPROGRESS : errno;
    return is_own_end(&peer, peer_len, fd) ? ECONNREFUSED : 0;
}

bool rl_socket_is_shortage(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/* ---- all of a link's ------------------------------------------------------------------ */

bool rl_link_watch(struct rl_link *link, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = link->tag};

    assert(link->fd >= 0);
    if (link->registered && link->watched == events)
        return true;
    if (epoll_ctl(link->epoll_fd, link->registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, link->fd,
                  &event) != 0)
        return false;
    link->registered = true;
    link->watched = events;
    return true;
}

void rl_link_drop_fd(struct rl_link *link, int fd, bool registered)
{
    assert(fd >= 0);
    /* A forked child may have a copy of the descriptor. The copy would keep the connection and
     * its entry in the epoll set alive after close(). */
    if (registered)
        epoll_ctl(link->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
    shutdown(fd, SHUT_RDWR);
    close(fd);
}

void rl_link_reset(struct rl_link *link)
{
    const struct sockaddr nowhere = {.sa_family = AF_UNSPEC};

    rl_tls_free_quietly(link->tls);
    link->tls = NULL;
    /* Otherwise TCP goes on to send the bytes that are left. SO_LINGER and close() would not
     * do: a forked child may have a copy of the descriptor. */
    if (link->fd >= 0 && link->node->transport != RL_UNIX)
        connect(link->fd, &nowhere, sizeof(nowhere));
}

void rl_link_drop(struct rl_link *link)
{
    rl_tls_free(link->tls);
    link->tls = NULL;
    link->blocked = false;
    link->holds_more = false;
    for (unsigned i = 0; i < RL_LINK_TRIES - 1; i++) {
        if (link->older[i] >= 0)
            rl_link_drop_fd(link, link->older[i], true);
        link->older[i] = -1;
    }
    if (link->fd < 0)
        return;
    rl_link_drop_fd(link, link->fd, link->registered);
    link->fd = -1;
    link->registered = false;
    link->watched = 0;
}

void rl_link_set_state(struct rl_link *link, enum rl_link_state state)
{
    static const unsigned allowed[] = {
        [RL_LINK_IDLE] = 1U << RL_LINK_IDLE | 1U << RL_LINK_RESOLVING |
                         1U << RL_LINK_CONNECTING | 1U << RL_LINK_FAILED,
        [RL_LINK_RESOLVING] =
            1U << RL_LINK_IDLE | 1U << RL_LINK_CONNECTING | 1U << RL_LINK_FAILED,
        [RL_LINK_CONNECTING] = 1U << RL_LINK_IDLE | 1U << RL_LINK_CONNECTING |
                               1U << RL_LINK_SECURING | 1U << RL_LINK_OPEN |
                               1U << RL_LINK_FAILED,
        [RL_LINK_SECURING] = 1U << RL_LINK_IDLE | 1U << RL_LINK_CONNECTING |
                             1U << RL_LINK_OPEN | 1U << RL_LINK_FAILED,
        [RL_LINK_OPEN] = 1U << RL_LINK_IDLE | 1U << RL_LINK_FAILED,
        [RL_LINK_FAILED] = 1U << RL_LINK_IDLE,
    };
    bool has_socket =
        state == RL_LINK_CONNECTING || state == RL_LINK_SECURING || state == RL_LINK_OPEN;
    assert(allowed[link->state] & 1U << state);
    assert(has_socket || (link->fd < 0 && !link->tls));
    link->state = state;
}

void rl_link_note(struct rl_link *link, const char *where, const char *what)
{
    char shown[RL_LINK_WHERE_MAX];
    size_t used = strlen(link->text);
    assert(what[0] && used < sizeof(link->text));

    rl_text_escape(shown, sizeof(shown), where, strlen(where));
    snprintf(link->text + used, sizeof(link->text) - used, "%s%s: %s", used > 0 ? "; " : "",
             shown, what);
}

void rl_link_fail(struct rl_link *link)
{
    assert(link->text[0] != '\0');
    if (link->state == RL_LINK_OPEN)
        rl_link_reset(link);
    rl_link_drop(link);
    rl_link_set_state(link, RL_LINK_FAILED);
    link->due_ns = INT64_MAX;
}
