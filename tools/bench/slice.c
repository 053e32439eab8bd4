/* slice.c - what a slice took, and the figures of the slices of a round. */
#include "config_auto.h"

#include "bench/bench.h"
#include "bench/place/masters_cpu.h"

#include <assert.h>

struct bench_meter bench_meter_start(void)
{
    return (struct bench_meter){.masters_us = bench_masters_cpu_us(),
                                .cpu_us = bench_cpu_us(),
                                .start_ns = bench_now_ns()};
}

void bench_meter_stop(const struct bench_meter *meter, int64_t end_ns,
                      struct bench_slice *slice)
{
    double masters_us = bench_masters_cpu_us();
    bool known = meter->masters_us >= 0 && masters_us >= meter->masters_us;
    slice->seconds = (double)(end_ns - meter->start_ns) / 1e9;
    slice->cpu_us = bench_cpu_us() - meter->cpu_us;
    slice->masters_us = known ? masters_us - meter->masters_us : BENCH_NOT_KNOWN;
}

void bench_slice_add(struct bench_slice *total, struct bench_slice slice)
{
    bool known = total->masters_us >= 0 && slice.masters_us >= 0;
    total->pairs += slice.pairs;
    total->failures += slice.failures;
    total->seconds += slice.seconds;
    total->cpu_us += slice.cpu_us;
    total->masters_us = known ? total->masters_us + slice.masters_us : BENCH_NOT_KNOWN;
}

void bench_series_set(struct bench_series *series, unsigned round,
                      const struct bench_slice *total, struct bench_samples *samples)
{
    double pairs = total->pairs > 0 ? (double)total->pairs : 1;
    series->pairs[round] = (double)total->pairs / total->seconds;
    series->cpu_us[round] = total->cpu_us / pairs;
    series->masters_us[round] = total->masters_us / pairs;
    series->p50_us[round] = bench_percentile_us(samples, 500);
    series->p99_us[round] = bench_percentile_us(samples, 990);
    series->failures += (double)total->failures;
}

struct bench_slice bench_many_run(struct bench_many *many, const struct bench_many_way *way,
                                  unsigned slots, int64_t duration_ms,
                                  struct bench_samples *samples)
{
    assert(slots > 0 && way->begin != NULL && way->turn != NULL);
    struct bench_meter meter = bench_meter_start();
    *many = (struct bench_many){.now_ns = meter.start_ns,
                                .end_ns = meter.start_ns + duration_ms * 1000000,
                                .in_flight = slots,
                                .samples = samples};
    for (unsigned i = 0; i < slots; i++)
        way->begin(way->context, i);
    bool alive = true;
    while (many->now_ns < many->end_ns && alive)
        alive = way->turn(way->context);
    bench_meter_stop(&meter, many->now_ns, &many->slice);
    while (many->in_flight > 0 && alive)
        alive = way->turn(way->context);
    many->slice.failures += many->in_flight;
    return many->slice;
}
