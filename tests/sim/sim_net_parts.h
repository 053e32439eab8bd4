/* sim_net_parts.h - between the files of the simulated network.
 *
 *   sim_fd.c      the descriptors of a process; read, write, close, eventfd
 *   sim_timerfd.c timerfds
 *   sim_epoll.c   who waits for descriptors
 *   sim_socket.c  the calls on sockets
 *   sim_conn.c    a connection: what its two ends do with it
 *   sim_arrive.c  and what they make of what arrives
 *   sim_pipe.c    one way of it: bytes under way, in order
 *   sim_path.c    what lies between a process and a master, and goes wrong there
 *
 * All of it is taken from pools and given back there, so that a run of many worlds allocates
 * hardly anything.
 */
#ifndef SIM_NET_PARTS_H
#define SIM_NET_PARTS_H

#include "sim_net.h"

#include <stddef.h>
#include <sys/epoll.h>
#include <sys/queue.h>

/* What the network marks: these, and the first letter of what the story says of it. */
enum { SIM_MARK_CONN = 0x1000, SIM_MARK_PATH = 0x2000 };

enum {
    SIM_PORTS_FROM = 32768,      /* ports of the client's ends */
    SIM_ORPHAN_S = 600,          /* a master finds out by itself that a client is gone */
    SIM_GIVE_UP_S = 924,         /* and a kernel, where no TCP_USER_TIMEOUT is set */
    SIM_RETRY_MS = 200,          /* the first retransmission; it doubles */
    SIM_RETRY_CONNECT_MS = 1000, /* likewise of a connect */
    SIM_RETRY_MAX_S = 120
};

/* ---- descriptors ---------------------------------------------------------------------- */

enum sim_file_kind { SIM_FILE_EVENT, SIM_FILE_TIMER, SIM_FILE_EPOLL, SIM_FILE_SOCKET };

/* A fiber that sleeps until a file is ready. On its stack. */
struct sim_sleeper {
    LIST_ENTRY(sim_sleeper) of_file;
    struct sim_fiber *fiber;
    uint32_t events;
};

/* A file in an epoll set. */
struct sim_watch {
    LIST_ENTRY(sim_watch) of_file; /* in a pool: the next one */
    LIST_ENTRY(sim_watch) of_set;
    TAILQ_ENTRY(sim_watch) ready; /* while `queued` */
    struct sim_file *file, *set;
    uint32_t events;
    epoll_data_t data;
    bool queued;
};

enum sim_socket_state {
    SIM_FRESH,
    SIM_CONNECTING,
    SIM_CONNECTED,
    SIM_OVER /* refused, reset, timed out */
};

struct sim_socket {
    enum sim_socket_state state;
    int error;                    /* for the next call that asks */
    bool no_more_in, no_more_out; /* shutdown() */
    bool ended;                   /* the other end sends no more */
    bool keepalive;
    int64_t user_timeout_ns, idle_ns, every_ns;
    uint16_t port;         /* of our own end */
    struct sim_conn *conn; /* NULL: none any more, or yet */
};

struct sim_file {
    LIST_ENTRY(sim_file) pooled;
    enum sim_file_kind kind;
    int fd;
    struct sim_proc *proc;
    uint32_t ready; /* EPOLLIN and so on, as epoll reports them now */
    LIST_HEAD(, sim_watch) watches;
    LIST_HEAD(, sim_sleeper) sleepers;
    union {
        uint64_t count; /* eventfd */
        struct sim_timer {
            struct sim_event event; /* first: it may go off */
            int64_t due_ns;         /* of the process's MONOTONIC */
            struct sim_file *file;
        } timer;
        struct {
            LIST_HEAD(, sim_watch) all;
            TAILQ_HEAD(sim_ready, sim_watch) ready;
        } set;
        struct sim_socket socket;
    } as;
};

/* In sim_fds.paths: what the world sets, and what there is. */
struct sim_route {
    struct sim_path path;
    struct sim_path_felt felt;
    struct sim_proc *proc;
    unsigned master;
    LIST_HEAD(, sim_conn) conns;
};

struct sim_fds {
    LIST_ENTRY(sim_fds) pooled;
    bool refused;                /* EMFILE */
    uint16_t port;               /* the last that was given out, over SIM_PORTS_FROM */
    unsigned open, size, lowest; /* none below `lowest` is free */
    struct sim_file **files;
    struct sim_route routes[SIM_MASTERS_MAX];
};

/* Its descriptors; made where there are none. */
struct sim_fds *sim_fds(const struct sim_proc *proc);

/* NULL: the call is for the real system. Otherwise the system call has begun, and the file
 * is there: what uses a descriptor that is closed is wrong, and asserts. */
struct sim_file *sim_file(int fd);
struct sim_file *sim_file_at(const struct sim_proc *proc, int fd); /* within such a call */
/* A new descriptor of the present process. NULL with errno: there is none to be had. */
struct sim_file *sim_file_new(enum sim_file_kind kind);

/* It is ready for these from now on; who waits for it learns that. */
void sim_file_ready(struct sim_file *file, uint32_t events);

void sim_epoll_forget(struct sim_file *file); /* it is closed: out of all sets */
void sim_epoll_done(struct sim_file *set);

ssize_t sim_timerfd_read(struct sim_file *file, void *bytes, size_t len); /* sim_timerfd.c */

void *sim_more(void *memory, size_t size); /* realloc() that can't fail */

/* ---- connections ---------------------------------------------------------------------- */

enum sim_segment_kind { SIM_DATA, SIM_SYN, SIM_FIN, SIM_RST };

struct sim_segment {
    int64_t at_ns, sent_ns;
    int64_t asked_ns; /* the client sent these bytes then, or what they answer */
    size_t len; /* of SIM_DATA */
    enum sim_segment_kind kind;
};

/* One way of a connection. Bytes lie in a row: [start, come) have arrived and were not read,
 * [come, end) are under way. */
struct sim_pipe {
    struct sim_event event; /* the first segment arrives */
    struct sim_conn *conn;
    enum sim_way way;
    uint8_t *bytes;
    size_t size, start, come, end;
    struct sim_segment *segments; /* a ring */
    unsigned segments_size, first, count;
    int64_t last_ns; /* nothing arrives earlier than what was sent before it */
    bool stalled;    /* by a hole */
    bool reset;      /* there is an RST among the segments */
    bool cut, cut_reset;
    uint64_t cut_left;
};

struct sim_conn {
    LIST_ENTRY(sim_conn) of_route;
    struct sim_route *route;
    struct sim_pipe pipe[SIM_WAYS];
    struct sim_file *socket; /* NULL: closed */
    uint16_t port;           /* of the client's end */
    void *session;
    bool served;    /* the master has it */
    bool forgotten; /* nothing arrives any more */
    unsigned busy;
    struct sim_event timer;  /* the client's kernel gives up, or hears RST */
    struct sim_event orphan; /* the master does */
    int64_t rst_after_ns, rst_ns;
    int64_t heard_ns;     /* the last sign of life that the client's kernel had */
    int64_t since_ns;     /* the first unacknowledged byte was sent; a connect began */
    int64_t asked_ns;     /* what arrived last at the master was sent */
    uint64_t sent, acked; /* bytes to the master */
};

#define SIM_OF(event, type, member) ((type *)((char *)(event)-offsetof(type, member)))

/* The client's end. */
void sim_conn_connect(struct sim_file *socket, unsigned master);
void sim_conn_close(struct sim_conn *conn);  /* the socket does not know it afterwards */
void sim_conn_finish(struct sim_conn *conn); /* shutdown: no more is sent */
/* What hangs in a hole is not sent again; what is under way arrives, and after it an RST. */
void sim_conn_reset(struct sim_conn *conn);
size_t sim_conn_send(struct sim_conn *conn, const void *bytes, size_t len);
size_t sim_conn_room(const struct sim_conn *conn);
/* The client's end is over, with that error; nothing of it is sent any more. */
void sim_conn_break(struct sim_conn *conn, int error);
void sim_conn_acked(struct sim_conn *conn);
void sim_conn_watch(struct sim_conn *conn); /* something hangs: time runs */
/* The master has lost it. */
void sim_conn_leave(struct sim_conn *conn);
void sim_conn_leave_at(struct sim_conn *conn, int64_t at_ns);
void sim_conn_tidy(struct sim_conn *conn); /* free it if neither end has it */
void sim_conn_free(struct sim_conn *conn);
/* sim_arrive.c's */
void sim_conn_arrive(struct sim_pipe *pipe, struct sim_segment segment);
/* What happens to it, as a line of the story and a mark. */
void sim_conn_tell(const struct sim_conn *conn, enum sim_way way, const char *what,
                   uint64_t number);

void sim_socket_update(struct sim_file *socket);

void sim_pipe_init(struct sim_pipe *pipe, struct sim_conn *conn, enum sim_way way);
void sim_pipe_put(struct sim_pipe *pipe, const void *bytes, size_t len);
void sim_pipe_put_mark(struct sim_pipe *pipe, enum sim_segment_kind kind);
void sim_pipe_put_reset(struct sim_pipe *pipe); /* once, until it has arrived or is lost */
void sim_pipe_clear(struct sim_pipe *pipe);     /* what is under way is lost */
size_t sim_pipe_take(struct sim_pipe *pipe, void *bytes, size_t len);
void sim_pipe_lift(struct sim_pipe *pipe);
/* Bytes are under way that were sent in that time, or answer what was. */
bool sim_pipe_owes(const struct sim_pipe *pipe, int64_t from_ns, int64_t to_ns);
void sim_pipe_empty(struct sim_pipe *pipe); /* for the pool */

/* A cut, from sim_pipe_cut_after(): both ends see the end, or a reset. */
void sim_path_cut(struct sim_conn *conn, bool reset);

#endif
