/* delay.h - proxies that hold every reply of a master back for a while: a far network,
 * on this machine. One thread serves them all. */
#ifndef BENCH_DELAY_H
#define BENCH_DELAY_H

#include "cluster/server_talk.h"

#include <stdint.h>

struct bench_delay;

/* One proxy a node. NULL: errno. */
struct bench_delay *bench_delay_start(const struct server_at *nodes, unsigned count,
                                      int64_t delay_ms);
void bench_delay_end(struct bench_delay *delay); /* NULL is allowed */

/* The port on 127.0.0.1 that stands for node `index`. */
int bench_delay_port(const struct bench_delay *delay, unsigned index);

#endif
