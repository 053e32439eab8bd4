/* stats.h - samples and their summaries, clocks, CPU time and memory. */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed memory, for free(). NULL: there is none, and a line is on stderr. */
void *bench_zeroed(size_t size);

/* Have it closed by bench_end_all(), the last one first. All that a scenario opens is, when the
 * scenario is over: so it may return wherever it fails. */
void bench_at_end(void (*close)(void *what), void *what);
void bench_end_all(void);

/* Zeroed memory until then. NULL, as above. */
void *bench_room(size_t size);

/* Durations of one slice. Never grows while it is measured. */
struct bench_samples {
    int64_t *ns;
    size_t count;
    size_t capacity;
    bool sorted;
};

/* Until the end of the scenario. False: no memory; a line is on stderr. */
bool bench_samples_init(struct bench_samples *samples, size_t capacity);
bool bench_samples_init_all(struct bench_samples *samples, size_t count, size_t capacity);
void bench_samples_clear(struct bench_samples *samples);
void bench_samples_add(struct bench_samples *samples, int64_t ns); /* full: forgotten */

/* The smallest sample that `per_mille` of a thousand are not above, in us. 0: no samples. */
double bench_percentile_us(struct bench_samples *samples, unsigned per_mille);

/* One figure of every round. */
struct bench_summary {
    double median;
    double min;
    double max;
    size_t count; /* 0: nothing was measured */
};

/* Sorts `values`. */
struct bench_summary bench_summarise(double *values, size_t count);
struct bench_summary bench_summary_of(double value);

/* Jain's index of fairness: 1 where all have the same, 1 / count where one has it all. */
double bench_jain(const uint64_t *shares, size_t count);

int64_t bench_now_ns(void);      /* CLOCK_MONOTONIC */
void bench_sleep_ms(int64_t ms); /* restarted after signals */
double bench_cpu_us(void);       /* used by this process so far, kernel included */
double bench_rss_kib(void);      /* resident now; -1: not known */
double bench_peak_rss_kib(void); /* and at most so far; -1: not known */

#endif
