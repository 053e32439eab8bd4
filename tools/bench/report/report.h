/* report.h - the figures of a run, as a table for people and as JSON for programs. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "bench/report/machine.h"
#include "bench/report/stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define BENCH_FIGURES_MAX 1024
#define BENCH_NOTES_MAX 16
#define BENCH_DRAWINGS_MAX 32
#define BENCH_COLUMNS 96

/* The aim of a figure, if it has one. */
enum bench_aim { BENCH_NO_AIM, BENCH_AT_LEAST, BENCH_AT_MOST };

struct bench_figure {
    const char *scenario;
    char what[56];  /* "acquire p50" */
    const char *of; /* "library", "floor, same bytes", ... */
    const char *unit;
    struct bench_summary summary;
    size_t samples; /* in the round that has fewest; 0: it is not made of samples */
    enum bench_aim aim;
    double bound;
};

/* Samples of one driver, counted by their size; see draw.h. */
struct bench_drawing {
    char title[56];
    const char *of;
    uint64_t count;
    uint32_t column[BENCH_COLUMNS];
};

struct bench_report {
    struct bench_figure figure[BENCH_FIGURES_MAX];
    size_t figures;
    char note[BENCH_NOTES_MAX][160];
    size_t notes;
    struct bench_drawing drawing[BENCH_DRAWINGS_MAX];
    size_t drawings;
    int64_t started_ns;
    bool quick; /* too short to judge anything but events that must never happen */
};

struct bench_olds;

/* The run's description, for the head of the report. */
struct bench_setting {
    const char *masters;   /* "private" or the file's name */
    const char *transport; /* "tcp", "unix", "mixed" */
    unsigned nodes;
    unsigned rounds;
    int64_t slice_ms;
    bool pinned;
    struct bench_machine machine;
    const struct bench_olds *olds; /* an earlier run's */
};

/* A figure, printed in the order in which it was added. `scenario`, `of` and `unit` are
 * borrowed. A summary of nothing is left out. */
void bench_add(struct bench_report *report, const char *scenario, const char *what,
               const char *of, const char *unit, struct bench_summary summary);

/* A figure of unit "ratio": of each round's values, the one to the other. */
void bench_add_ratio(struct bench_report *report, const char *scenario, const char *what,
                     const char *of, const double *above, const double *below, size_t rounds);

/* The number of samples of the figure added last, in the round that has fewest. To be called
 * before its aim is set: a p99 of fewer than BENCH_P99_SAMPLES is not judged. */
#define BENCH_P99_SAMPLES 1000
void bench_of_samples(struct bench_report *report, size_t samples);

/* Set the aim of the figure added last; its median counts. A figure that missed its aim is
 * marked, and nothing else follows from it. In a quick run only counts have aims. */
void bench_aim(struct bench_report *report, enum bench_aim aim, double bound);

/* A figure "PREFIXfailed pairs", which should be 0 and is left out where it is. */
void bench_add_failed_pairs(struct bench_report *report, const char *scenario,
                            const char *prefix, const char *of, double failures);

/* A sentence for the end of the report. */
void bench_note(struct bench_report *report, const char *text);

bool bench_met(const struct bench_figure *figure);
void bench_print_table(const struct bench_report *report, const struct bench_setting *setting,
                       FILE *out);
void bench_print_json(const struct bench_report *report, const struct bench_setting *setting,
                      FILE *out);

#endif
