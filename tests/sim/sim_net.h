/* sim_net.h - descriptors and connections of simulated processes, and what a network does.
 *
 * What of the library is bound here: socket, connect, getsockopt, setsockopt, getsockname,
 * getpeername, send, recv, shutdown, close, read, write, eventfd, epoll_create1, epoll_ctl,
 * epoll_wait, epoll_pwait2, poll. Descriptors of simulated processes begin at
 * SIM_FD_BASE; others are handed to the real call.
 *
 * Master i (from 0) listens on 10.0.0.(i+1):6379. A connection is two pipes of bytes. What
 * TCP does is kept: bytes arrive in order or not at all, loss is delay, a reset loses what is
 * under way, and a write succeeds once the kernel has taken it.
 */
#ifndef SIM_NET_H
#define SIM_NET_H

#include "sim_proc.h"

enum { SIM_FD_BASE = 100000, SIM_MASTERS_MAX = 32, SIM_PORT = 6379 };
enum { SIM_SEND_BUFFER = 65536 }; /* at first */

enum sim_way { SIM_THERE, SIM_BACK, SIM_WAYS }; /* to the master, from it */

/* What lies between one process and one master. Set by the world at any time; at first 20 to
 * 100 us each way, and nothing goes wrong. */
struct sim_path {
    int64_t delay_low_ns[SIM_WAYS], delay_high_ns[SIM_WAYS];
    unsigned split_ppm;       /* a segment arrives in pieces, each with a delay of its own */
    unsigned short_write_ppm; /* send() takes only some bytes, or none (EAGAIN) */
    unsigned short_read_ppm;  /* recv() gives only some */
    bool relay;               /* what is between sends on what a client has taken back */
    size_t send_buffer;       /* bytes that the client's kernel takes before it says EAGAIN */
    unsigned leads_to;        /* private: use sim_path_lead() */
    bool hole[SIM_WAYS];      /* private: use sim_path_hole() */
};

struct sim_path *sim_path(const struct sim_proc *proc, unsigned master);

/* The master's address leads to that server (counted from 0) for this process from now on; what
 * is connected stays where it is. */
void sim_path_lead(const struct sim_proc *proc, unsigned master, unsigned server);

/* Nothing gets through that way until it is lifted; then it goes on, as by retransmission.
 * Connecting hangs meanwhile. The library's TCP_USER_TIMEOUT is honoured: unacknowledged for
 * longer, ETIMEDOUT. */
void sim_path_hole(const struct sim_proc *proc, unsigned master, enum sim_way way, bool on);

/* Every connection there is between them. */
void sim_path_reset(const struct sim_proc *proc, unsigned master); /* RST to both ends */
/* The state between them is forgotten: nothing arrives any more, either way; what the client
 * sends later is answered with RST after `rst_after_ns` (SIM_NEVER: not at all). The master
 * sees nothing (a half-open connection), until it sends. */
void sim_path_forget(const struct sim_proc *proc, unsigned master, int64_t rst_after_ns);
/* Cut after so many more bytes that way have arrived; 0: at once. */
void sim_path_cut_after(const struct sim_proc *proc, unsigned master, enum sim_way way,
                        uint64_t bytes, bool reset);

/* What came of all that so far. */
struct sim_path_felt {
    uint64_t held[SIM_WAYS]; /* pieces that came to a hole */
    uint64_t sent;           /* pieces, each with a delay */
    uint64_t refused;        /* attempts to connect, since the master was down */
    uint64_t reset, cut;     /* connections */
    uint64_t lost;           /* what was said to an end that has forgotten */
};
unsigned sim_path_open(const struct sim_proc *proc, unsigned master); /* connections */
/* Something is under way now, there or back, that was sent in that true time, or answers what
 * was: a request of then has no answer yet. */
bool sim_path_owes(const struct sim_proc *proc, unsigned master, int64_t from_ns,
                   int64_t to_ns);
const struct sim_path_felt *sim_path_felt(const struct sim_proc *proc, unsigned master);

/* Descriptors are refused (EMFILE) to the process while on. */
void sim_proc_no_fds(struct sim_proc *proc, bool on);

/* For the oracles: descriptors open, bytes queued to and from masters. */
unsigned sim_open_fds(const struct sim_proc *proc);
size_t sim_queued_bytes(const struct sim_proc *proc);

/* A crash of the process: its kernel closes what it had open. Called by sim_proc_crash(). */
void sim_net_crash(struct sim_proc *proc);
/* The table is freed; called by sim_procs_end(). Masters that still have connections of it
 * are told that these have left. */
void sim_net_end(struct sim_proc *proc);

/* ---- the masters' side ---------------------------------------------------------------- */

struct sim_conn; /* a connection, as its master has it */

const struct sim_proc *sim_conn_proc(const struct sim_conn *conn);
void sim_conn_say(struct sim_conn *conn, const void *bytes, size_t len);
/* Close it from the master's side; the master must not use it afterwards, and hears no more
 * of it. What was said before still arrives, unless it is reset. */
void sim_conn_end(struct sim_conn *conn, bool reset);

/* What sim_master.c has for the network. */
bool sim_master_listens(unsigned master); /* false: connecting is refused */
void *sim_master_accept(unsigned master, struct sim_conn *conn); /* the session */
void sim_master_hear(void *session, const void *bytes, size_t len);
void sim_master_left(void *session); /* the client's end closed it, or it broke */

#endif
