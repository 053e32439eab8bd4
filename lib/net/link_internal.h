/* link_internal.h - what link*.c share. */
#ifndef RL_LINK_INTERNAL_H
#define RL_LINK_INTERNAL_H

#include "net/link.h"
#include "net/resolve.h"
#include "net/tls.h"

#define RL_LINK_TEXT_MAX 256
#define RL_LINK_WHERE_MAX 128 /* an address or a socket's path, as text */

/* A silent peer is given up after this time, whether we were sending or not. It is far longer
 * than any round: rounds have deadlines of their own. */
#define RL_LINK_DEAD_AFTER_MS 30000
#define RL_LINK_PROBE_AFTER_S 10
#define RL_LINK_PROBE_EVERY_S 5

/* How often a unix socket with a full backlog is tried: no event says that there is room. */
#define RL_LINK_BACKLOG_RETRY_NS (5 * RL_NS_PER_MS)

/* A silent address is tried once more, beside the tries under way. The kernel alone repeats SYN
 * after 1, 3 and 7 s, and would find a recovered path that much later. The first try stays, for
 * an address that is merely far. */
#define RL_LINK_AGAIN_NS (250 * RL_NS_PER_MS)
#define RL_LINK_TRIES 4

struct rl_link {
    const struct rl_node_config *node;
    struct rl_tls_context *tls_context;
    void *tag;
    int epoll_fd;
    int wake_fd;

    enum rl_link_state state;
    int fd;                       /* -1: none */
    int older[RL_LINK_TRIES - 1]; /* CONNECTING: earlier tries of the address, newest first */
    bool registered;              /* fd is in the epoll set, as all older ones are */
    uint32_t watched;             /* for these events */
    bool blocked;
    bool blocked_on_input; /* rare: TLS waits for a message of its own */
    bool holds_more;       /* TLS has read more than was asked for */
    struct rl_tls *tls;

    int64_t deadline_ns; /* of the whole connect */
    int64_t due_ns;      /* of the present step */
    int64_t share_ns;    /* CONNECTING, SECURING: the end of this address' share */
    bool numeric;        /* the addresses are the node's own, never looked up */
    struct rl_lookup *lookup;
    struct rl_addresses addresses; /* the last that were found */
    unsigned next_address;
    rl_order_fn *order; /* NULL: as they were found */
    void *order_context;

    char where[RL_LINK_WHERE_MAX]; /* the address tried now, or last */
    char text[RL_LINK_TEXT_MAX];
};

/* link_connect.c: everything from rl_link_open() up to OPEN. */
void rl_link_connect(struct rl_link *link, int64_t now_ns);
void rl_link_connect_step(struct rl_link *link, uint32_t events, int64_t now_ns);

/* link_race.c */

/* Try the same address on a further socket. If there is no room, the oldest socket but the
 * first is closed. The first one stays, because a far address needs more time than the others
 * have. */
void rl_link_race_again(struct rl_link *link, int64_t now_ns);

/* 0: one is connected, and the others are closed. EINPROGRESS: none yet. Else the errno of the
 * failure. */
int rl_link_race_error(struct rl_link *link);

/* link_socket.c */

/* Begin to connect. 0: the epoll set will tell. Else an errno. */
int rl_link_start_socket(struct rl_link *link, const struct sockaddr *address, socklen_t len);

/* 0: connected. EINPROGRESS: not yet. Else why not. */
int rl_socket_error(int fd);

/* True if the next address would fail in the same way. */
bool rl_socket_is_shortage(int error);

/* Watch for these events from now on. False: the system refused; errno is set. */
bool rl_link_watch(struct rl_link *link, uint32_t events);

/* Drop the bytes that were sent and not delivered yet. */
void rl_link_reset(struct rl_link *link);

/* Close all sockets, and the TLS session. */
void rl_link_drop(struct rl_link *link);

/* Take one socket out of the epoll set, and close it. */
void rl_link_drop_fd(struct rl_link *link, int fd, bool registered);

/* The only place that changes the state. */
void rl_link_set_state(struct rl_link *link, enum rl_link_state state);

/* Add "where: what" to the text: each address may fail for a reason of its own. */
void rl_link_note(struct rl_link *link, const char *where, const char *what);

/* Drop the socket and be FAILED. The text is there already. */
void rl_link_fail(struct rl_link *link);

#endif
