/* proxy_conn.h - one connection through a proxy: two sockets, and the bytes between them. */
#ifndef CHAOS_PROXY_CONN_H
#define CHAOS_PROXY_CONN_H

#include "chaos/place/proxy.h"

#include <sys/socket.h>

#define CHAOS_CONN_ROOM 16384
#define CHAOS_CONN_MARKS 64

/* Where a master listens. */
struct chaos_address {
    struct sockaddr_storage address;
    socklen_t len;
};

/* One direction. Bytes that were read wait here until they are due. A full buffer is not read
 * into. So memory is bounded, and the sender is held up as by a real network. */
struct chaos_stream {
    size_t len;
    unsigned marks;
    struct {
        int64_t due_ns;
        size_t len;
    } mark[CHAOS_CONN_MARKS];
    bool ended; /* there is no more to read */
    bool full;  /* the kernel took no more */
    char bytes[CHAOS_CONN_ROOM];
};

struct chaos_proxy_conn {
    int fd[CHAOS_WAYS]; /* [CHAOS_THERE]: of the contender; [CHAOS_BACK]: of the master, or -1
                         */
    struct chaos_path *path;
    const struct chaos_address *master;
    unsigned half_opens, resets; /* of the path, when it began */
    bool connecting;
    bool dead;                     /* half open: nothing passes any more */
    bool torn;                     /* bytes of it are lost: it can't go on */
    uint32_t interest[CHAOS_WAYS]; /* the events asked of epoll; the owner's */
    struct chaos_stream stream[CHAOS_WAYS];
};

/* Takes the contender's socket. NULL: out of memory, and the socket is the caller's. */
struct chaos_proxy_conn *chaos_proxy_conn_new(int fd, struct chaos_path *path,
                                              const struct chaos_address *master);
void chaos_proxy_conn_free(struct chaos_proxy_conn *conn, bool reset);

/* Move the bytes that can be moved now. False: the connection has ended; `ret_reset` tells how.
 * Lowers `due_ns` to the time of the next call that is needed even if no socket is ready. */
bool chaos_proxy_conn_move(struct chaos_proxy_conn *conn, int64_t now_ns, int64_t *due_ns,
                           bool *ret_reset);

/* The events to wait for at the socket of that end, as epoll has them. */
uint32_t chaos_proxy_conn_interest(const struct chaos_proxy_conn *conn, enum chaos_way end);

#endif
