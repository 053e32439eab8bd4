/* floor_fair.h - the floor under a fair lock's hand-off: a waiter on raw sockets, with the
 * library's own scripts. It sleeps in a read until the message comes that it is the next. It
 * makes no check that a safe lock needs, and does nothing about lost messages. */
#ifndef BENCH_FLOOR_FAIR_H
#define BENCH_FLOOR_FAIR_H

#include "bench/bench.h"

struct bench_floor_fair;

/* `number` tells it from others. NULL: the master can't be reached, or there is no memory; a
 * line is on stderr. */
struct bench_floor_fair *bench_floor_fair_open(const struct server_at *at, const char *name,
                                               unsigned number, int64_t ttl_ms);

/* Its acquire waits for its turn. */
struct bench_driver bench_floor_fair_driver(struct bench_floor_fair *floor);

#endif
