/* floor_pipeline.h - the floor under many pairs at once: one thread, one epoll set, one
 * pipelined connection a node, prebuilt requests. Requests that are ready for a node together
 * leave in one write. An acquire and a release end with their majority. A lost acquire is
 * undone on every node that was asked. As in floor.h, nothing is checked that a lock needs. */
#ifndef BENCH_FLOOR_PIPELINE_H
#define BENCH_FLOOR_PIPELINE_H

#include "bench/bench.h"
#include "bench/floor/requests.h"

#define BENCH_PIPE_SLOTS_MAX 512

struct bench_pipeline;

/* `token` is as long as the library's. 0, or an exit status after a line on stderr. */
int bench_pipeline_open(const struct bench *bench, enum bench_floor_kind kind,
                        const char *token, int64_t ttl_ms,
                        struct bench_pipeline **ret_pipeline);

/* See bench_many_run(). */
struct bench_slice bench_pipeline_run(struct bench_pipeline *pipeline, unsigned slots,
                                      int64_t duration_ms, struct bench_samples *samples);

#endif
