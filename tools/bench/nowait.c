/* nowait.c - a caller that does not wait for the results of its releases, next to one that
 * does. */
#include "config_auto.h"

#include "bench/bench.h"

#include <stdlib.h>
#include <sysexits.h>

#define TTL_MS 10000
#define WARM_UP_PAIRS 500
#define SLICES 5
#define SUBJECTS 2
#define SAMPLES_MAX (1 << 19)

enum { AWAITED, NOT_AWAITED };

static const char scenario[] = "no wait: a release that is not waited for";
static const char *const of[SUBJECTS] = {"redlock_release", "..._async"};

/* A subject whose give is timed. */
struct giver {
    struct bench_library library;
    struct bench_samples samples; /* of the release calls */
    bool awaits;
};

struct nowait_run {
    struct bench *bench;
    struct giver giver[SUBJECTS];
    struct bench_series series[SUBJECTS];
};

static bool take(void *context)
{
    struct bench_library *library = &((struct giver *)context)->library;
    return redlock_try(library->client, library->name, &library->options, &library->lock) == 0;
}

static bool give(void *context)
{
    struct giver *giver = context;
    redlock_lock *lock = giver->library.lock;
    int64_t start_ns = bench_now_ns();
    giver->library.lock = NULL;
    int code = giver->awaits ? redlock_release(lock) : redlock_release_async(lock, NULL, NULL);
    bench_samples_add(&giver->samples, bench_now_ns() - start_ns);
    return code == 0;
}

static void measure_round(struct nowait_run *run, unsigned round)
{
    struct bench_slice total[SUBJECTS] = {{0}};
    for (int i = 0; i < SUBJECTS; i++)
        bench_samples_clear(&run->giver[i].samples);
    for (int at = 0; at < SLICES * SUBJECTS; at++) {
        int which = (at + at / SUBJECTS) % SUBJECTS;
        struct bench_subject subject = {
            .name = of[which], .context = &run->giver[which], .take = take, .give = give};
        int64_t slice_ms = run->bench->options.slice_ms / (2 * SLICES);
        bench_slice_add(&total[which], bench_measure(&subject, slice_ms, 1, NULL));
    }
    for (int i = 0; i < SUBJECTS; i++)
        bench_series_set(&run->series[i], round, &total[i], &run->giver[i].samples);
}

static void report(struct nowait_run *run)
{
    struct bench_report *to = &run->bench->report;
    unsigned rounds = run->bench->options.rounds;
    bench_add_ratio(to, scenario, "pairs a second, not awaited to", of[AWAITED],
                    run->series[NOT_AWAITED].pairs, run->series[AWAITED].pairs, rounds);
    static const char *const figures[] = {"pairs a second", "the release call, p50",
                                          "the release call, p99", "client CPU a pair"};
    static const char *const units[] = {"1/s", "us", "us", "us"};
    for (size_t f = 0; f < sizeof(figures) / sizeof(figures[0]); f++)
        for (int i = 0; i < SUBJECTS; i++) {
            struct bench_series *series = &run->series[i];
            double *values[] = {series->pairs, series->p50_us, series->p99_us, series->cpu_us};
            bench_add(to, scenario, figures[f], of[i], units[f],
                      bench_summarise(values[f], rounds));
        }
    for (int i = 0; i < SUBJECTS; i++)
        bench_add_failed_pairs(to, scenario, "", of[i], run->series[i].failures);
}

static int measure_all(struct nowait_run *run)
{
    redlock_config config = bench_config(run->bench);
    static const char *const names[SUBJECTS] = {"redlock-bench:await", "redlock-bench:leave"};
    int status = 0;
    for (int i = 0; i < SUBJECTS && status == 0; i++) {
        struct giver *giver = &run->giver[i];
        struct bench_subject subject = {
            .name = of[i], .context = giver, .take = take, .give = give};
        giver->awaits = i == AWAITED;
        status = bench_library_open(&config, names[i], TTL_MS, &giver->library);
        if (status == 0)
            bench_measure(&subject, 0, WARM_UP_PAIRS, NULL);
    }
    for (unsigned round = 0; round < run->bench->options.rounds && status == 0; round++)
        measure_round(run, round);
    if (status == 0)
        report(run);
    for (int i = 0; i < SUBJECTS; i++)
        bench_library_close(&run->giver[i].library);
    return status;
}

int bench_run_nowait(struct bench *bench)
{
    struct nowait_run *run = bench_zeroed(sizeof(*run));
    bool fine = run != NULL;
    for (int i = 0; i < SUBJECTS && fine; i++)
        fine = bench_samples_init(&run->giver[i].samples, SAMPLES_MAX);
    int status = EX_OSERR;
    if (fine) {
        run->bench = bench;
        status = measure_all(run);
    }
    for (int i = 0; i < SUBJECTS && run != NULL; i++)
        bench_samples_free(&run->giver[i].samples);
    free(run);
    return status;
}
