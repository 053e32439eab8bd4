/* async_release.c - a caller that does not wait for the results of its releases, next to one
 * that does. */
#include "config_auto.h"

#include "bench/bench.h"

#include <stdlib.h>
#include <sysexits.h>

#define TTL_MS 10000
#define WARM_UP_PAIRS 500
#define SLICES 5
#define DRIVERS 2
#define SAMPLES_MAX (1 << 19)

enum { AWAITED, NOT_AWAITED };

static const char scenario[] = "no wait: a release that is not waited for";
static const char *const of[DRIVERS] = {"redlock_release", "..._async"};

/* A driver whose release is timed. */
struct releaser {
    struct bench_library library;
    struct bench_samples samples; /* of the release calls */
    bool awaits;
};

struct async_release_run {
    struct bench *bench;
    struct releaser releaser[DRIVERS];
    struct bench_series series[DRIVERS];
};

static bool acquire(void *context)
{
    struct bench_library *library = &((struct releaser *)context)->library;
    return redlock_try(library->client, library->name, &library->options, &library->lock) == 0;
}

static bool release(void *context)
{
    struct releaser *releaser = context;
    redlock_lock *lock = releaser->library.lock;
    int64_t start_ns = bench_now_ns();
    releaser->library.lock = NULL;
    int code =
        releaser->awaits ? redlock_release(lock) : redlock_release_async(lock, NULL, NULL);
    bench_samples_add(&releaser->samples, bench_now_ns() - start_ns);
    return code == 0;
}

static void measure_round(struct async_release_run *run, unsigned round)
{
    struct bench_slice total[DRIVERS] = {{0}};
    for (int i = 0; i < DRIVERS; i++)
        bench_samples_clear(&run->releaser[i].samples);
    for (int at = 0; at < SLICES * DRIVERS; at++) {
        int which = (at + at / DRIVERS) % DRIVERS;
        struct bench_driver driver = {.name = of[which],
                                      .context = &run->releaser[which],
                                      .acquire = acquire,
                                      .release = release};
        int64_t slice_ms = run->bench->options.slice_ms / (2 * SLICES);
        bench_slice_add(&total[which], bench_measure(&driver, slice_ms, 1, NULL));
    }
    for (int i = 0; i < DRIVERS; i++)
        bench_series_set(&run->series[i], round, &total[i], &run->releaser[i].samples);
}

static void report(struct async_release_run *run)
{
    struct bench_report *to = &run->bench->report;
    unsigned rounds = run->bench->options.rounds;
    bench_add_ratio(to, scenario, "pairs a second, not awaited to", of[AWAITED],
                    run->series[NOT_AWAITED].pairs, run->series[AWAITED].pairs, rounds);
    static const char *const figures[] = {"pairs a second", "the release call, p50",
                                          "the release call, p99", "client CPU a pair"};
    static const char *const units[] = {"1/s", "us", "us", "us"};
    for (size_t f = 0; f < sizeof(figures) / sizeof(figures[0]); f++)
        for (int i = 0; i < DRIVERS; i++) {
            struct bench_series *series = &run->series[i];
            double *values[] = {series->pairs, series->p50_us, series->p99_us, series->cpu_us};
            bench_add(to, scenario, figures[f], of[i], units[f],
                      bench_summarise(values[f], rounds));
        }
    for (int i = 0; i < DRIVERS; i++)
        bench_add_failed_pairs(to, scenario, "", of[i], run->series[i].failures);
}

static int measure_all(struct async_release_run *run)
{
    redlock_config config = bench_config(run->bench);
    static const char *const names[DRIVERS] = {"redlock-bench:await", "redlock-bench:leave"};
    for (int i = 0; i < DRIVERS; i++) {
        struct releaser *releaser = &run->releaser[i];
        struct bench_driver driver = {
            .name = of[i], .context = releaser, .acquire = acquire, .release = release};
        releaser->awaits = i == AWAITED;
        int status = bench_library_open(&config, names[i], TTL_MS, &releaser->library);
        if (status != 0)
            return status;
        bench_measure(&driver, 0, WARM_UP_PAIRS, NULL);
    }
    for (unsigned round = 0; round < run->bench->options.rounds; round++)
        measure_round(run, round);
    report(run);
    return 0;
}

int bench_run_async_release(struct bench *bench)
{
    struct async_release_run *run = bench_room(sizeof(*run));
    if (run == NULL || !bench_samples_init(&run->releaser[AWAITED].samples, SAMPLES_MAX) ||
        !bench_samples_init(&run->releaser[NOT_AWAITED].samples, SAMPLES_MAX))
        return EX_OSERR;
    run->bench = bench;
    return measure_all(run);
}
