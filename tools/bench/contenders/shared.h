/* shared.h - the memory that redlock-bench shares with its workers, the processes that contend
 * for one lock. It has their orders and their results. */
#ifndef BENCH_SHARED_H
#define BENCH_SHARED_H

#include "bench/report/stats.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define BENCH_WORKERS_MAX 64
#define BENCH_PATH_MAX 4096
#define BENCH_HANDOFFS_MAX 65536
#define BENCH_WORKER_FD 3
#define BENCH_WORKER_OPTION "--worker"

/* The contender: the library, or one of the floors of floor_wakeup.h. */
enum bench_contender { BENCH_LIBRARY, BENCH_WAKEUP_QUEUED, BENCH_WAKEUP_BARE };

enum bench_phase { BENCH_PARK, BENCH_RUN, BENCH_END };

/* The results of one worker while it was not parked, since the parent last cleared them. */
struct bench_work {
    uint64_t acquired;
    uint64_t failures;
    uint64_t commands;
    double cpu_us;
};

struct bench_shared {
    /* Written before there is a worker. */
    char nodes_file[BENCH_PATH_MAX];
    char name[64]; /* of the lock */
    int64_t ttl_ms;
    int64_t hold_us;
    pid_t parent;
    unsigned workers;
    bool guard_off;
    enum bench_contender contender;
    bool turns; /* after a release a worker waits until another has acquired the lock */

    _Atomic uint32_t phase;  /* enum bench_phase; they sleep on it */
    _Atomic uint32_t parked; /* workers that have nothing under way */
    _Atomic uint32_t
        acquired; /* times the lock was acquired; workers out of turn sleep on it */
    _Atomic uint32_t holders;
    _Atomic uint32_t overlaps; /* the lock was acquired while another held it */
    _Atomic uint32_t releaser; /* the last worker that released, counted from 1; 0: none yet */
    _Atomic int64_t released_ns;
    _Atomic int64_t first_ns; /* when the lock was acquired first; 0: not yet */
    _Atomic uint32_t retaken; /* by the worker that had released it */
    _Atomic uint32_t handoffs;
    int64_t
        handoff_ns[BENCH_HANDOFFS_MAX]; /* from before a release to the next acquire's return */
    struct bench_work work[BENCH_WORKERS_MAX];
};

/* Sleep until `word` is not `value` any more, somebody wakes us, or so long has passed. */
void bench_shared_sleep(_Atomic uint32_t *word, uint32_t value, int64_t limit_ms);
void bench_shared_wake(_Atomic uint32_t *word);

/* The life of a worker: main() of the hidden mode. Its exit status. */
int bench_worker_main(const char *index);

#endif
