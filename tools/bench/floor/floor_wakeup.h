/* floor_wakeup.h - the floors under a hand-off: two processes that take turns with one lock on
 * raw sockets. When one gives it up, messages of the masters wake the other. It goes on as soon
 * as a majority of them has said so. Nothing is checked that a lock needs to be safe, and
 * nobody else may want it.
 *
 * A bare one sends SET NX PX, and a script that compares, deletes and publishes. The other
 * one's scripts do as much work as the library's, which keep a queue. */
#ifndef BENCH_FLOOR_WAKEUP_H
#define BENCH_FLOOR_WAKEUP_H

#include "bench/bench.h"
#include "bench/contenders/shared.h"

struct bench_wakeup;

/* `index` is 0 for one and 1 for the other. 0, or an exit status after a line on stderr. */
int bench_wakeup_open(const struct bench *bench, enum bench_contender contender, unsigned index,
                      const char *name, int64_t ttl_ms, struct bench_wakeup **ret_wakeup);
void bench_wakeup_close(struct bench_wakeup *wakeup); /* NULL is allowed */

/* Its acquire waits for its turn. */
struct bench_driver bench_wakeup_driver(struct bench_wakeup *wakeup);

#endif
