/* stats.h - figures of a history: quantiles, availability, and changes over time. */
#ifndef CHAOS_STATS_H
#define CHAOS_STATS_H

#include "chaos/check/hold_history.h"

/* If a lock is free for longer than this, while a contender asks and a majority votes, the lock
 * was not available. Shorter gaps are normal hand-offs. */
#define CHAOS_GAP_NS (1 * CHAOS_S)

/* Sorts them. By nearest rank. */
struct chaos_quantiles chaos_quantiles_of(int64_t *ns, size_t count);

/* Every figure of the verdict but the counts of findings (stats.c). */
void chaos_stats_figures(const struct chaos_history *history,
                         const struct chaos_hold_history *hold_history,
                         struct chaos_verdict *verdict);

/* The times from a LETS_GO to the next hold of the same name, if its contender asked already.
 * `ret_ns` has room for one time for each hold. Returns their number. */
size_t chaos_stats_hand_offs(const struct chaos_hold_history *hold_history, int64_t *ret_ns);

/* ---- contenders with a majority (chaos/check/quorum_times.c) ---------------------------- */

/* From this time on until that of the next: the contenders that reach a voting majority. */
struct chaos_quorum_time {
    int64_t from_ns;
    uint64_t clients;
};

struct chaos_quorum_time *chaos_quorum_times(const struct chaos_history *history,
                                             size_t *ret_count);

/* stats_gaps.c: available, longest_unavailable_ns, recovery_ns. */
void chaos_stats_gaps(const struct chaos_history *history,
                      const struct chaos_hold_history *hold_history,
                      struct chaos_verdict *verdict);

/* ---- over time (series.c) ---------------------------------------------------------- */

enum { CHAOS_POINTS_MAX = 160 };

struct chaos_point {
    uint64_t holds, refusals;
    double p50_ms, p99_ms, max_ms; /* how long those holds were waited for */
};

struct chaos_series {
    int64_t every_ns;
    size_t count;
    struct chaos_point point[CHAOS_POINTS_MAX];
};

void chaos_series_of(const struct chaos_history *history,
                     const struct chaos_hold_history *hold_history,
                     struct chaos_series *ret_series);

/* How times are distributed: columns a tenth of a decade wide, the first from 1 us on. */
enum { CHAOS_COLUMNS = 90, CHAOS_COLUMNS_A_DECADE = 10 };

struct chaos_histogram {
    uint64_t count;
    uint64_t column[CHAOS_COLUMNS];
};

void chaos_histogram_of(const int64_t *ns, size_t count, struct chaos_histogram *ret_histogram);
double chaos_column_ns(unsigned column); /* where it begins */

/* For qsort(): two int64_t. */
int chaos_compare_ns(const void *left, const void *right);

#endif
