/* floor.h - the floor under the library: the least a client can do for a quorum lock.
 *
 * It has raw non-blocking sockets, prebuilt bytes, and one epoll set until a majority has
 * answered. Later replies are read when they come. A lost round is released on every node that
 * was asked, silent ones too. Nothing is checked that a lock needs to be safe: no clock, no
 * fresh tokens, no deadlines but the caller's, no validity. */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include "bench/bench.h"
#include "bench/floor/requests.h"

struct bench_floor;

/* `token` is as long as the library's. 0, or an exit status after a line on stderr. */
int bench_floor_open(const struct bench *bench, enum bench_floor_kind kind, const char *name,
                     const char *token, int64_t ttl_ms, struct bench_floor **ret_floor);

/* The same with the scripts of another kind of lock, for that owner. */
struct bench_floor_lock {
    const struct rl_kind *kind;
    const char *owner;
    bool fenced; /* with fencing tokens, which the floor does not compare */
};
int bench_floor_open_kind(const struct bench *bench, const struct bench_floor_lock *lock,
                          const char *name, const char *token, int64_t ttl_ms,
                          struct bench_floor **ret_floor);
struct bench_driver bench_floor_driver(struct bench_floor *floor);

/* How long an acquire waits for a majority; 0: for ever (the default). */
void bench_floor_limit(struct bench_floor *floor, int64_t limit_ms);

/* Connect again where a connection broke. False: some master could not be reached. */
bool bench_floor_reconnect(struct bench_floor *floor);

#endif
