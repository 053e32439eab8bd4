/* sentinels.h - a service as people have it: a master, its replicas, and Sentinels that watch them,
 * all real. Servers and Sentinels are killed, paused, resumed, restarted and asked as those of
 * masters.h. */
#ifndef TEST_SENTINELS_H
#define TEST_SENTINELS_H

#include "masters.h"

enum { SENTINELS_DOWN_AFTER_MS = 500 };

struct sentinels {
    const char *service;
    struct masters *servers; /* node 0 is the master to begin with */
    struct masters *watchers;
    char watch[512];
};

/* When this returns, the replicas have their master's data, and all Sentinels know each other and
 * all replicas: a failover can begin. */
struct sentinels *sentinels_start(unsigned watchers, unsigned servers, const char *service);
void sentinels_stop(struct sentinels *sentinels);

/* What one Sentinel says. `server` is the node's number in `servers`, by the address that clients
 * are told; -1: another's, or none. */
struct sentinel_says {
    int server;
    unsigned long long term;   /* config-epoch */
    unsigned replicas, others; /* that it knows */
};
struct sentinel_says sentinels_ask(struct sentinels *sentinels, unsigned watcher);

/* The server that more than half of all Sentinels name, in one term; -1: none. */
int sentinels_named(struct sentinels *sentinels, unsigned long long *ret_term);
/* Wait for that. It ends the program where it takes 60 s. */
void sentinels_await(struct sentinels *sentinels, int server);
/* Wait until any other than `server` is named: that one. */
int sentinels_await_other(struct sentinels *sentinels, int server);

/* A node list file of the one service, and `settings` ("max-ttl 2s\n"; NULL: none) after it. The
 * path is good until the next call. */
const char *sentinels_file(struct sentinels *sentinels, const char *settings);

#endif
