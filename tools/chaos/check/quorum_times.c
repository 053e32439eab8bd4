/* quorum_times.c - when a majority of the masters could vote, and for which contenders. This
 * follows from the faults in force, and from the restart guard after them. */
#include "config_auto.h"

#include "chaos/report/stats.h"

#include <stdlib.h>

/* The faults that still matter at a time: those in force, and those whose guard is not over. */
struct active {
    struct chaos_history history; /* only these faults; the rest is that of the run */
    struct chaos_fault *fault;
};

static int64_t over_ns(const struct chaos_history *history, const struct chaos_fault *fault)
{
    if (fault->undone_ns == 0)
        return INT64_MAX;
    bool guarded = chaos_fault_guarded(history->options, fault->kind);
    return fault->undone_ns + (guarded ? chaos_guard_ns(history) : 0);
}

/* Every time at which something may change, sorted; the first is 0. */
static int64_t *changes_of(const struct chaos_history *history, size_t *ret_count)
{
    int64_t *at_ns = chaos_room(history->fault_count * 3 + 1, sizeof(*at_ns));
    size_t count = 1;
    for (size_t i = 0; i < history->fault_count; i++) {
        const struct chaos_fault *fault = &history->faults[i];
        if (fault->begun_ns == 0)
            continue;
        at_ns[count++] = fault->begun_ns;
        if (fault->undone_ns == 0)
            continue;
        at_ns[count++] = fault->undone_ns;
        at_ns[count++] = over_ns(history, fault);
    }
    qsort(at_ns, count, sizeof(*at_ns), chaos_compare_ns);
    *ret_count = count;
    return at_ns;
}

static void activate(const struct chaos_history *history, struct active *active, int64_t at_ns)
{
    size_t count = 0;
    for (size_t i = 0; i < history->fault_count; i++) {
        const struct chaos_fault *fault = &history->faults[i];
        if (fault->begun_ns != 0 && fault->begun_ns <= at_ns && at_ns < over_ns(history, fault))
            active->fault[count++] = *fault;
    }
    active->history.faults = active->fault;
    active->history.fault_count = count;
}

static bool reaches(const struct chaos_history *history, unsigned client, unsigned node)
{
    for (size_t i = 0; i < history->fault_count; i++)
        if (chaos_fault_cuts(&history->faults[i], history->nodes, client, node))
            return false;
    return true;
}

static uint64_t quorum_at(const struct chaos_history *history, int64_t at_ns)
{
    uint64_t clients = 0;
    unsigned votes[CHAOS_CLIENTS_MAX] = {0};
    for (unsigned node = 0; node < history->nodes; node++) {
        if (chaos_node_state(history, node, at_ns) != CHAOS_NODE_UP)
            continue;
        for (unsigned client = 0; client < history->options->clients; client++)
            votes[client] += reaches(history, client, node);
    }
    for (unsigned client = 0; client < history->options->clients; client++)
        if (votes[client] >= history->needed)
            clients |= CHAOS_BIT(client);
    return clients;
}

struct chaos_quorum_time *chaos_quorum_times(const struct chaos_history *history,
                                             size_t *ret_count)
{
    size_t changes, count = 0;
    int64_t *at_ns = changes_of(history, &changes);
    struct chaos_quorum_time *list = chaos_room(changes, sizeof(*list));
    struct active active = {*history, chaos_room(history->fault_count, sizeof(*active.fault))};
    for (size_t i = 0; i < changes; i++) {
        if (i > 0 && at_ns[i] == at_ns[i - 1])
            continue;
        activate(history, &active, at_ns[i]);
        uint64_t clients = quorum_at(&active.history, at_ns[i]);
        if (count == 0 || list[count - 1].clients != clients)
            list[count++] = (struct chaos_quorum_time){at_ns[i], clients};
    }
    free(active.fault);
    free(at_ns);
    *ret_count = count;
    return list;
}
