/* group.h - processes that contend for one lock, each with a client of its own. They are
 * started once, and run only when they are told to. */
#ifndef BENCH_GROUP_H
#define BENCH_GROUP_H

#include "bench/bench.h"
#include "bench/contenders/shared.h"

struct bench_group;

struct bench_group_plan {
    const struct bench *bench;
    const char *name; /* of the lock */
    unsigned workers;
    int64_t hold_us;
    enum bench_contender contender; /* the floors have two workers */
    bool turns;
};

/* The sums of all workers in one run. */
struct bench_group_run {
    double seconds;
    double first_ms; /* until somebody had the lock */
    double cpu_us;
    uint64_t acquired;
    uint64_t failures;
    uint64_t commands;
    uint64_t retaken;
    uint64_t overlaps;
    uint64_t of_worker[BENCH_WORKERS_MAX]; /* acquisitions */
};

/* 0, or an exit status after a line on stderr. */
int bench_group_start(const struct bench_group_plan *plan, struct bench_group **ret_group);

/* Let them contend for so long. Hand-offs are added to `samples`, unless that is NULL. False:
 * a worker is gone or stuck; a line is on stderr. */
bool bench_group_run(struct bench_group *group, int64_t duration_ms,
                     struct bench_samples *samples, struct bench_group_run *ret_run);

/* NULL is allowed. */
void bench_group_end(struct bench_group *group);

#endif
