/* pipe.h - the floor under many pairs at once: one thread, one epoll set, one pipelined
 * connection a node, prebuilt requests. Requests that are ready for a node together leave in
 * one write. A take and a give end with their majority. A lost take is given up on every node
 * that was asked. As in floor.h, nothing is checked that a lock needs. */
#ifndef BENCH_PIPE_H
#define BENCH_PIPE_H

#include "bench/bench.h"
#include "bench/requests.h"

#define BENCH_PIPE_SLOTS_MAX 512

struct bench_pipe;

/* `token` is as long as the library's. 0, or an exit status after a line on stderr. */
int bench_pipe_open(const struct bench *bench, enum bench_floor_kind kind, const char *token,
                    int64_t ttl_ms, struct bench_pipe **ret_pipe);
void bench_pipe_close(struct bench_pipe *pipe);

/* See bench_many_run(). */
struct bench_slice bench_pipe_run(struct bench_pipe *pipe, unsigned slots, int64_t duration_ms,
                                  struct bench_samples *samples);

#endif
