/* bench_nowait.c - one caller who does not wait for what its releases come to, next to one
 * who does. */
#include "config_auto.h"

#include "bench.h"

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
    double pairs[SUBJECTS][BENCH_ROUNDS_MAX];
    double p50_us[SUBJECTS][BENCH_ROUNDS_MAX];
    double p99_us[SUBJECTS][BENCH_ROUNDS_MAX];
    double cpu_us[SUBJECTS][BENCH_ROUNDS_MAX];
    double failures[SUBJECTS];
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
        struct bench_slice slice =
            bench_measure(&subject, run->bench->options.slice_ms / (2 * SLICES), 1, NULL);
        total[which].pairs += slice.pairs;
        total[which].failures += slice.failures;
        total[which].seconds += slice.seconds;
        total[which].cpu_us += slice.cpu_us;
    }
    for (int i = 0; i < SUBJECTS; i++) {
        double pairs = total[i].pairs > 0 ? (double)total[i].pairs : 1;
        run->pairs[i][round] = (double)total[i].pairs / total[i].seconds;
        run->cpu_us[i][round] = total[i].cpu_us / pairs;
        run->p50_us[i][round] = bench_percentile_us(&run->giver[i].samples, 500);
        run->p99_us[i][round] = bench_percentile_us(&run->giver[i].samples, 990);
        run->failures[i] += (double)total[i].failures;
    }
}

static void report(struct nowait_run *run)
{
    struct bench_report *to = &run->bench->report;
    unsigned rounds = run->bench->options.rounds;
    bench_add_ratio(to, scenario, "pairs a second, not awaited to", of[AWAITED],
                    run->pairs[NOT_AWAITED], run->pairs[AWAITED], rounds);
    static const char *const figures[] = {"pairs a second", "the release call, p50",
                                          "the release call, p99", "client CPU a pair"};
    static const char *const units[] = {"1/s", "us", "us", "us"};
    for (size_t f = 0; f < sizeof(figures) / sizeof(figures[0]); f++)
        for (int i = 0; i < SUBJECTS; i++) {
            double *values[] = {run->pairs[i], run->p50_us[i], run->p99_us[i], run->cpu_us[i]};
            bench_add(to, scenario, figures[f], of[i], units[f],
                      bench_summarise(values[f], rounds));
        }
    for (int i = 0; i < SUBJECTS; i++) {
        if (run->failures[i] == 0)
            continue;
        bench_add(to, scenario, "failed pairs", of[i], "pairs",
                  bench_summary_of(run->failures[i]));
        bench_aim(to, BENCH_AT_MOST, 0);
    }
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
    struct nowait_run *run = calloc(1, sizeof(*run));
    bool fine = run != NULL;
    for (int i = 0; i < SUBJECTS && fine; i++)
        fine = bench_samples_init(&run->giver[i].samples, SAMPLES_MAX);
    int status = EX_OSERR;
    if (fine) {
        run->bench = bench;
        status = measure_all(run);
    } else {
        fprintf(stderr, "redlock-bench: out of memory\n");
    }
    for (int i = 0; i < SUBJECTS && run != NULL; i++)
        bench_samples_free(&run->giver[i].samples);
    free(run);
    return status;
}
