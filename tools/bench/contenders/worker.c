/* worker.c - one of many processes that contend for a lock. It acquires the lock, holds it,
 * releases it, and writes its results into the memory that it shares with its parent. */
#include "config_auto.h"

#include "bench/bench.h"
#include "bench/place/nodes.h"
#include "bench/contenders/shared.h"
#include "bench/floor/floor_wakeup.h"

#include <errno.h>
#include <linux/futex.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#define TURN_LIMIT_MS 50 /* nobody else wants it: go on */

struct worker {
    struct bench_shared *shared;
    unsigned index;
    struct bench_library library;
    struct bench_wakeup *wakeup;
    struct bench_driver driver;
};

void bench_shared_sleep(_Atomic uint32_t *word, uint32_t value, int64_t limit_ms)
{
    struct timespec limit = {.tv_sec = (time_t)(limit_ms / 1000),
                             .tv_nsec = (long)(limit_ms % 1000) * 1000000};
    syscall(SYS_futex, word, FUTEX_WAIT, value, limit_ms > 0 ? &limit : NULL, NULL, 0);
}

void bench_shared_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static uint64_t commands(const struct worker *worker)
{
    redlock_stats stats = {.size = sizeof(stats)};
    if (worker->library.client == NULL ||
        redlock_get_stats(worker->library.client, &stats) != 0)
        return 0;
    return stats.commands;
}

static void acquire(struct worker *worker)
{
    struct bench_shared *shared = worker->shared;
    struct bench_work *work = &shared->work[worker->index];
    if (!worker->driver.acquire(worker->driver.context)) {
        work->failures++;
        bench_sleep_ms(1);
        return;
    }
    int64_t now_ns = bench_now_ns();
    uint32_t releaser = atomic_load(&shared->releaser);
    if (atomic_fetch_add(&shared->holders, 1) != 0)
        atomic_fetch_add(&shared->overlaps, 1);
    if (atomic_load(&shared->first_ns) == 0)
        atomic_store(&shared->first_ns, now_ns);
    if (releaser == worker->index + 1) {
        atomic_fetch_add(&shared->retaken, 1);
    } else if (releaser != 0) {
        uint32_t at = atomic_fetch_add(&shared->handoffs, 1);
        if (at < BENCH_HANDOFFS_MAX)
            shared->handoff_ns[at] = now_ns - atomic_load(&shared->released_ns);
    }
    uint32_t acquired = atomic_fetch_add(&shared->acquired, 1) + 1;
    if (shared->turns)
        bench_shared_wake(&shared->acquired);
    if (atomic_load(&shared->phase) == BENCH_RUN) {
        work->acquired++;
        struct timespec hold = {.tv_nsec = (long)shared->hold_us * 1000};
        nanosleep(&hold, NULL);
    }
    atomic_fetch_sub(&shared->holders, 1);
    atomic_store(&shared->releaser, worker->index + 1);
    atomic_store(&shared->released_ns, bench_now_ns());
    if (!worker->driver.release(worker->driver.context))
        work->failures++;
    if (shared->turns && shared->contender == BENCH_LIBRARY &&
        atomic_load(&shared->acquired) == acquired && atomic_load(&shared->phase) == BENCH_RUN)
        bench_shared_sleep(&shared->acquired, acquired, TURN_LIMIT_MS);
}

/* Contend until the parent says otherwise. */
static void run(struct worker *worker)
{
    struct bench_shared *shared = worker->shared;
    struct bench_work *work = &shared->work[worker->index];
    double cpu_us = bench_cpu_us();
    uint64_t sent = commands(worker);
    while (atomic_load(&shared->phase) == BENCH_RUN)
        acquire(worker);
    work->cpu_us += bench_cpu_us() - cpu_us;
    work->commands += commands(worker) - sent;
}

static int live(struct worker *worker)
{
    struct bench_shared *shared = worker->shared;
    for (;;) {
        atomic_fetch_add(&shared->parked, 1);
        uint32_t phase;
        while ((phase = atomic_load(&shared->phase)) == BENCH_PARK)
            bench_shared_sleep(&shared->phase, BENCH_PARK, 0);
        atomic_fetch_sub(&shared->parked, 1);
        if (phase == BENCH_END)
            return 0;
        run(worker);
    }
}

static int open_driver(struct worker *worker)
{
    struct bench_shared *shared = worker->shared;
    if (shared->contender != BENCH_LIBRARY) {
        static struct bench bench; /* too big for a stack; lives as long as its strings do */
        bench.options.nodes_file = shared->nodes_file;
        int status = bench_nodes_read(&bench);
        if (status == 0)
            status = bench_wakeup_open(&bench, shared->contender, worker->index, shared->name,
                                       shared->ttl_ms, &worker->wakeup);
        if (status == 0)
            worker->driver = bench_wakeup_driver(worker->wakeup);
        return status;
    }
    redlock_config config = REDLOCK_CONFIG_INIT;
    config.file = shared->nodes_file;
    config.guard = shared->guard_off ? REDLOCK_OFF : REDLOCK_DEFAULT;
    int status = bench_library_open(&config, shared->name, shared->ttl_ms, &worker->library);
    worker->library.options.wait_ms = REDLOCK_FOREVER;
    worker->driver = bench_library_driver(&worker->library);
    return status;
}

/* The memory that our parent shares with us. NULL: redlock-bench did not start this process. */
static struct bench_shared *find_shared(void)
{
    struct stat file;
    if (fstat(BENCH_WORKER_FD, &file) != 0 || file.st_size != sizeof(struct bench_shared))
        return NULL;
    struct bench_shared *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, BENCH_WORKER_FD, 0);
    close(BENCH_WORKER_FD);
    return shared != MAP_FAILED && shared->parent == getppid() ? shared : NULL;
}

int bench_worker_main(const char *index)
{
    struct worker worker = {.shared = find_shared(),
                            .index = (unsigned)strtoul(index, NULL, 10)};
    /* The kernel ends us when our parent goes without a word. */
    if (worker.shared == NULL || worker.index >= worker.shared->workers ||
        prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != worker.shared->parent) {
        fprintf(stderr, "redlock-bench: " BENCH_WORKER_OPTION " is for redlock-bench itself\n");
        return EX_USAGE;
    }
    prctl(PR_SET_NAME, "redlock-bench"); /* we were started by another one */
    int status = open_driver(&worker);
    if (status == 0)
        status = live(&worker);
    bench_wakeup_close(worker.wakeup);
    bench_end_all();
    return status;
}
