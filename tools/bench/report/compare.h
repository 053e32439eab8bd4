/* compare.h - the figures of an earlier run, out of the JSON that it printed. */
#ifndef BENCH_COMPARE_H
#define BENCH_COMPARE_H

#include "bench/report/report.h"

struct bench_old {
    char scenario[56], what[56], of[32];
    double median, min, max;
};

struct bench_olds {
    const char *path; /* NULL: there is nothing to compare with */
    size_t count;
    struct bench_old old[BENCH_FIGURES_MAX];
};

/* False: it can't be read, or has no figures; a line is on stderr. */
bool bench_compare_read(const char *path, struct bench_olds *ret_olds);

/* The same figure of the earlier run, or NULL. */
const struct bench_old *bench_compare_find(const struct bench_olds *olds,
                                           const struct bench_figure *figure);

/* Do all rounds of the one lie beyond all rounds of the other? */
bool bench_compare_differs(const struct bench_old *old, const struct bench_summary *now);

/* A line a figure that both have: old, new, ratio, and a mark where they differ. */
void bench_compare_print(const struct bench_olds *olds, const struct bench_report *report,
                         FILE *out);

#endif
