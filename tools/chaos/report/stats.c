/* stats.c - counts, and how long it took to wait, to hold, to pass a lock on. */
#include "config_auto.h"

#include "chaos/report/stats.h"

#include <stdlib.h>

int chaos_compare_ns(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* The nearest rank: ceil(p * count), counted from 1. */
static double rank_ms(const int64_t *sorted, size_t count, size_t per_cent)
{
    size_t rank = (count * per_cent + 99) / 100;
    return (double)sorted[rank > 0 ? rank - 1 : 0] / 1e6;
}

struct chaos_quantiles chaos_quantiles_of(int64_t *ns, size_t count)
{
    if (count == 0)
        return (struct chaos_quantiles){0};
    qsort(ns, count, sizeof(ns[0]), chaos_compare_ns);
    return (struct chaos_quantiles){
        .count = count,
        .p50_ms = rank_ms(ns, count, 50),
        .p90_ms = rank_ms(ns, count, 90),
        .p99_ms = rank_ms(ns, count, 99),
        .max_ms = (double)ns[count - 1] / 1e6,
    };
}

size_t chaos_stats_hand_offs(const struct chaos_hold_history *hold_history, int64_t *ret_ns)
{
    size_t count = 0;
    for (size_t i = 1; i < hold_history->hold_count; i++) {
        const struct chaos_hold *before = &hold_history->hold[i - 1];
        const struct chaos_hold *next = &hold_history->hold[i];
        if (before->name == next->name && before->ending == CHAOS_LET_GO &&
            next->asked_ns <= before->end_ns && next->at_ns >= before->end_ns)
            ret_ns[count++] = next->at_ns - before->end_ns;
    }
    return count;
}

static void time_holds(const struct chaos_hold_history *hold_history,
                       struct chaos_verdict *verdict)
{
    int64_t *ns = chaos_room(hold_history->hold_count, sizeof(*ns));
    for (size_t i = 0; i < hold_history->hold_count; i++)
        ns[i] = hold_history->hold[i].at_ns - hold_history->hold[i].asked_ns;
    verdict->wait = chaos_quantiles_of(ns, hold_history->hold_count);
    for (size_t i = 0; i < hold_history->hold_count; i++)
        ns[i] = hold_history->hold[i].end_ns - hold_history->hold[i].at_ns;
    verdict->hold = chaos_quantiles_of(ns, hold_history->hold_count);
    verdict->hand_off = chaos_quantiles_of(ns, chaos_stats_hand_offs(hold_history, ns));
    free(ns);
}

static void count_asked(const struct chaos_hold_history *hold_history,
                        struct chaos_verdict *verdict)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < hold_history->hold_count; i++) {
        unsigned asked = hold_history->hold[i].asked;
        sum += asked;
        if (i == 0 || asked < verdict->asked_least)
            verdict->asked_least = asked;
    }
    if (hold_history->hold_count > 0)
        verdict->asked_mean = (double)sum / (double)hold_history->hold_count;
}

void chaos_stats_figures(const struct chaos_history *history,
                         const struct chaos_hold_history *hold_history,
                         struct chaos_verdict *verdict)
{
    verdict->holds = hold_history->hold_count;
    for (size_t i = 0; i < hold_history->hold_count; i++)
        verdict->shared += hold_history->hold[i].shared;
    verdict->refusals = hold_history->refusals;
    verdict->losses = hold_history->losses;
    verdict->writes = hold_history->writes;
    for (size_t i = 0; i < history->fault_count; i++) {
        verdict->faults_done += history->faults[i].begun_ns != 0;
        verdict->faults_unseen += history->faults[i].begun_ns != 0 && !history->faults[i].seen;
    }
    if (history->duration_ns > 0)
        verdict->holds_per_s =
            (double)hold_history->hold_count * (double)CHAOS_S / (double)history->duration_ns;
    if (history->options->client_cmd != NULL)
        count_asked(hold_history, verdict);
    time_holds(hold_history, verdict);
    chaos_stats_gaps(history, hold_history, verdict);
}
