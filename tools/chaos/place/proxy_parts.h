/* proxy_parts.h - shared by the two sides of the proxies: the parent, proxy.c, and the process,
 * proxy_loop.c. */
#ifndef CHAOS_PROXY_PARTS_H
#define CHAOS_PROXY_PARTS_H

#include "chaos/place/proxy_conn.h"

/* One of our contenders has three connections. A foreign client's pool has many more, and
 * probes come and go. Further connections are not accepted. */
#define CHAOS_CONNS_A_PATH 64

/* The orders, and how far they have been obeyed. */
struct chaos_orders {
    _Atomic unsigned given, obeyed;
    struct chaos_path path[];
};

struct chaos_proxies {
    unsigned clients, nodes;
    pid_t pid; /* 0: ended */
    int wake;
    int *listener; /* one a path; closed in the parent */
    int *port;
    struct chaos_address master[REDLOCK_NODES_MAX];
    struct chaos_address spare[REDLOCK_NODES_MAX]; /* the process's own: in a master's place */
    size_t orders_size;
    struct chaos_orders *orders;
    struct chaos_stall_log *stalls; /* or NULL */
};

/* The main function of the process. */
_Noreturn void chaos_proxy_main(struct chaos_proxies *proxies, pid_t parent);

#endif
