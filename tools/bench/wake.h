/* wake.h - the floors under a hand-off: two processes that take turns with one lock on raw
 * sockets. When one gives it up, messages of the masters wake the other. It goes on as soon as
 * a majority of them has said so. Nothing is checked that a lock needs to be safe, and nobody
 * else may want it.
 *
 * A bare one sends SET NX PX, and a script that compares, deletes and publishes. The other
 * one's scripts do as much work as the library's, which keep a queue. */
#ifndef BENCH_WAKE_H
#define BENCH_WAKE_H

#include "bench/bench.h"
#include "bench/shared.h"

struct bench_wake;

/* `index` is 0 for one and 1 for the other. 0, or an exit status after a line on stderr. */
int bench_wake_open(const struct bench *bench, enum bench_contender contender, unsigned index,
                    const char *name, int64_t ttl_ms, struct bench_wake **ret_wake);
void bench_wake_close(struct bench_wake *wake); /* NULL is allowed */

/* Its take waits for its turn. */
struct bench_subject bench_wake_subject(struct bench_wake *wake);

#endif
