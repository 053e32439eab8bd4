/* threads.c - threads that block, each on a name of its own, on one client. The floor keeps as
 * many pairs in flight from one thread. */
#include "config_auto.h"

#include "bench/floor/floor_pipeline.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#define TTL_MS 10000
#define THREADS_MAX 64
#define SLICES 5 /* a round and driver */
#define WARM_UP_MS 50

static const char scenario[] = "threads: blocking calls on one client, a name each";
static const char floor_name[] = "floor, same bytes";

struct worker {
    struct pool *pool;
    pthread_t thread;
    char name[32];
    uint64_t pairs;
    uint64_t failures;
};

/* Threads that wait until they are told to begin, and then run until `end_ns`. */
struct pool {
    redlock *client;
    redlock_options options;
    pthread_mutex_t mutex;
    pthread_cond_t begin;
    pthread_cond_t all_done;
    unsigned threads; /* that there are */
    unsigned wanted;  /* that take part in this slice: the first so many */
    unsigned busy;
    uint64_t slice; /* its number; another one: begin */
    int64_t end_ns;
    bool over;
    struct worker worker[THREADS_MAX];
};

struct threads_run {
    struct bench *bench;
    struct bench_library library;
    struct bench_pipeline *pipeline;
    struct pool pool;
    double ours[BENCH_ROUNDS_MAX];
    double ours_us[BENCH_ROUNDS_MAX];
    double floors[BENCH_ROUNDS_MAX];
    double floors_us[BENCH_ROUNDS_MAX];
    double failures;
};

static void run_pairs(struct worker *worker, int64_t end_ns)
{
    struct pool *pool = worker->pool;
    redlock_lock *lock;
    do {
        bool fine = redlock_try(pool->client, worker->name, &pool->options, &lock) == 0 &&
                    redlock_release(lock) == 0;
        if (bench_now_ns() >= end_ns)
            break;
        worker->pairs += fine;
        worker->failures += !fine;
    } while (true);
}

static void *work(void *context)
{
    struct worker *worker = context;
    struct pool *pool = worker->pool;
    unsigned index = (unsigned)(worker - pool->worker);
    uint64_t slice = 0;
    pthread_mutex_lock(&pool->mutex);
    while (!pool->over) {
        if (pool->slice == slice || index >= pool->wanted) {
            slice = pool->slice;
            pthread_cond_wait(&pool->begin, &pool->mutex);
            continue;
        }
        slice = pool->slice;
        int64_t end_ns = pool->end_ns;
        pthread_mutex_unlock(&pool->mutex);
        run_pairs(worker, end_ns);
        pthread_mutex_lock(&pool->mutex);
        if (--pool->busy == 0)
            pthread_cond_signal(&pool->all_done);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

static struct bench_slice run_pool(struct pool *pool, unsigned threads, int64_t duration_ms)
{
    struct bench_slice slice = {0};
    struct bench_meter meter = bench_meter_start();
    pthread_mutex_lock(&pool->mutex);
    pool->wanted = pool->busy = threads;
    pool->end_ns = meter.start_ns + duration_ms * 1000000;
    pool->slice++;
    pthread_cond_broadcast(&pool->begin);
    while (pool->busy > 0)
        pthread_cond_wait(&pool->all_done, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
    /* Each thread's last pair ends after the time, and counts in neither. */
    bench_meter_stop(&meter, pool->end_ns, &slice);
    for (unsigned i = 0; i < threads; i++) {
        slice.pairs += pool->worker[i].pairs;
        slice.failures += pool->worker[i].failures;
        pool->worker[i].pairs = pool->worker[i].failures = 0;
    }
    return slice;
}

static bool start_pool(struct pool *pool)
{
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->begin, NULL);
    pthread_cond_init(&pool->all_done, NULL);
    for (unsigned i = 0; i < THREADS_MAX; i++) {
        struct worker *worker = &pool->worker[i];
        worker->pool = pool;
        snprintf(worker->name, sizeof(worker->name), "redlock-bench:thrds:%03u", i);
        if (!bench_thread_start(&worker->thread, work, worker))
            return false;
        pool->threads++;
    }
    return true;
}

static void end_pool(struct pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    pool->over = true;
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->mutex);
    for (unsigned i = 0; i < pool->threads; i++)
        pthread_join(pool->worker[i].thread, NULL);
    pthread_cond_destroy(&pool->all_done);
    pthread_cond_destroy(&pool->begin);
    pthread_mutex_destroy(&pool->mutex);
}

static void measure_round(struct threads_run *run, unsigned threads, unsigned round)
{
    struct bench_slice ours = {0};
    struct bench_slice floors = {0};
    int64_t slice_ms = run->bench->options.slice_ms / (3 * SLICES);
    for (unsigned i = 0; i < SLICES; i++) {
        if (i % 2 == 1)
            bench_slice_add(&ours, run_pool(&run->pool, threads, slice_ms));
        if (run->pipeline != NULL)
            bench_slice_add(&floors,
                            bench_pipeline_run(run->pipeline, threads, slice_ms, NULL));
        if (i % 2 == 0)
            bench_slice_add(&ours, run_pool(&run->pool, threads, slice_ms));
    }
    run->ours[round] = (double)ours.pairs / ours.seconds;
    run->ours_us[round] = ours.pairs > 0 ? ours.cpu_us / (double)ours.pairs : 0;
    run->floors[round] = floors.seconds > 0 ? (double)floors.pairs / floors.seconds : 0;
    run->floors_us[round] = floors.pairs > 0 ? floors.cpu_us / (double)floors.pairs : 0;
    run->failures += (double)(ours.failures + floors.failures);
}

static void report(struct threads_run *run, unsigned threads)
{
    struct bench_report *to = &run->bench->report;
    unsigned rounds = run->bench->options.rounds;
    bool floors = run->pipeline != NULL;
    char pairs[56];
    char cpu[56];
    if (floors) {
        snprintf(pairs, sizeof(pairs), "%u: pairs a second, library to", threads);
        bench_add_ratio(to, scenario, pairs, floor_name, run->ours, run->floors, rounds);
        if (threads == THREADS_MAX)
            bench_aim(to, BENCH_AT_LEAST, 0.65);
    }
    snprintf(pairs, sizeof(pairs), "%u: pairs a second", threads);
    snprintf(cpu, sizeof(cpu), "%u: client CPU a pair", threads);
    bench_add(to, scenario, pairs, "library", "1/s", bench_summarise(run->ours, rounds));
    if (floors)
        bench_add(to, scenario, pairs, floor_name, "1/s", bench_summarise(run->floors, rounds));
    bench_add(to, scenario, cpu, "library", "us", bench_summarise(run->ours_us, rounds));
    if (floors)
        bench_add(to, scenario, cpu, floor_name, "us", bench_summarise(run->floors_us, rounds));
    snprintf(pairs, sizeof(pairs), "%u: ", threads);
    bench_add_failed_pairs(to, scenario, pairs, "both", run->failures);
    run->failures = 0;
}

static int measure_all(struct threads_run *run)
{
    static const unsigned counts[] = {2, 4, 8, 16, THREADS_MAX};
    struct bench *bench = run->bench;
    redlock_config config = bench_config(bench);
    char token[256];
    int status = bench_library_open(&config, "redlock-bench:threads", TTL_MS, &run->library);
    if (status == 0)
        status = bench_library_token(&run->library, token, sizeof(token));
    if (status == 0 && bench->floors)
        status = bench_pipeline_open(bench, BENCH_SAME_BYTES, token, TTL_MS, &run->pipeline);
    if (status == 0) {
        run->pool.client = run->library.client;
        run->pool.options = run->library.options;
        if (!start_pool(&run->pool))
            status = EX_OSERR;
        for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]) && status == 0; c++) {
            run_pool(&run->pool, counts[c], WARM_UP_MS);
            for (unsigned round = 0; round < bench->options.rounds; round++)
                measure_round(run, counts[c], round);
            report(run, counts[c]);
        }
        end_pool(&run->pool);
    }
    return status;
}

int bench_run_threads(struct bench *bench)
{
    struct threads_run *run = bench_room(sizeof(*run));
    if (run == NULL)
        return EX_OSERR;
    run->bench = bench;
    return measure_all(run);
}
