/* down.c - one master refuses, is stopped, or loses everything. Measures the cost of a
 * successful try then, against a try when all are well. */
#include "config_auto.h"

#include "bench/floor/floor.h"

#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#define TTL_MS 2000 /* so that a silent node is past its deadline (TTL/N) early in a slice */
#define ROUNDS_MAX 3
#define TURNS 10
#define SAMPLES_MAX (1 << 19)

static const char scenario[] = "one down: a try when one master is gone";

enum fault { REFUSED, STOPPED, BLACKHOLED, FAULTS };
static const char *const fault_names[] = {"refused", "stopped", "black-holed"};

enum { LIBRARY, FLOOR, DRIVERS };

struct down_series {
    double well_p50_us[ROUNDS_MAX];
    double well_p99_us[ROUNDS_MAX];
    double p50_us[ROUNDS_MAX];
    double p99_us[ROUNDS_MAX];
    double slowest_us[ROUNDS_MAX];
    double p50_ratio[ROUNDS_MAX];
    double p99_ratio[ROUNDS_MAX];
    size_t fewest; /* samples in a round */
    double rss_kib;
    double failures;
};

struct down_run {
    struct bench *bench;
    struct bench_library library;
    struct bench_floor *floor;
    struct bench_driver driver[DRIVERS];
    struct bench_samples samples[DRIVERS];
    struct down_series series[DRIVERS];
};

static bool inject(struct bench *bench, enum fault fault, unsigned index)
{
    switch (fault) {
    case REFUSED:
        return server_kill(bench->masters, index);
    case STOPPED:
        return server_stop(bench->masters, index);
    default:
        return server_blackhole(bench->masters, index);
    }
}

/* All is as it was when this returns: the master answers, and both drivers know it. */
static bool heal(struct down_run *run, enum fault fault, unsigned index)
{
    struct bench *bench = run->bench;
    bool fine = fault == REFUSED ? server_restart(bench->masters, index)
                                 : server_resume(bench->masters, index);
    return fine && bench_floor_reconnect(run->floor) && bench_library_await(&run->library);
}

/* Measure both drivers in turns of a tenth of the time, and the library for a tenth of the
 * tries at least. So changes in the machine's speed meet both. */
static void measure_in_turns(struct down_run *run, int64_t duration_ms, int64_t tries)
{
    for (unsigned i = 0; i < DRIVERS; i++)
        bench_samples_clear(&run->samples[i]);
    for (unsigned turn = 0; turn < TURNS; turn++)
        for (unsigned i = 0; i < DRIVERS; i++) {
            unsigned which = (turn + i) % DRIVERS;
            uint64_t least = which == LIBRARY ? (uint64_t)(tries / TURNS) : 1;
            struct bench_slice slice = bench_measure(&run->driver[which], duration_ms / TURNS,
                                                     least, &run->samples[which]);
            run->series[which].failures += (double)slice.failures;
        }
}

static void measure_well(struct down_run *run, unsigned round)
{
    measure_in_turns(run, run->bench->options.slice_ms / 2, TURNS);
    for (unsigned i = 0; i < DRIVERS; i++) {
        run->series[i].well_p50_us[round] = bench_percentile_us(&run->samples[i], 500);
        run->series[i].well_p99_us[round] = bench_percentile_us(&run->samples[i], 990);
    }
}

static void measure_down(struct down_run *run, unsigned round)
{
    const struct bench_options *options = &run->bench->options;
    double rss_kib = bench_rss_kib();
    /* Many tries in the first round, to see the memory that they leave in use. */
    measure_in_turns(run, options->slice_ms / 2, round == 0 ? options->down_tries : TURNS);
    if (round == 0)
        run->series[LIBRARY].rss_kib = bench_rss_kib() - rss_kib;
    for (unsigned i = 0; i < DRIVERS; i++) {
        struct down_series *series = &run->series[i];
        struct bench_samples *samples = &run->samples[i];
        if (round == 0 || samples->count < series->fewest)
            series->fewest = samples->count;
        series->p50_us[round] = bench_percentile_us(samples, 500);
        series->p99_us[round] = bench_percentile_us(samples, 990);
        series->slowest_us[round] = bench_percentile_us(samples, 1000);
        series->p50_ratio[round] = series->p50_us[round] / series->well_p50_us[round];
        series->p99_ratio[round] = series->p99_us[round] / series->well_p99_us[round];
    }
}

static void report_one(struct down_run *run, enum fault fault, const char *what, unsigned which,
                       const char *unit, double *values, unsigned rounds)
{
    char text[56];
    snprintf(text, sizeof(text), "%s: %s", fault_names[fault], what);
    bench_add(&run->bench->report, scenario, text, run->driver[which].name, unit,
              bench_summarise(values, rounds));
}

static void report_fault(struct down_run *run, enum fault fault, unsigned rounds)
{
    struct bench_report *report = &run->bench->report;
    for (unsigned i = 0; i < DRIVERS; i++) {
        struct down_series *series = &run->series[i];
        report_one(run, fault, "p50, to all well", i, "ratio", series->p50_ratio, rounds);
        if (i == LIBRARY)
            bench_aim(report, BENCH_AT_MOST, 1.2);
        report_one(run, fault, "p99, to all well", i, "ratio", series->p99_ratio, rounds);
        bench_of_samples(report, series->fewest);
        if (i == LIBRARY)
            bench_aim(report, BENCH_AT_MOST, 1.5);
        report_one(run, fault, "p50", i, "us", series->p50_us, rounds);
        report_one(run, fault, "p50 all well", i, "us", series->well_p50_us, rounds);
        report_one(run, fault, "p99", i, "us", series->p99_us, rounds);
        report_one(run, fault, "p99 all well", i, "us", series->well_p99_us, rounds);
        report_one(run, fault, "the slowest", i, "us", series->slowest_us, rounds);
    }
    struct down_series *ours = &run->series[LIBRARY];
    report_one(run, fault, "memory, grown by", LIBRARY, "KiB", &ours->rss_kib, 1);
    bench_aim(report, BENCH_AT_MOST, 8192);
    report_one(run, fault, "failed tries", LIBRARY, "tries", &ours->failures, 1);
    bench_aim(report, BENCH_AT_MOST, 0);
}

static int measure_fault(struct down_run *run, enum fault fault)
{
    unsigned rounds = run->bench->options.rounds;
    if (rounds > ROUNDS_MAX)
        rounds = ROUNDS_MAX;
    for (unsigned i = 0; i < DRIVERS; i++)
        run->series[i] = (struct down_series){.failures = 0};
    for (unsigned round = 0; round < rounds; round++) {
        unsigned victim = (round + (unsigned)fault) % run->bench->nodes;
        measure_well(run, round);
        if (!inject(run->bench, fault, victim)) {
            fprintf(stderr, "redlock-bench: cannot make master %u %s\n", victim + 1,
                    fault_names[fault]);
            return EX_OSERR;
        }
        measure_down(run, round);
        if (!heal(run, fault, victim)) {
            fprintf(stderr, "redlock-bench: master %u did not come back\n", victim + 1);
            return EX_OSERR;
        }
    }
    report_fault(run, fault, rounds);
    return 0;
}

/* Room for the samples, every page touched once, or it would count as growth. */
static bool touch_samples(struct down_run *run)
{
    for (unsigned i = 0; i < DRIVERS; i++) {
        if (!bench_samples_init(&run->samples[i], SAMPLES_MAX))
            return false;
        memset(run->samples[i].ns, 1, SAMPLES_MAX * sizeof(run->samples[i].ns[0]));
    }
    return true;
}

int bench_run_down(struct bench *bench)
{
    static struct down_run run; /* too big for a stack */
    run = (struct down_run){.bench = bench};
    if (bench->nodes - 1 < bench->needed) {
        bench_note(&bench->report, "one down: needs three masters or more, left out");
        return 0;
    }
    redlock_config config = bench_config(bench);
    int status = bench_library_open(&config, "redlock-bench:down", TTL_MS, &run.library);
    if (status != 0)
        return status;
    status = bench_floor_open(bench, BENCH_SAME_BYTES, "redlock-bench:down-floor",
                              "0123456789abcdef0123456789abcdef", TTL_MS, &run.floor);
    if (status != 0)
        return status;
    run.driver[LIBRARY] = bench_library_driver(&run.library);
    run.driver[FLOOR] = bench_floor_driver(run.floor);
    if (!touch_samples(&run))
        return EX_OSERR;
    for (unsigned fault = 0; fault < FAULTS && status == 0; fault++)
        if (fault != BLACKHOLED || !bench->options.unix_sockets)
            status = measure_fault(&run, (enum fault)fault);
    return status;
}
