/* fair_floor.h - the floor under a fair lock's hand-off: a waiter on raw sockets, with the
 * library's own scripts. It sleeps in a read until the message comes that it is the next. It
 * makes no check that a safe lock needs, and does nothing about lost messages. */
#ifndef BENCH_FAIR_FLOOR_H
#define BENCH_FAIR_FLOOR_H

#include "bench/bench.h"

struct bench_fair_floor;

/* `number` tells it from others. NULL: the master can't be reached, or there is no memory; a
 * line is on stderr. */
struct bench_fair_floor *bench_fair_floor_open(const struct server_at *at, const char *name,
                                               unsigned number, int64_t ttl_ms);
void bench_fair_floor_close(struct bench_fair_floor *floor); /* NULL is allowed */

/* Its take waits for its turn. */
struct bench_subject bench_fair_floor_subject(struct bench_fair_floor *floor);

#endif
