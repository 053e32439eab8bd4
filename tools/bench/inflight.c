/* inflight.c - many pairs of try and release in flight from one event loop. The floor is raw
 * sockets that pipeline the same bytes down as many connections. */
#include "config_auto.h"

#include "bench/draw.h"
#include "bench/pipe.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#define TTL_MS 10000
#define SUBJECTS 2
#define SLICES 5 /* a round and subject */
#define WARM_UP_MS 50
#define SILENCE_MS 5000
#define SAMPLES_MAX (1 << 20)

enum { LIBRARY, FLOOR };

static const char scenario[] = "in flight: many try and release at once, from one loop";
static const char *const of[SUBJECTS] = {"library", "floor, same bytes"};

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
    int64_t now_ns; /* read once a turn, as the floor does */
    int64_t end_ns;
    unsigned in_flight;
    struct bench_slice slice;
    struct bench_samples *samples;
    struct flight_op op[BENCH_PIPE_SLOTS_MAX];
};

struct inflight_run {
    struct bench *bench;
    struct bench_library library;
    struct bench_pipe *pipe;
    struct flight flight;
    struct bench_samples samples[SUBJECTS];
    struct bench_series series[SUBJECTS];
};

static void on_taken(void *context, int result, redlock_lock *lock);

static void begin_pair(struct flight_op *op)
{
    struct flight *flight = op->flight;
    op->began_ns = flight->now_ns;
    if (flight->now_ns < flight->end_ns &&
        redlock_try_async(flight->client, op->name, strlen(op->name), &flight->options,
                          on_taken, op, NULL) == 0)
        return;
    flight->slice.failures += flight->now_ns < flight->end_ns;
    flight->in_flight--;
}

static void on_released(void *context, int result, redlock_lock *lock)
{
    struct flight_op *op = context;
    (void)lock;
    op->flight->slice.failures += result != 0;
    op->flight->slice.pairs += result == 0 && op->flight->now_ns < op->flight->end_ns;
    begin_pair(op);
}

static void on_taken(void *context, int result, redlock_lock *lock)
{
    struct flight_op *op = context;
    struct flight *flight = op->flight;
    if (result == 0 && flight->now_ns < flight->end_ns)
        bench_samples_add(flight->samples, flight->now_ns - op->began_ns);
    if (result == 0 && redlock_release_async(lock, on_released, op) == 0)
        return;
    flight->slice.failures++;
    begin_pair(op);
}

/* False: after so long a silence nothing will come any more. */
static bool turn(struct flight *flight)
{
    struct pollfd readable = {.fd = flight->fd, .events = POLLIN};
    int limit_ms = redlock_timeout_ms(flight->client);
    bool silent = limit_ms < 0 || limit_ms > SILENCE_MS;
    int ready = poll(&readable, 1, silent ? SILENCE_MS : limit_ms);
    flight->now_ns = bench_now_ns();
    if (ready < 0 && errno != EINTR)
        return false;
    return redlock_process(flight->client) == 0 && (ready != 0 || !silent);
}

/* The same as bench_pipe_run(). */
static struct bench_slice run_flight(struct flight *flight, unsigned slots, int64_t duration_ms,
                                     struct bench_samples *samples)
{
    double cpu_us = bench_cpu_us();
    int64_t start_ns = bench_now_ns();
    flight->now_ns = start_ns;
    flight->end_ns = start_ns + duration_ms * 1000000;
    flight->slice = (struct bench_slice){0};
    flight->samples = samples;
    flight->in_flight = slots;
    for (unsigned i = 0; i < slots; i++)
        begin_pair(&flight->op[i]);
    bool alive = true;
    while (flight->now_ns < flight->end_ns && alive)
        alive = turn(flight);
    flight->slice.seconds = (double)(flight->now_ns - start_ns) / 1e9;
    flight->slice.cpu_us = bench_cpu_us() - cpu_us;
    while (flight->in_flight > 0 && alive)
        alive = turn(flight);
    flight->slice.failures += flight->in_flight;
    return flight->slice;
}

static struct bench_slice run_one(struct inflight_run *run, int which, unsigned slots,
                                  int64_t duration_ms)
{
    if (which == FLOOR)
        return bench_pipe_run(run->pipe, slots, duration_ms, &run->samples[FLOOR]);
    return run_flight(&run->flight, slots, duration_ms, &run->samples[LIBRARY]);
}

static void measure_round(struct inflight_run *run, unsigned slots, unsigned round)
{
    struct bench_slice total[SUBJECTS] = {{0}};
    int64_t slice_ms = run->bench->options.slice_ms / (2 * SLICES);
    int subjects = run->pipe != NULL ? SUBJECTS : 1;
    for (int i = 0; i < subjects; i++)
        bench_samples_clear(&run->samples[i]);
    for (int at = 0; at < SLICES * subjects; at++) {
        int which = (at + at / subjects) % subjects; /* another one begins every turn */
        bench_slice_add(&total[which], run_one(run, which, slots, slice_ms > 0 ? slice_ms : 1));
    }
    char title[56];
    snprintf(title, sizeof(title), "take, %u in flight", slots);
    for (int i = 0; i < subjects; i++) {
        bench_series_set(&run->series[i], round, &total[i], &run->samples[i]);
        bench_draw_add(&run->bench->report, title, of[i], &run->samples[i]);
    }
}

static void report(struct inflight_run *run, unsigned slots)
{
    struct bench_report *to = &run->bench->report;
    const struct bench_series *ours = &run->series[LIBRARY];
    const struct bench_series *floor = &run->series[FLOOR];
    unsigned rounds = run->bench->options.rounds;
    int subjects = run->pipe != NULL ? SUBJECTS : 1;
    char what[56];
    if (subjects > FLOOR) {
        snprintf(what, sizeof(what), "%u: pairs a second, library to", slots);
        bench_add_ratio(to, scenario, what, of[FLOOR], ours->pairs, floor->pairs, rounds);
        bench_aim(to, BENCH_AT_LEAST, 0.8);
        snprintf(what, sizeof(what), "%u: client CPU a pair, library to", slots);
        bench_add_ratio(to, scenario, what, of[FLOOR], ours->cpu_us, floor->cpu_us, rounds);
    }
    static const char *const figures[] = {"pairs a second", "client CPU a pair", "take p50",
                                          "take p99"};
    static const char *const units[] = {"1/s", "us", "us", "us"};
    for (size_t f = 0; f < sizeof(figures) / sizeof(figures[0]); f++)
        for (int i = 0; i < subjects; i++) {
            struct bench_series *series = &run->series[i];
            double *values[] = {series->pairs, series->cpu_us, series->p50_us, series->p99_us};
            snprintf(what, sizeof(what), "%u: %s", slots, figures[f]);
            bench_add(to, scenario, what, of[i], units[f], bench_summarise(values[f], rounds));
        }
    snprintf(what, sizeof(what), "%u: ", slots);
    for (int i = 0; i < subjects; i++) {
        bench_add_failed_pairs(to, scenario, what, of[i], run->series[i].failures);
        run->series[i].failures = 0;
    }
}

static int open_all(struct inflight_run *run)
{
    redlock_config config = bench_config(run->bench);
    char token[256];
    int status = bench_library_open(&config, "redlock-bench:inflight", TTL_MS, &run->library);
    if (status == 0)
        status = bench_library_token(&run->library, token, sizeof(token));
    if (status == 0 && run->bench->floors)
        status = bench_pipe_open(run->bench, token, TTL_MS, &run->pipe);
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
    static const unsigned depths[] = {64, BENCH_PIPE_SLOTS_MAX};
    int status = open_all(run);
    for (size_t d = 0; d < sizeof(depths) / sizeof(depths[0]) && status == 0; d++) {
        for (int i = 0; i < SUBJECTS; i++)
            if (i == LIBRARY || run->pipe != NULL)
                run_one(run, i, depths[d], WARM_UP_MS);
        for (unsigned round = 0; round < run->bench->options.rounds; round++)
            measure_round(run, depths[d], round);
        report(run, depths[d]);
    }
    bench_pipe_close(run->pipe);
    bench_library_close(&run->library);
    return status;
}

int bench_run_inflight(struct bench *bench)
{
    struct inflight_run *run = bench_zeroed(sizeof(*run));
    int status = EX_OSERR;
    if (run == NULL)
        return status;
    run->bench = bench;
    if (bench_samples_init_all(run->samples, SUBJECTS, SAMPLES_MAX))
        status = measure_all(run);
    bench_samples_free_all(run->samples, SUBJECTS);
    free(run);
    return status;
}
