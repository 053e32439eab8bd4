/* stall.c - the findings that stalls explain: see stall.h. */
#include "config_auto.h"

#include "chaos/check/stall.h"

#include "chaos/check/hold_history.h"

#include <assert.h>
#include <stdlib.h>

#define SETTLE_NS                                                                              \
    (1 * CHAOS_S) /* until a master that was stopped or killed answers as before */

static bool is_of(const struct chaos_fault *fault, const struct chaos_stall *stall)
{
    switch ((enum chaos_stalled)stall->what) {
    case CHAOS_STALLED_CONTENDER:
        return (CHAOS_OF_HOLDERS & CHAOS_BIT(fault->kind)) != 0 &&
               (fault->clients & CHAOS_BIT(stall->number)) != 0;
    case CHAOS_STALLED_MASTER:
        return ((CHAOS_OF_PLACES | CHAOS_OF_COMMANDS) & CHAOS_BIT(fault->kind)) != 0 &&
               (fault->nodes & CHAOS_BIT(stall->number)) != 0;
    case CHAOS_STALLED_PROXIES:
        break;
    }
    return false;
}

static bool is_of_a_fault(const struct chaos_history *history, const struct chaos_stall *stall)
{
    for (size_t i = 0; i < history->fault_count; i++) {
        const struct chaos_fault *fault = &history->faults[i];
        if (fault->begun_ns == 0 || fault->begun_ns > stall->to_ns || !is_of(fault, stall))
            continue;
        if (fault->undone_ns == 0 || fault->undone_ns + SETTLE_NS >= stall->from_ns)
            return true;
    }
    return false;
}

static int by_time(const void *left, const void *right)
{
    const struct chaos_stall *a = left, *b = right;
    return (a->from_ns > b->from_ns) - (a->from_ns < b->from_ns);
}

size_t chaos_stalls_sift(const struct chaos_history *history, struct chaos_stall *stalls,
                         size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!is_of_a_fault(history, &stalls[i]))
            stalls[kept++] = stalls[i];
    if (kept > 0)
        qsort(stalls, kept, sizeof(*stalls), by_time);
    return kept;
}

static bool is_one_of(const struct chaos_stall *stall, uint64_t clients, uint64_t nodes)
{
    switch ((enum chaos_stalled)stall->what) {
    case CHAOS_STALLED_CONTENDER:
        return (clients & CHAOS_BIT(stall->number)) != 0;
    case CHAOS_STALLED_MASTER:
        return (nodes & CHAOS_BIT(stall->number)) != 0;
    case CHAOS_STALLED_PROXIES:
        break;
    }
    return true;
}

int64_t chaos_stalled_ns(const struct chaos_history *history, uint64_t clients, uint64_t nodes,
                         int64_t from_ns, int64_t to_ns)
{
    int64_t sum_ns = 0, counted_ns = from_ns;
    for (size_t i = 0; i < history->stall_count; i++) {
        const struct chaos_stall *stall = &history->stalls[i];
        assert(i == 0 || history->stalls[i - 1].from_ns <= stall->from_ns);
        if (!is_one_of(stall, clients, nodes))
            continue;
        int64_t begin_ns = stall->from_ns > counted_ns ? stall->from_ns : counted_ns;
        int64_t end_ns = stall->to_ns < to_ns ? stall->to_ns : to_ns;
        if (end_ns <= begin_ns)
            continue;
        sum_ns += end_ns - begin_ns;
        counted_ns = end_ns;
    }
    return sum_ns;
}
