/* sim_net_rig.h - a world of one simulated process and masters that echo, for the tests of
 * the simulated network. */
#ifndef SIM_NET_RIG_H
#define SIM_NET_RIG_H

#include "sim_net.h"

/* Master i: how it is to behave, and what it has seen. */
struct echo {
    bool listens, answers;
    unsigned sessions, left; /* that began, that ended by the client's doing */
    unsigned pieces;         /* in which bytes came */
    size_t len;              /* bytes heard, by all sessions */
    uint8_t heard[1 << 17];
    struct sim_conn *conn; /* the latest that it has; NULL: none */
};
extern struct echo echo[3];

/* A world: the program runs in process "p1" until it returns, and everything is put away.
 * Returns the hash of the history. */
uint64_t play(uint64_t seed, void (*program)(struct sim_proc *proc));

/* Within a program. */
int dial(unsigned master); /* a socket that connects, as the library does it */
int call(unsigned master); /* the same, and it is connected */
void let_pass(int64_t ns); /* true time */
unsigned ready(int fd);    /* what epoll would tell of it */
unsigned wait_ready(int fd, unsigned events, int timeout_ms);
int take_error(int fd); /* SO_ERROR */
int recv_error(int fd); /* of one byte; 0: it was received, or there are no more */
int send_error(int fd); /* likewise */
void say(int fd, const void *bytes, size_t len);                     /* all of it is taken */
size_t hear(int fd, void *ret_bytes, size_t len, int64_t within_ns); /* so many, or less */
void fill(uint8_t *ret_bytes, size_t len); /* with bytes that differ */

#endif
