/* inflight.c - many pairs of try and release in flight from one event loop. The floors are raw
 * sockets that pipeline the same bytes, or a bare SET, down as many connections. */
#include "config_auto.h"

#include "bench/report/draw.h"
#include "bench/place/masters_cpu.h"
#include "bench/floor/floor_pipeline.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#define TTL_MS 10000
#define DRIVERS 3
#define SLICES 5 /* a round and driver */
#define WARM_UP_MS 50
#define SILENCE_MS 5000
#define MASTERS_CPU_SLOTS 64
#define SAMPLES_MAX (1 << 20)

enum { LIBRARY, SAME_BYTES, BARE };

static const char scenario[] = "in flight: many try and release at once, from one loop";
static const char *const of[DRIVERS] = {"library", "floor, same bytes", "floor, bare SET"};
/* What is asked for of the library's rate to each floor's. */
static const double asked[DRIVERS] = {[SAME_BYTES] = 0.8, [BARE] = 0.65};

/* The state of the pair under one name. */
struct flight_op {
    struct flight *flight;
    int64_t began_ns;
    char name[32];
};

/* The library, driven by a loop of ours. */
struct flight {
    redlock *client;
    int fd;
    redlock_options options;
    struct bench_many many;
    struct flight_op op[BENCH_PIPE_SLOTS_MAX];
};

struct inflight_run {
    struct bench *bench;
    struct bench_library library;
    int drivers; /* all, or the library alone */
    struct bench_pipeline *pipeline[DRIVERS];
    struct flight flight;
    struct bench_samples samples[DRIVERS];
    struct bench_series series[DRIVERS];
};

static void on_taken(void *context, int result, redlock_lock *lock);

static void begin_pair(struct flight_op *op)
{
    struct flight *flight = op->flight;
    struct bench_many *many = &flight->many;
    op->began_ns = many->now_ns;
    if (many->now_ns < many->end_ns &&
        redlock_try_async_n(flight->client, op->name, strlen(op->name), &flight->options,
                            on_taken, op, NULL) == 0)
        return;
    many->slice.failures += many->now_ns < many->end_ns;
    many->in_flight--;
}

static void on_released(void *context, int result, redlock_lock *lock)
{
    struct flight_op *op = context;
    struct bench_many *many = &op->flight->many;
    (void)lock;
    many->slice.failures += result != 0;
    many->slice.pairs += result == 0 && many->now_ns < many->end_ns;
    begin_pair(op);
}

static void on_taken(void *context, int result, redlock_lock *lock)
{
    struct flight_op *op = context;
    struct bench_many *many = &op->flight->many;
    if (result == 0 && many->now_ns < many->end_ns)
        bench_samples_add(many->samples, many->now_ns - op->began_ns);
    if (result == 0 && redlock_release_async(lock, on_released, op) == 0)
        return;
    many->slice.failures++;
    begin_pair(op);
}

/* False: after so long a silence nothing will come any more. */
static bool turn(void *context)
{
    struct flight *flight = context;
    struct pollfd readable = {.fd = flight->fd, .events = POLLIN};
    int limit_ms = redlock_timeout_ms(flight->client);
    bool silent = limit_ms < 0 || limit_ms > SILENCE_MS;
    int ready = poll(&readable, 1, silent ? SILENCE_MS : limit_ms);
    flight->many.now_ns = bench_now_ns();
    if (ready < 0 && errno != EINTR)
        return false;
    return redlock_process(flight->client) == 0 && (ready != 0 || !silent);
}

static void begin_slot(void *context, unsigned slot)
{
    struct flight *flight = context;
    begin_pair(&flight->op[slot]);
}

static struct bench_slice run_one(struct inflight_run *run, int which, unsigned slots,
                                  int64_t duration_ms)
{
    struct flight *flight = &run->flight;
    const struct bench_many_way way = {.context = flight, .begin = begin_slot, .turn = turn};
    if (which == LIBRARY)
        return bench_many_run(&flight->many, &way, slots, duration_ms, &run->samples[LIBRARY]);
    return bench_pipeline_run(run->pipeline[which], slots, duration_ms, &run->samples[which]);
}

static void measure_round(struct inflight_run *run, unsigned slots, unsigned round)
{
    struct bench_slice total[DRIVERS] = {{0}};
    int64_t slice_ms = run->bench->options.slice_ms / (2 * SLICES);
    int drivers = run->drivers;
    for (int i = 0; i < drivers; i++)
        bench_samples_clear(&run->samples[i]);
    for (int at = 0; at < SLICES * drivers; at++) {
        int which = (at + at / drivers) % drivers; /* another one begins every turn */
        bench_slice_add(&total[which], run_one(run, which, slots, slice_ms > 0 ? slice_ms : 1));
    }
    char title[56];
    snprintf(title, sizeof(title), "take, %u in flight", slots);
    for (int i = 0; i < drivers; i++) {
        bench_series_set(&run->series[i], round, &total[i], &run->samples[i]);
        bench_draw_add(&run->bench->report, title, of[i], &run->samples[i]);
    }
}

static void report_ratios(struct inflight_run *run, unsigned slots)
{
    struct bench_report *to = &run->bench->report;
    unsigned rounds = run->bench->options.rounds;
    const struct bench_series *series = run->series;
    char what[56];
    for (int i = SAME_BYTES; i < run->drivers; i++) {
        snprintf(what, sizeof(what), "%u: pairs a second, library to", slots);
        bench_add_ratio(to, scenario, what, of[i], series[LIBRARY].pairs, series[i].pairs,
                        rounds);
        bench_aim(to, BENCH_AT_LEAST, asked[i]);
        snprintf(what, sizeof(what), "%u: client CPU a pair, library to", slots);
        bench_add_ratio(to, scenario, what, of[i], series[LIBRARY].cpu_us, series[i].cpu_us,
                        rounds);
        bench_aim(to, BENCH_AT_MOST, 1.4);
    }
}

static void report(struct inflight_run *run, unsigned slots)
{
    struct bench_report *to = &run->bench->report;
    unsigned rounds = run->bench->options.rounds;
    char what[56];
    report_ratios(run, slots); /* first: bench_summarise() sorts */
    static const char *const figures[] = {"pairs a second", "client CPU a pair", "take p50",
                                          "take p99"};
    static const char *const units[] = {"1/s", "us", "us", "us"};
    for (size_t f = 0; f < sizeof(figures) / sizeof(figures[0]); f++)
        for (int i = 0; i < run->drivers; i++) {
            struct bench_series *series = &run->series[i];
            double *values[] = {series->pairs, series->cpu_us, series->p50_us, series->p99_us};
            snprintf(what, sizeof(what), "%u: %s", slots, figures[f]);
            bench_add(to, scenario, what, of[i], units[f], bench_summarise(values[f], rounds));
        }
    snprintf(what, sizeof(what), "%u: ", slots);
    /* With more in flight, what a slice leaves unfinished is too much of what the masters do.
     */
    if (slots == MASTERS_CPU_SLOTS)
        bench_add_masters_cpu(to, scenario, what, of, run->series, (unsigned)run->drivers,
                              rounds);
    for (int i = 0; i < run->drivers; i++) {
        bench_add_failed_pairs(to, scenario, what, of[i], run->series[i].failures);
        run->series[i].failures = 0;
    }
}

static int open_floors(struct inflight_run *run)
{
    char token[256];
    int status = bench_library_token(&run->library, token, sizeof(token));
    run->drivers = 1;
    if (!run->bench->floors || status != 0)
        return status;
    status = bench_pipeline_open(run->bench, BENCH_SAME_BYTES, token, TTL_MS,
                                 &run->pipeline[SAME_BYTES]);
    if (status == 0)
        status =
            bench_pipeline_open(run->bench, BENCH_BARE, token, TTL_MS, &run->pipeline[BARE]);
    run->drivers = DRIVERS;
    return status;
}

static int open_all(struct inflight_run *run)
{
    redlock_config config = bench_config(run->bench);
    int status = bench_library_open(&config, "redlock-bench:inflight", TTL_MS, &run->library);
    if (status == 0)
        status = open_floors(run);
    if (status != 0)
        return status;
    struct flight *flight = &run->flight;
    flight->client = run->library.client;
    flight->options = run->library.options;
    flight->fd = redlock_fd(flight->client);
    for (unsigned i = 0; i < BENCH_PIPE_SLOTS_MAX; i++) {
        flight->op[i].flight = flight;
        snprintf(flight->op[i].name, sizeof(flight->op[i].name), "redlock-bench:cover:%03u", i);
    }
    if (flight->fd >= 0)
        return 0;
    fprintf(stderr, "redlock-bench: no descriptor: %s\n", redlock_strerror(flight->fd));
    return EX_OSERR;
}

static int measure_all(struct inflight_run *run)
{
    static const unsigned depths[] = {MASTERS_CPU_SLOTS, BENCH_PIPE_SLOTS_MAX};
    int status = open_all(run);
    for (size_t d = 0; d < sizeof(depths) / sizeof(depths[0]) && status == 0; d++) {
        for (int i = 0; i < run->drivers; i++)
            run_one(run, i, depths[d], WARM_UP_MS);
        for (unsigned round = 0; round < run->bench->options.rounds; round++)
            measure_round(run, depths[d], round);
        report(run, depths[d]);
    }
    return status;
}

int bench_run_inflight(struct bench *bench)
{
    struct inflight_run *run = bench_room(sizeof(*run));
    if (run == NULL || !bench_samples_init_all(run->samples, DRIVERS, SAMPLES_MAX))
        return EX_OSERR;
    run->bench = bench;
    return measure_all(run);
}
