/* fanout.c - all masters are asked at once: with every reply held back for 50 ms, a
 * try takes little more than 50 ms. */
#include "config_auto.h"

#include "bench/place/delay.h"
#include "bench/floor/floor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#define TTL_MS 10000
#define DELAY_MS 50
#define TRIES 6

static const char scenario[] = "fan-out: every reply comes 50 ms late";

/* `tries` tries a round: their median and the slowest. */
struct fanout_series {
    double median_ms[BENCH_ROUNDS_MAX];
    double slowest_ms[BENCH_ROUNDS_MAX];
};

static void measure(const struct bench_driver *driver, struct bench_samples *samples,
                    unsigned round, struct fanout_series *series)
{
    bench_samples_clear(samples);
    bench_measure(driver, 0, TRIES, samples);
    series->median_ms[round] = bench_percentile_us(samples, 500) / 1000;
    series->slowest_ms[round] = bench_percentile_us(samples, 1000) / 1000;
}

static int measure_rounds(struct bench *bench, struct bench_library *library,
                          struct bench_floor *floor)
{
    struct bench_samples samples;
    struct fanout_series series[2];
    struct bench_driver driver[2] = {bench_library_driver(library), bench_floor_driver(floor)};
    if (!bench_samples_init(&samples, TRIES + 1))
        return EX_OSERR;
    for (unsigned round = 0; round < bench->options.rounds; round++)
        for (unsigned i = 0; i < 2; i++)
            measure(&driver[i], &samples, round, &series[i]);
    for (unsigned i = 0; i < 2; i++) {
        bench_add(&bench->report, scenario, "a try", driver[i].name, "ms",
                  bench_summarise(series[i].median_ms, bench->options.rounds));
        bench_add(&bench->report, scenario, "the slowest try", driver[i].name, "ms",
                  bench_summarise(series[i].slowest_ms, bench->options.rounds));
        if (i == 0)
            bench_aim(&bench->report, BENCH_AT_MOST, DELAY_MS + 25);
    }
    return 0;
}

/* The run's masters as seen through the proxies. */
static int measure_through(struct bench *bench, const struct bench_delay *delay)
{
    char url[REDLOCK_NODES_MAX][48];
    redlock_node node[REDLOCK_NODES_MAX];
    struct bench *far = bench_room(sizeof(*far));
    struct bench_library *library = bench_room(sizeof(*library));
    if (far == NULL || library == NULL)
        return EX_OSERR;
    *far = *bench;
    for (unsigned i = 0; i < bench->nodes; i++) {
        int port = bench_delay_port(delay, i);
        far->node[i] = (struct server_at){.host = "127.0.0.1", .port = port};
        snprintf(url[i], sizeof(url[i]), "redis://127.0.0.1:%d", port);
        node[i] = (redlock_node)REDLOCK_NODE_INIT;
        node[i].url = url[i];
    }
    struct bench_floor *floor = NULL;
    redlock_config config = bench_config(bench);
    config.file = NULL;
    config.nodes = node;
    config.node_count = bench->nodes;
    int status = bench_library_open(&config, "redlock-bench:far", TTL_MS, library);
    if (status == 0)
        status = bench_floor_open(far, BENCH_SAME_BYTES, "redlock-bench:far-floor",
                                  "0123456789abcdef", TTL_MS, &floor);
    return status == 0 ? measure_rounds(bench, library, floor) : status;
}

int bench_run_fanout(struct bench *bench)
{
    struct bench_delay *delay = bench_delay_start(bench->node, bench->nodes, DELAY_MS);
    if (delay == NULL) {
        fprintf(stderr, "redlock-bench: no proxies to be had: %s\n", strerror(errno));
        return EX_OSERR;
    }
    int status = measure_through(bench, delay);
    bench_end_all();
    bench_delay_end(delay);
    return status;
}
