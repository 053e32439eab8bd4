/* contention.c - many processes that race for one lock: does their number cost goodput, and
 * does each get its share? */
#include "config_auto.h"

#include "bench/report/draw.h"
#include "bench/contenders/group.h"

#include <stdlib.h>
#include <sysexits.h>

#define HOLD_US 1000
#define FEW 2
#define MANY 64
#define MANY_QUICK 8
#define ROUNDS_MAX 3
#define WARM_UP_MS 1000
#define GROUPS 2

static const char scenario[] = "crowd: processes that race for one lock, held for 1 ms";
static const char *const of[GROUPS] = {"library, few", "library, many"};

struct contention_run {
    struct bench *bench;
    struct bench_group *group[GROUPS];
    unsigned workers[GROUPS];
    double acquired[GROUPS][ROUNDS_MAX]; /* a second */
    double commands[GROUPS][ROUNDS_MAX]; /* an acquisition */
    double cpu_ms[GROUPS][ROUNDS_MAX];   /* of all, a second */
    double p50_us[GROUPS][ROUNDS_MAX];   /* of hand-offs */
    double p99_us[GROUPS][ROUNDS_MAX];
    double longest_us[GROUPS][ROUNDS_MAX];
    double first_ms[GROUPS][ROUNDS_MAX]; /* until somebody had it */
    struct bench_samples samples;
    uint64_t of_worker[GROUPS][BENCH_WORKERS_MAX];
    double failures;
    double overlaps;
};

static bool measure_one(struct contention_run *run, int which, unsigned round, int64_t slice_ms)
{
    struct bench_group_run did;
    struct bench_samples *samples = &run->samples;
    bench_samples_clear(samples);
    if (!bench_group_run(run->group[which], slice_ms, samples, &did))
        return false;
    run->p50_us[which][round] = bench_percentile_us(samples, 500);
    run->p99_us[which][round] = bench_percentile_us(samples, 990);
    run->longest_us[which][round] = bench_percentile_us(samples, 1000);
    run->first_ms[which][round] = did.first_ms;
    bench_draw_add(&run->bench->report, "hand-off in a crowd", of[which], samples);
    double acquired = did.acquired > 0 ? (double)did.acquired : 1;
    run->acquired[which][round] = (double)did.acquired / did.seconds;
    run->commands[which][round] = (double)did.commands / acquired;
    run->cpu_ms[which][round] = did.cpu_us / 1e3 / did.seconds;
    for (unsigned i = 0; i < run->workers[which]; i++)
        run->of_worker[which][i] += did.of_worker[i];
    run->failures += (double)did.failures;
    run->overlaps += (double)did.overlaps;
    return true;
}

static void report(struct contention_run *run, unsigned rounds)
{
    struct bench_report *to = &run->bench->report;
    bench_add_ratio(to, scenario, "acquisitions a second, many to", of[0], run->acquired[1],
                    run->acquired[0], rounds);
    bench_aim(to, BENCH_AT_LEAST, 0.6);
    for (int i = 0; i < GROUPS; i++)
        bench_add(to, scenario, "processes", of[i], "count", bench_summary_of(run->workers[i]));
    static const char *const figures[] = {"acquisitions a second", "commands an acquisition",
                                          "CPU of all, a second",  "hand-off p50",
                                          "hand-off p99",          "the longest hand-off",
                                          "until the first has it"};
    static const char *const units[] = {"1/s", "count", "ms", "us", "us", "us", "ms"};
    for (size_t f = 0; f < sizeof(figures) / sizeof(figures[0]); f++)
        for (int i = 0; i < GROUPS; i++) {
            double *values[] = {run->acquired[i], run->commands[i], run->cpu_ms[i],
                                run->p50_us[i],   run->p99_us[i],   run->longest_us[i],
                                run->first_ms[i]};
            bench_add(to, scenario, figures[f], of[i], units[f],
                      bench_summarise(values[f], rounds));
        }
    for (int i = 0; i < GROUPS; i++) {
        uint64_t least = run->of_worker[i][0];
        for (unsigned w = 1; w < run->workers[i]; w++)
            if (run->of_worker[i][w] < least)
                least = run->of_worker[i][w];
        bench_add(to, scenario, "Jain's index of all rounds", of[i], "index",
                  bench_summary_of(bench_jain(run->of_worker[i], run->workers[i])));
        bench_aim(to, BENCH_AT_LEAST, 0.9);
        bench_add(to, scenario, "acquisitions of the last in all rounds", of[i], "count",
                  bench_summary_of((double)least));
    }
    bench_add(to, scenario, "held by two at once", "library", "times",
              bench_summary_of(run->overlaps));
    bench_aim(to, BENCH_AT_MOST, 0);
    bench_add(to, scenario, "failed calls", "library", "calls",
              bench_summary_of(run->failures));
    bench_aim(to, BENCH_AT_MOST, 0);
}

static int measure(struct contention_run *run)
{
    static const char *const names[GROUPS] = {"redlock-bench:few", "redlock-bench:many"};
    const struct bench_options *options = &run->bench->options;
    unsigned rounds = options->rounds < ROUNDS_MAX ? options->rounds : ROUNDS_MAX;
    struct bench_group_run did;
    for (int i = 0; i < GROUPS; i++) {
        struct bench_group_plan plan = {.bench = run->bench,
                                        .name = names[i],
                                        .workers = run->workers[i],
                                        .hold_us = HOLD_US};
        int status = bench_group_start(&plan, &run->group[i]);
        if (status != 0)
            return status;
        if (!bench_group_run(run->group[i], options->quick ? 20 : WARM_UP_MS, NULL, &did))
            return EX_OSERR;
    }
    for (unsigned round = 0; round < rounds; round++)
        for (int i = 0; i < GROUPS; i++)
            if (!measure_one(run, i, round, i == 0 ? options->slice_ms : 2 * options->slice_ms))
                return EX_OSERR;
    report(run, rounds);
    return 0;
}

int bench_run_contention(struct bench *bench)
{
    struct contention_run *run = bench_room(sizeof(*run));
    if (run == NULL || !bench_samples_init(&run->samples, BENCH_HANDOFFS_MAX))
        return EX_OSERR;
    run->bench = bench;
    run->workers[0] = FEW;
    run->workers[1] = bench->options.quick ? MANY_QUICK : MANY;
    int status = measure(run);
    for (int i = 0; i < GROUPS; i++)
        bench_group_end(run->group[i]);
    return status;
}
