/* proxy.h - the network between contenders and masters. All bytes go through a process of its
 * own, with a port for each contender and master (a path). So a master can be out of one
 * contender's reach and not of another's. */
#ifndef CHAOS_PROXY_H
#define CHAOS_PROXY_H

#include "config/config.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum chaos_way { CHAOS_THERE, CHAOS_BACK, CHAOS_WAYS }; /* to the master, to the contender */

enum chaos_pass {
    CHAOS_PASSES,
    CHAOS_STANDS,  /* bytes wait, and so does connecting; later all goes on */
    CHAOS_VANISHES /* they are thrown away, and their connection is reset in the end */
};

/* Shared memory: orders by the parent, counts by the proxy. */
struct chaos_path {
    _Atomic int pass[CHAOS_WAYS]; /* enum chaos_pass */
    _Atomic int delay_ms;         /* each way */
    _Atomic bool split;           /* bytes go one by one */
    _Atomic int spare_port; /* new connections are led to that server of this machine; 0: to the
                               master */
    _Atomic unsigned half_opens; /* one more: connections that are open pass nothing any more */
    _Atomic unsigned resets;     /* one more: they are reset */

    _Atomic uint64_t came[CHAOS_WAYS];  /* bytes read */
    _Atomic uint64_t went[CHAOS_WAYS];  /* and written */
    _Atomic uint64_t lost[CHAOS_WAYS];  /* or thrown away */
    _Atomic uint64_t parts[CHAOS_WAYS]; /* writes */
    _Atomic unsigned connections;       /* now */
    _Atomic unsigned reset;             /* connections that were reset so far */
};

struct chaos_proxies;
struct chaos_stall_log;

/* Begin to listen, and fork. One set a process. Times in which the process does not run are
 * logged in `stalls`, if that is not NULL. NULL: `why`. */
struct chaos_proxies *chaos_proxies_start(const struct rl_config *config, unsigned clients,
                                          struct chaos_stall_log *stalls, char *why,
                                          size_t why_size);
void chaos_proxies_end(struct chaos_proxies *proxies); /* NULL is allowed */

unsigned chaos_proxies_nodes(const struct chaos_proxies *proxies);
int chaos_proxies_port(const struct chaos_proxies *proxies, unsigned client, unsigned node);
/* The paths of a contender, in the order of the nodes. */
struct chaos_path *chaos_proxies_path(struct chaos_proxies *proxies, unsigned client,
                                      unsigned node);

/* New orders: returns when every connection obeys them. False: the process is gone. */
bool chaos_proxies_obey(struct chaos_proxies *proxies);

/* The process ended, by itself or by another's hand: the run is worth nothing any more. */
bool chaos_proxies_gone(struct chaos_proxies *proxies);

#endif
