/* series.c - a history cut into intervals, and times cut into columns. */
#include "config_auto.h"

#include "chaos/report/stats.h"

#include <assert.h>
#include <stdlib.h>

/* Intervals that people can read off. */
static int64_t round_interval(int64_t least_ns)
{
    static const int64_t ms[] = {10,   20,    50,    100,   200,   500,    1000,   2000,
                                 5000, 10000, 15000, 30000, 60000, 120000, 300000, 600000};
    for (size_t i = 0; i < sizeof(ms) / sizeof(ms[0]); i++)
        if (ms[i] * CHAOS_MS >= least_ns)
            return ms[i] * CHAOS_MS;
    return (least_ns / (3600 * CHAOS_S) + 1) * 3600 * CHAOS_S;
}

static size_t point_of(const struct chaos_series *series, int64_t at_ns)
{
    if (at_ns < 0)
        return 0;
    size_t point = (size_t)(at_ns / series->every_ns);
    return point < series->count ? point : series->count - 1;
}

struct wait {
    int64_t at_ns, ns;
};

static int by_time(const void *left, const void *right)
{
    const struct wait *a = left, *b = right;
    return (a->at_ns > b->at_ns) - (a->at_ns < b->at_ns);
}

static void measure_waits(const struct chaos_hold_history *hold_history,
                          struct chaos_series *series)
{
    struct wait *waits = chaos_room(hold_history->hold_count, sizeof(*waits));
    int64_t *ns = chaos_room(hold_history->hold_count, sizeof(*ns));
    for (size_t i = 0; i < hold_history->hold_count; i++)
        waits[i] = (struct wait){hold_history->hold[i].at_ns,
                                 hold_history->hold[i].at_ns - hold_history->hold[i].asked_ns};
    if (hold_history->hold_count > 0)
        qsort(waits, hold_history->hold_count, sizeof(*waits), by_time);
    for (size_t i = 0; i < hold_history->hold_count;) {
        size_t point = point_of(series, waits[i].at_ns), count = 0;
        for (; i < hold_history->hold_count && point_of(series, waits[i].at_ns) == point; i++)
            ns[count++] = waits[i].ns;
        struct chaos_quantiles waited = chaos_quantiles_of(ns, count);
        series->point[point].holds = count;
        series->point[point].p50_ms = waited.p50_ms;
        series->point[point].p99_ms = waited.p99_ms;
        series->point[point].max_ms = waited.max_ms;
    }
    free(waits);
    free(ns);
}

void chaos_series_of(const struct chaos_history *history,
                     const struct chaos_hold_history *hold_history,
                     struct chaos_series *ret_series)
{
    int64_t duration_ns = history->duration_ns > 0 ? history->duration_ns : 1;
    *ret_series = (struct chaos_series){
        .every_ns = round_interval((duration_ns + CHAOS_POINTS_MAX - 1) / CHAOS_POINTS_MAX),
    };
    ret_series->count =
        (size_t)((duration_ns + ret_series->every_ns - 1) / ret_series->every_ns);
    assert(ret_series->count <= CHAOS_POINTS_MAX);
    measure_waits(hold_history, ret_series);
    for (size_t i = 0; i < history->event_count; i++)
        if (history->events[i].what == CHAOS_REFUSED)
            ret_series->point[point_of(ret_series, history->events[i].at_ns)].refusals++;
}

double chaos_column_ns(unsigned column)
{
    static const double steps[CHAOS_COLUMNS_A_DECADE] = {1000,     1258.925, 1584.893, 1995.262,
                                                         2511.886, 3162.278, 3981.072, 5011.872,
                                                         6309.573, 7943.282};
    double ns = steps[column % CHAOS_COLUMNS_A_DECADE];
    for (unsigned decade = column / CHAOS_COLUMNS_A_DECADE; decade > 0; decade--)
        ns *= 10;
    return ns;
}

void chaos_histogram_of(const int64_t *ns, size_t count, struct chaos_histogram *ret_histogram)
{
    *ret_histogram = (struct chaos_histogram){.count = count};
    for (size_t i = 0; i < count; i++) {
        unsigned column = 0;
        while (column < CHAOS_COLUMNS - 1 && (double)ns[i] >= chaos_column_ns(column + 1))
            column++;
        ret_histogram->column[column]++;
    }
}
