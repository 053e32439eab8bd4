/* renew.c - many locks held and renewed by one client: are any lost, and what is the cost? */
#include "config_auto.h"

#include "bench/bench.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#define TTL_MS 30000
#define QUICK_TTL_MS 1500
#define MASTERS 3 /* of those that there are */
#define IN_FLIGHT_MAX 256
#define LOOK_MS 100

static const char scenario[] = "renew: many locks held by one client";

struct renew_run {
    struct bench *bench;
    struct bench_library library;
    redlock_lock **lock; /* NULL: not acquired */
    unsigned locks;
    pthread_mutex_t mutex; /* for the rest: callbacks come on another thread */
    pthread_cond_t done;
    unsigned in_flight;
    unsigned held;
    unsigned failures;
    unsigned lost; /* told by on_lost */
    int64_t lowest_ms;
    double looking_us; /* CPU that our own looking took */
};

/* An asynchronous call is about to begin: wait until fewer are under way. */
static void enter(struct renew_run *run, unsigned in_flight_max)
{
    pthread_mutex_lock(&run->mutex);
    while (run->in_flight >= in_flight_max)
        pthread_cond_wait(&run->done, &run->mutex);
    run->in_flight++;
    pthread_mutex_unlock(&run->mutex);
}

static void leave(struct renew_run *run, bool fine)
{
    pthread_mutex_lock(&run->mutex);
    run->in_flight--;
    run->failures += !fine;
    pthread_cond_signal(&run->done);
    pthread_mutex_unlock(&run->mutex);
}

static void await_all(struct renew_run *run)
{
    enter(run, 1);
    leave(run, true);
}

static void on_taken(void *context, int result, redlock_lock *lock)
{
    struct renew_run *run = context;
    if (result == 0) {
        pthread_mutex_lock(&run->mutex);
        run->lock[run->held++] = lock;
        pthread_mutex_unlock(&run->mutex);
    }
    leave(run, result == 0);
}

static void on_released(void *context, int result, redlock_lock *lock)
{
    (void)lock;
    leave(context, result == 0);
}

static void on_lost(void *context, redlock_lock *lock)
{
    struct renew_run *run = context;
    (void)lock;
    pthread_mutex_lock(&run->mutex);
    run->lost++;
    pthread_mutex_unlock(&run->mutex);
}

static void acquire_all(struct renew_run *run)
{
    char name[40];
    redlock_options options = run->library.options;
    options.auto_renew = 1;
    options.on_lost = on_lost;
    options.lost_context = run;
    for (unsigned i = 0; i < run->locks; i++) {
        int len = snprintf(name, sizeof(name), "redlock-bench:renew:%06u", i);
        enter(run, IN_FLIGHT_MAX);
        if (redlock_try_async_n(run->library.client, name, (size_t)len, &options, on_taken, run,
                                NULL) != 0)
            leave(run, false);
    }
    await_all(run);
}

static void release_all(struct renew_run *run)
{
    for (unsigned i = 0; i < run->held; i++) {
        enter(run, IN_FLIGHT_MAX);
        if (redlock_release_async(run->lock[i], on_released, run) != 0)
            leave(run, false);
    }
    await_all(run);
}

static double thread_cpu_us(void)
{
    struct timespec used;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) != 0)
        return 0;
    return (double)used.tv_sec * 1e6 + (double)used.tv_nsec / 1e3;
}

/* Look at every lock's validity, again and again. */
static void watch(struct renew_run *run, int64_t end_ns)
{
    run->lowest_ms = INT64_MAX;
    while (bench_now_ns() < end_ns) {
        double before_us = thread_cpu_us();
        for (unsigned i = 0; i < run->held; i++) {
            int64_t left_ms = redlock_validity_ms(run->lock[i]);
            if (left_ms < run->lowest_ms)
                run->lowest_ms = left_ms;
        }
        run->looking_us += thread_cpu_us() - before_us;
        bench_sleep_ms(LOOK_MS);
    }
}

static unsigned count_ended(const struct renew_run *run)
{
    unsigned ended = 0;
    for (unsigned i = 0; i < run->held; i++)
        ended += redlock_validity_ms(run->lock[i]) == 0;
    return ended > run->lost ? ended : run->lost;
}

/* Memory that earlier scenarios have freed goes back first, because the locks must not be put
 * into it. */
static double rss_kib(void)
{
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
    return bench_rss_kib();
}

static void add(struct renew_run *run, const char *what, const char *unit, double value)
{
    bench_add(&run->bench->report, scenario, what, "library", unit, bench_summary_of(value));
}

static void measure(struct renew_run *run)
{
    struct bench_report *report = &run->bench->report;
    int64_t ttl_ms = run->library.options.ttl_ms;
    redlock_stats before = {.size = sizeof(before)};
    redlock_stats after = {.size = sizeof(after)};
    double kib = rss_kib();
    int64_t start_ns = bench_now_ns();
    acquire_all(run);
    double took_s = (double)(bench_now_ns() - start_ns) / 1e9;
    redlock_get_stats(run->library.client, &before);
    double cpu_us = bench_cpu_us();
    start_ns = bench_now_ns();
    watch(run, start_ns + run->bench->options.hold_ms * 1000000);
    double held_s = (double)(bench_now_ns() - start_ns) / 1e9;
    cpu_us = bench_cpu_us() - cpu_us - run->looking_us;
    redlock_get_stats(run->library.client, &after);
    unsigned ended = count_ended(run);
    kib = bench_rss_kib() - kib;
    start_ns = bench_now_ns();
    release_all(run);
    double gave_s = (double)(bench_now_ns() - start_ns) / 1e9;

    /* As seen right before a renewal that comes on time. */
    double expected_ms = (double)ttl_ms * 2 / 3 - ((double)ttl_ms * 0.01 + 2);
    double late_ms = expected_ms - (double)run->lowest_ms;
    add(run, "locks", "locks", run->held);
    bench_aim(report, BENCH_AT_LEAST, run->locks);
    add(run, "held for", "s", held_s);
    add(run, "lost", "locks", ended);
    bench_aim(report, BENCH_AT_MOST, 0);
    add(run, "failed calls", "calls", run->failures);
    bench_aim(report, BENCH_AT_MOST, 0);
    add(run, "renewals", "1/s", (double)(after.extended - before.extended) / held_s);
    add(run, "client CPU while held", "% core", cpu_us / (held_s * 1e6) * 100);
    add(run, "memory a lock", "bytes", run->held > 0 ? kib * 1024 / run->held : 0);
    if (run->held > 0) {
        add(run, "lowest validity seen", "ms", (double)run->lowest_ms);
        add(run, "longest renewal delay", "ms", late_ms > 0 ? late_ms : 0);
    }
    add(run, "taken", "1/s", (double)run->held / took_s);
    add(run, "released", "1/s", (double)run->held / gave_s);
}

/* The first three of private masters, else all masters. */
static int open_library(struct renew_run *run)
{
    struct bench *bench = run->bench;
    redlock_node node[MASTERS];
    char url[MASTERS][128];
    redlock_config config = bench_config(bench);
    if (bench->masters != NULL && bench->nodes > MASTERS) {
        for (unsigned i = 0; i < MASTERS; i++) {
            const struct server_at *from = &bench->node[i];
            node[i] = (redlock_node)REDLOCK_NODE_INIT;
            node[i].url = url[i];
            if (from->path != NULL)
                snprintf(url[i], sizeof(url[i]), "unix://%s", from->path);
            else
                snprintf(url[i], sizeof(url[i]), "redis://127.0.0.1:%d", from->port);
        }
        config.file = NULL;
        config.nodes = node;
        config.node_count = MASTERS;
    }
    int64_t ttl_ms = bench->options.quick ? QUICK_TTL_MS : TTL_MS;
    return bench_library_open(&config, "redlock-bench:renew", ttl_ms, &run->library);
}

int bench_run_renew(struct bench *bench)
{
    static struct renew_run run;
    run = (struct renew_run){.bench = bench, .locks = bench->options.locks};
    run.lock = bench_room(run.locks * sizeof(run.lock[0]));
    if (run.lock == NULL)
        return EX_OSERR;
    pthread_mutex_init(&run.mutex, NULL);
    pthread_cond_init(&run.done, NULL);
    int status = open_library(&run);
    if (status == 0) {
        memset(run.lock, 0, run.locks * sizeof(run.lock[0])); /* resident from here on */
        measure(&run);
    }
    return status;
}
