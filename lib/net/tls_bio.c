/* tls_bio.c - OpenSSL's way to the socket. OpenSSL's own BIO calls write(), which raises
 * SIGPIPE once the other side has gone. A library must not rely on the application to ignore
 * that. */
#include "config_auto.h"

#include "net/tls_internal.h"

#include <assert.h>
#include <errno.h>
#include <sys/socket.h>

static bool must_wait(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK;
}

static int wire_write(BIO *bio, const char *bytes, int len)
{
    struct rl_tls *tls = BIO_get_data(bio);
    ssize_t sent;

    assert(len >= 0);
    BIO_clear_retry_flags(bio);
    do
        sent = send(tls->fd, bytes, (size_t)len, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent >= 0)
        return (int)sent;
    if (must_wait(errno))
        BIO_set_retry_write(bio);
    else
        tls->system_error = errno;
    return -1;
}

static int wire_read(BIO *bio, char *bytes, int len)
{
    struct rl_tls *tls = BIO_get_data(bio);
    ssize_t got;

    assert(len >= 0);
    BIO_clear_retry_flags(bio);
    do
        got = recv(tls->fd, bytes, (size_t)len, 0);
    while (got < 0 && errno == EINTR);
    if (got > 0)
        return (int)got;
    if (got == 0)
        tls->end_of_stream = true;
    else if (must_wait(errno))
        BIO_set_retry_read(bio);
    else
        tls->system_error = errno;
    return got == 0 ? 0 : -1;
}

static long wire_control(BIO *bio, int command, long number, void *pointer)
{
    const struct rl_tls *tls = BIO_get_data(bio);

    (void)number;
    (void)pointer;
    switch (command) {
    case BIO_CTRL_FLUSH: /* this BIO never holds bytes back */
        return 1;
    case BIO_CTRL_EOF:
        return tls->end_of_stream;
    default:
        return 0;
    }
}

BIO_METHOD *rl_tls_wire_new(void)
{
    /* It needs no type index of its own: nobody searches for this kind of BIO, and the indexes
     * are few. */
    BIO_METHOD *wire = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "redlock socket");

    if (!wire)
        return NULL;
    if (BIO_meth_set_write(wire, wire_write) != 1 || BIO_meth_set_read(wire, wire_read) != 1 ||
        BIO_meth_set_ctrl(wire, wire_control) != 1) {
        BIO_meth_free(wire);
        return NULL;
    }
    return wire;
}
