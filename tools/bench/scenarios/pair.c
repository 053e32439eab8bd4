/* pair.c - one caller, one pair of acquire and release at a time, nobody in the way. Also the
 * effect of a million pairs on memory. */
#include "config_auto.h"

#include "bench/alloc.h"
#include "bench/report/draw.h"
#include "bench/floor/floor.h"
#include "bench/place/masters_cpu.h"

#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#define TTL_MS 10000
#define WARM_UP_PAIRS 500
#define DRIVERS 4
#define BLOCKS 50
#define SLICES 10 /* a round and driver */
#define SAMPLES_MAX (1 << 20)

enum { LIBRARY, LAZY, SAME_BYTES, BARE };

static const char scenario[] = "pair: one try and release at a time";
static const char memory[] = "memory: the same, many times";

/* The figures of one driver in this scenario alone, a value a round. */
struct pair_series {
    double p999_us[BENCH_ROUNDS_MAX];
    double bytes[BENCH_ROUNDS_MAX];
    double received; /* bytes, in this round */
};

struct pair_run {
    struct bench *bench;
    struct bench_library library, lazy;
    struct bench_floor *floor[DRIVERS];
    struct bench_driver driver[DRIVERS];
    unsigned drivers;
    struct bench_samples samples[DRIVERS];
    struct server_talk talk[REDLOCK_NODES_MAX]; /* asks the masters for the bytes received */
    struct bench_series series[DRIVERS];
    struct pair_series extra[DRIVERS];
};

/* Bytes that all masters have received so far, from anyone; 0 where they do not say. */
static double bytes_received(struct pair_run *run)
{
    static const char field[] = "total_net_input_bytes:";
    double sum = 0;
    char text[8192];
    for (unsigned i = 0; i < run->bench->nodes && run->bench->floors; i++) {
        server_talk_say(&run->talk[i], "INFO stats", text, sizeof(text));
        const char *at = strstr(text, field);
        if (at == NULL)
            return 0;
        sum += strtod(at + strlen(field), NULL);
    }
    return sum;
}

/* The length of "INFO stats" on the wire, asked once a slice of every master. */
#define ASKED_BYTES 27

/* A short slice of one driver; the round's figures are of all its slices together. */
static void measure_slice(struct pair_run *run, unsigned which, struct bench_slice *total)
{
    double bytes = bytes_received(run);
    struct bench_slice slice = bench_measure(
        &run->driver[which], run->bench->options.slice_ms / SLICES, 1, &run->samples[which]);
    run->extra[which].received +=
        bytes_received(run) - bytes - ASKED_BYTES * (double)run->bench->nodes;
    bench_slice_add(total, slice);
}

/* The machine's speed changes by the second. So the drivers take turns of a tenth of the time
 * that each has in a round, and another one begins every turn. */
static void measure_round(struct pair_run *run, unsigned round)
{
    struct bench_slice total[DRIVERS] = {{0}};
    for (unsigned i = 0; i < run->drivers; i++) {
        bench_samples_clear(&run->samples[i]);
        run->extra[i].received = 0;
    }
    for (unsigned turn = 0; turn < SLICES; turn++)
        for (unsigned i = 0; i < run->drivers; i++) {
            unsigned which = (turn + i) % run->drivers;
            measure_slice(run, which, &total[which]);
        }
    for (unsigned i = 0; i < run->drivers; i++) {
        struct pair_series *extra = &run->extra[i];
        double pairs = total[i].pairs > 0 ? (double)total[i].pairs : 1;
        bench_series_set(&run->series[i], round, &total[i], &run->samples[i]);
        extra->p999_us[round] = bench_percentile_us(&run->samples[i], 999);
        extra->bytes[round] = extra->received / run->bench->nodes / pairs;
        bench_draw_add(&run->bench->report, "pair: take", run->driver[i].name,
                       &run->samples[i]);
    }
}

static int open_floors(struct pair_run *run)
{
    char token[256];
    struct bench *bench = run->bench;
    bench_measure(&run->driver[LIBRARY], 0, WARM_UP_PAIRS, NULL);
    int status = bench_library_token(&run->library, token, sizeof(token));
    if (status != 0 || !bench->floors)
        return status;
    for (unsigned i = 0; i < bench->nodes; i++) {
        if (!bench_talk_open(&run->talk[i], bench, i))
            return EX_UNAVAILABLE;
    }
    status = bench_floor_open(bench, BENCH_SAME_BYTES, "redlock-bench:floor", token, TTL_MS,
                              &run->floor[SAME_BYTES]);
    if (status == 0)
        status = bench_floor_open(bench, BENCH_BARE, "redlock-bench:plain", token, TTL_MS,
                                  &run->floor[BARE]);
    for (unsigned i = SAME_BYTES; i <= BARE && status == 0; i++) {
        run->driver[i] = bench_floor_driver(run->floor[i]);
        bench_measure(&run->driver[i], 0, WARM_UP_PAIRS, NULL);
        run->drivers = i + 1;
    }
    return status;
}

static void report_pairs(struct pair_run *run)
{
    struct bench_report *report = &run->bench->report;
    unsigned rounds = run->bench->options.rounds;
    const struct bench_series *ours = &run->series[LIBRARY];
    /* The ratios first: bench_summarise() sorts, and a ratio is of two slices of one round. */
    for (unsigned i = SAME_BYTES; i < run->drivers; i++) {
        bench_add_ratio(report, scenario, "pairs a second, library to", run->driver[i].name,
                        ours->pairs, run->series[i].pairs, rounds);
        bench_aim(report, BENCH_AT_LEAST, i == SAME_BYTES ? 0.92 : 0.85);
    }
    if (run->drivers > BARE) {
        bench_add_ratio(report, scenario, "pairs a second, lazy releases to",
                        run->driver[BARE].name, run->series[LAZY].pairs,
                        run->series[BARE].pairs, rounds);
        bench_aim(report, BENCH_AT_LEAST, 1.3);
    }
    for (unsigned i = SAME_BYTES; i < run->drivers; i++) {
        bench_add_ratio(report, scenario, "client CPU a pair, library to", run->driver[i].name,
                        ours->cpu_us, run->series[i].cpu_us, rounds);
        bench_aim(report, BENCH_AT_MOST, 1.1);
    }
    static const char *const figures[] = {"pairs a second",    "acquire p50",
                                          "acquire p99",       "acquire p99.9",
                                          "client CPU a pair", "bytes a pair to each master"};
    static const char *const units[] = {"1/s", "us", "us", "us", "us", "bytes"};
    for (size_t f = 0; f < sizeof(figures) / sizeof(figures[0]); f++)
        for (unsigned i = 0; i < run->drivers; i++) {
            struct bench_series *series = &run->series[i];
            struct pair_series *extra = &run->extra[i];
            double *values[] = {series->pairs,  series->p50_us, series->p99_us,
                                extra->p999_us, series->cpu_us, extra->bytes};
            if (values[f] != extra->bytes || run->bench->floors)
                bench_add(report, scenario, figures[f], run->driver[i].name, units[f],
                          bench_summarise(values[f], rounds));
        }
    const char *of[DRIVERS];
    for (unsigned i = 0; i < run->drivers; i++)
        of[i] = run->driver[i].name;
    bench_add_masters_cpu(report, scenario, "", of, run->series, run->drivers, rounds);
    for (unsigned i = 0; i < run->drivers; i++)
        bench_add_failed_pairs(report, scenario, "", run->driver[i].name,
                               run->series[i].failures);
}

static int open_lazy(struct pair_run *run, const redlock_config *config)
{
    int status = bench_library_open(config, "redlock-bench:lazy", TTL_MS, &run->lazy);
    if (status != 0)
        return status;
    run->lazy.options.release = REDLOCK_RELEASE_LAZY;
    run->driver[LAZY] = bench_library_driver(&run->lazy);
    run->driver[LAZY].name = "library, lazy releases";
    run->drivers = LAZY + 1;
    bench_measure(&run->driver[LAZY], 0, WARM_UP_PAIRS, NULL);
    return 0;
}

static int measure_pairs(struct pair_run *run)
{
    redlock_config config = bench_config(run->bench);
    int status = bench_library_open(&config, "redlock-bench:pairs", TTL_MS, &run->library);
    if (status != 0)
        return status;
    run->driver[LIBRARY] = bench_library_driver(&run->library);
    status = open_lazy(run, &config);
    if (status == 0)
        status = open_floors(run);
    if (status != 0)
        return status;
    for (unsigned round = 0; round < run->bench->options.rounds; round++)
        measure_round(run, round);
    report_pairs(run);
    return 0;
}

int bench_run_pair(struct bench *bench)
{
    struct pair_run *run = bench_room(sizeof(*run));
    if (run == NULL || !bench_samples_init_all(run->samples, DRIVERS, SAMPLES_MAX))
        return EX_OSERR;
    run->bench = bench;
    return measure_pairs(run);
}

/* Pairs are counted in blocks. The allocations of a block are those of a steady state. A buffer
 * that grows once, because some master has lagged, shows in the largest block alone. */
static void measure_blocks(struct bench *bench, const struct bench_driver *driver)
{
    double calls[BLOCKS];
    uint64_t pairs = (uint64_t)bench->options.memory_pairs / BLOCKS;
    for (unsigned i = 0; i < BLOCKS; i++) {
        uint64_t before = bench_alloc_count();
        bench_measure(driver, 0, pairs, NULL);
        calls[i] = (double)(bench_alloc_count() - before) / (double)pairs;
    }
    if (bench_alloc_counted()) {
        bench_add(&bench->report, memory, "allocations a pair", driver->name, "calls",
                  bench_summarise(calls, BLOCKS));
        bench_aim(&bench->report, BENCH_AT_MOST, 0);
    } else {
        bench_note(&bench->report, "allocations can't be counted in this build");
    }
}

int bench_run_memory(struct bench *bench)
{
    struct bench_report *report = &bench->report;
    static struct bench_library library;
    redlock_config config = bench_config(bench);
    int status = bench_library_open(&config, "redlock-bench:memory", TTL_MS, &library);
    if (status != 0)
        return status;
    struct bench_driver driver = bench_library_driver(&library);
    bench_measure(&driver, 0, 4 * WARM_UP_PAIRS, NULL);
    double rss_kib = bench_rss_kib();
    double peak_kib = bench_peak_rss_kib();
    bench_add(report, memory, "pairs", driver.name, "pairs",
              bench_summary_of((double)bench->options.memory_pairs));
    measure_blocks(bench, &driver);
    bench_add(report, memory, "resident memory, grown by", driver.name, "KiB",
              bench_summary_of(bench_rss_kib() - rss_kib));
    bench_aim(report, BENCH_AT_MOST, 256);
    bench_add(report, memory, "its peak, grown by", driver.name, "KiB",
              bench_summary_of(bench_peak_rss_kib() - peak_kib));
    bench_add(report, memory, "its peak", driver.name, "KiB",
              bench_summary_of(bench_peak_rss_kib()));
    return 0;
}
