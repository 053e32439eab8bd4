/* link.c - a link's life, and its bytes once it is open. link_connect.c opens it.
 *
 * While all goes well a send is one send() and a receive one recv(). The epoll set is touched
 * only when the kernel takes no more and when it does again.
 */
#include "config_auto.h"

#include "net/link_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

struct rl_link *rl_link_new(const struct rl_node_config *node, struct rl_tls_context *tls,
                            int epoll_fd, int wake_fd, void *tag)
{
    assert(epoll_fd >= 0 && wake_fd >= 0);
    assert((node->transport == RL_TLS) == (tls != NULL));

    struct rl_link *link = calloc(1, sizeof(*link));
    if (!link)
        return NULL;
    link->node = node;
    link->tls_context = tls;
    link->tag = tag;
    link->epoll_fd = epoll_fd;
    link->wake_fd = wake_fd;
    link->fd = -1;
    for (unsigned i = 0; i < RL_LINK_TRIES - 1; i++)
        link->older[i] = -1;
    link->due_ns = INT64_MAX;
    if (node->transport != RL_UNIX && node->host)
        link->numeric = rl_resolve_numeric(node->host, node->port, &link->addresses);
    return link;
}

void rl_link_readdress(struct rl_link *link)
{
    assert(link->state == RL_LINK_IDLE && link->node->host);
    rl_lookup_abandon(link->lookup);
    link->lookup = NULL;
    link->addresses = (struct rl_addresses){.count = 0};
    link->numeric =
        rl_resolve_numeric(link->node->host, link->node->port, &link->addresses);
}

void rl_link_free(struct rl_link *link)
{
    if (!link)
        return;
    rl_link_close(link);
    rl_lookup_abandon(link->lookup);
    free(link);
}

void rl_link_free_in_child(struct rl_link *link)
{
    if (!link)
        return;
    /* The parent uses the same epoll set: removing the socket here would remove it there.
     * Closing our copy of the descriptor is harmless. */
    rl_tls_free_quietly(link->tls);
    if (link->fd >= 0)
        close(link->fd);
    for (unsigned i = 0; i < RL_LINK_TRIES - 1; i++) {
        if (link->older[i] >= 0)
            close(link->older[i]);
    }
    rl_lookup_free_in_child(link->lookup);
    free(link);
}

void rl_link_open(struct rl_link *link, int64_t now_ns, int64_t deadline_ns)
{
    assert(link->state == RL_LINK_IDLE);
    assert(link->fd < 0 && !link->tls);
    assert(!link->registered && !link->blocked && link->older[0] < 0); /* rl_link_drop() */
    link->text[0] = '\0';
    link->deadline_ns = deadline_ns;
    rl_link_connect(link, now_ns);
}

void rl_link_close(struct rl_link *link)
{
    /* Keep a look-up under way: the next open can join it. A resolver that hangs then costs one
     * thread a link, not one a try. */
    rl_link_drop(link);
    rl_link_set_state(link, RL_LINK_IDLE);
    link->due_ns = INT64_MAX;
    link->text[0] = '\0';
}

void rl_link_abort(struct rl_link *link)
{
    rl_link_reset(link);
    rl_link_close(link);
}

void rl_link_set_order(struct rl_link *link, rl_order_fn *order, void *context)
{
    link->order = order;
    link->order_context = context;
}

const struct rl_addresses *rl_link_addresses(const struct rl_link *link)
{
    return &link->addresses;
}

const struct rl_address *rl_link_address(const struct rl_link *link)
{
    assert(link->state == RL_LINK_OPEN);
    return link->next_address > 0 ? &link->addresses.list[link->next_address - 1] : NULL;
}

enum rl_link_state rl_link_state(const struct rl_link *link)
{
    return link->state;
}

const char *rl_link_text(const struct rl_link *link)
{
    return link->text;
}

int64_t rl_link_tls_left_s(const struct rl_link *link)
{
    return link->tls ? rl_tls_left_s(link->tls) : -1;
}

int64_t rl_link_due_ns(const struct rl_link *link)
{
    return link->due_ns;
}

bool rl_link_blocked(const struct rl_link *link)
{
    return link->blocked;
}

static ssize_t fail_with(struct rl_link *link, const char *what)
{
    assert(link->state == RL_LINK_OPEN && what[0]);
    rl_link_note(link, link->where, what);
    rl_link_fail(link);
    return -1;
}

static ssize_t fail_with_errno(struct rl_link *link)
{
    char what[96];

    snprintf(what, sizeof(what), "%m");
    return fail_with(link, what);
}

/* The link is OPEN. Bytes that TLS has read already don't make the socket readable. It is
 * writable nearly always, so watching for that brings the loop back at once. */
static bool watch_open(struct rl_link *link)
{
    uint32_t events = EPOLLIN;
    assert(link->state == RL_LINK_OPEN);

    if (link->blocked && !link->blocked_on_input)
        events |= EPOLLOUT;
    if (link->holds_more)
        events |= EPOLLWRNORM;
    return rl_link_watch(link, events);
}

/* The link takes no bytes until the socket is ready. Returns `taken`, or -1. */
static ssize_t block(struct rl_link *link, bool on_input, ssize_t taken)
{
    link->blocked = true;
    link->blocked_on_input = on_input;
    return watch_open(link) ? taken : fail_with_errno(link);
}

/* Turn the result of a TLS send or receive of `moved` bytes into ours. */
static ssize_t after_tls(struct rl_link *link, enum rl_tls_result result, size_t moved)
{
    switch (result) {
    case RL_TLS_WANT_WRITE:
        return block(link, false, (ssize_t)moved);
    case RL_TLS_FAILED:
        return fail_with(link, rl_tls_text(link->tls));
    default:
        return (ssize_t)moved;
    }
}

static ssize_t send_tls(struct rl_link *link, const void *bytes, size_t len)
{
    size_t sent;
    enum rl_tls_result result = rl_tls_send(link->tls, bytes, len, &sent);

    if (result == RL_TLS_WANT_READ)
        return block(link, true, (ssize_t)sent);
    return after_tls(link, result, sent);
}

ssize_t rl_link_send(struct rl_link *link, const void *bytes, size_t len)
{
    ssize_t sent;

    assert(link->state == RL_LINK_OPEN);
    assert(len > 0);
    if (link->tls)
        return send_tls(link, bytes, len);
    do
        sent = send(link->fd, bytes, len, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent == (ssize_t)len)
        return sent;
    if (sent >= 0)
        return block(link, false, sent);
    if (errno == EAGAIN || errno == EWOULDBLOCK)
        return block(link, false, 0);
    /* The server has closed. It may have said why, and reading finds the end behind that. */
    if (errno == EPIPE)
        return block(link, true, 0);
    return fail_with_errno(link);
}

static ssize_t recv_tls(struct rl_link *link, void *bytes, size_t len)
{
    size_t got;
    enum rl_tls_result result = rl_tls_recv(link->tls, bytes, len, &got);
    bool holds_more = got == len && rl_tls_holds_more(link->tls);

    if (holds_more != link->holds_more) {
        link->holds_more = holds_more;
        if (!watch_open(link))
            return fail_with_errno(link);
    }
    return after_tls(link, result, got);
}

ssize_t rl_link_recv(struct rl_link *link, void *bytes, size_t len)
{
    ssize_t got;

    assert(link->state == RL_LINK_OPEN);
    assert(len > 0);
    if (link->tls)
        return recv_tls(link, bytes, len);
    do
        got = recv(link->fd, bytes, len, 0);
    while (got < 0 && errno == EINTR);
    if (got > 0)
        return got;
    if (got == 0)
        return fail_with(link, "closed by the server");
    if (errno == EAGAIN || errno == EWOULDBLOCK)
        return 0;
    return fail_with_errno(link);
}

/* The event that the link was blocked on may have come. */
static void unblock(struct rl_link *link, uint32_t events)
{
    assert(link->state == RL_LINK_OPEN && link->blocked);
    if (link->tls) {
        size_t sent;
        enum rl_tls_result result = rl_tls_send(link->tls, NULL, 0, &sent);
        if (result == RL_TLS_WANT_READ)
            block(link, true, 0);
        else if (result != RL_TLS_OK)
            after_tls(link, result, 0);
        if (result != RL_TLS_OK)
            return;
    } else if ((events & EPOLLOUT) == 0) {
        return;
    }
    link->blocked = false;
    if (!watch_open(link))
        fail_with_errno(link);
}

static void step_open(struct rl_link *link, uint32_t events)
{
    /* If something is left to read, reading finds the end. */
    if ((events & (EPOLLERR | EPOLLHUP)) != 0 && (events & EPOLLIN) == 0) {
        int error = 0;
        socklen_t size = sizeof(error);
        struct sockaddr_storage peer;
        socklen_t peer_len = sizeof(peer);
        getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &error, &size);
        /* The event may have been meant for a socket that lost the race to this one. */
        if (link->node->transport != RL_UNIX && error == 0 &&
            getpeername(link->fd, (struct sockaddr *)&peer, &peer_len) == 0)
            return;
        errno = error != 0 ? error : ECONNRESET;
        fail_with_errno(link);
    } else if (link->blocked && (events & (EPOLLIN | EPOLLOUT)) != 0) {
        unblock(link, events);
    }
}

void rl_link_step(struct rl_link *link, unsigned epoll_events, int64_t now_ns)
{
    if (link->state == RL_LINK_OPEN)
        step_open(link, epoll_events);
    else if (link->state != RL_LINK_IDLE && link->state != RL_LINK_FAILED)
        rl_link_connect_step(link, epoll_events, now_ns);
}
