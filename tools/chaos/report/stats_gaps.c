/* stats_gaps.c - how available the locks were. A gap is a time in which nobody had a lock,
 * although a contender asked for it and could reach a voting majority.
 *
 * A contender that asks for several names at once waits for all of them, and proves nothing
 * about any one.
 *
 * For each name, one walk visits all times at which a hold or a try begins or ends, or the set
 * of contenders with a quorum changes. A gap between a majority's return and the next hold of
 * the name is its recovery. */
#include "config_auto.h"

#include "chaos/report/stats.h"

#include <stdlib.h>

struct mark {
    int64_t at_ns;
    enum { ENDS_HOLD, ENDS_TRY, QUORUM_CHANGES, BEGINS_TRY, BEGINS_HOLD } what;
    uint16_t client;
    uint64_t quorum;
};

struct walk {
    struct chaos_verdict *verdict;
    unsigned name;
    uint64_t quorum;
    unsigned holds, tries[CHAOS_CLIENTS_MAX];
    uint64_t asking; /* contenders with a try */
    int64_t gap_ns;  /* since when there is a gap; -1: there is none */
    int64_t quorum_since_ns;
    bool returned; /* a majority came back, and nobody had the lock since */
    int64_t quorum_ns, gone_ns;
};

static int by_time(const void *left, const void *right)
{
    const struct mark *a = left, *b = right;
    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns ? -1 : 1;
    return (a->what > b->what) - (a->what < b->what);
}

static size_t marks_of(const struct chaos_history *history,
                       const struct chaos_hold_history *hold_history, unsigned name,
                       const struct chaos_quorum_time *quorum, size_t quorum_time_count,
                       struct mark *ret_marks)
{
    size_t count = 0;
    for (size_t i = hold_history->first_hold[name]; i < hold_history->first_hold[name + 1];
         i++) {
        const struct chaos_hold *hold = &hold_history->hold[i];
        if (hold->end_ns == hold->at_ns)
            continue;
        ret_marks[count++] = (struct mark){hold->at_ns, BEGINS_HOLD, hold->client, 0};
        ret_marks[count++] = (struct mark){hold->end_ns, ENDS_HOLD, hold->client, 0};
    }
    for (size_t i = hold_history->first_try[name]; i < hold_history->first_try[name + 1]; i++) {
        const struct chaos_try *try = &hold_history->try[i];
        if (try->to_ns == try->from_ns || try->joint)
            continue;
        ret_marks[count++] = (struct mark){try->from_ns, BEGINS_TRY, try->client, 0};
        ret_marks[count++] = (struct mark){try->to_ns, ENDS_TRY, try->client, 0};
    }
    for (size_t i = 0; i < quorum_time_count; i++)
        if (quorum[i].from_ns < history->duration_ns)
            ret_marks[count++] =
                (struct mark){quorum[i].from_ns, QUORUM_CHANGES, 0, quorum[i].clients};
    /* The last gap ends with the run. */
    ret_marks[count++] = (struct mark){history->duration_ns, QUORUM_CHANGES, 0, 0};
    qsort(ret_marks, count, sizeof(*ret_marks), by_time);
    return count;
}

static void end_gap(struct walk *walk, int64_t at_ns)
{
    int64_t length_ns = at_ns - walk->gap_ns;
    walk->gap_ns = -1;
    if (length_ns > walk->verdict->longest_unavailable_ns) {
        walk->verdict->longest_unavailable_ns = length_ns;
        walk->verdict->longest_at_ns = at_ns - length_ns;
        walk->verdict->longest_name = walk->name;
    }
    if (length_ns > CHAOS_GAP_NS)
        walk->gone_ns += length_ns;
    if (walk->returned && length_ns > walk->verdict->recovery_ns) {
        walk->verdict->recovery_ns = length_ns;
        walk->verdict->recovery_at_ns = at_ns - length_ns;
        walk->verdict->recovery_name = walk->name;
    }
}

static void quorum_changes(struct walk *walk, const struct mark *mark)
{
    if (walk->quorum == 0 && mark->quorum != 0) {
        walk->quorum_since_ns = mark->at_ns;
        walk->returned = mark->at_ns > 0;
    } else if (walk->quorum != 0 && mark->quorum == 0) {
        walk->quorum_ns += mark->at_ns - walk->quorum_since_ns;
    }
    walk->quorum = mark->quorum;
}

static void try_changes(struct walk *walk, const struct mark *mark)
{
    unsigned *tries = &walk->tries[mark->client];
    *tries = mark->what == BEGINS_TRY ? *tries + 1 : *tries - (*tries > 0);
    if (*tries > 0)
        walk->asking |= CHAOS_BIT(mark->client);
    else
        walk->asking &= ~CHAOS_BIT(mark->client);
}

static void step(struct walk *walk, const struct mark *mark)
{
    bool ends_in_hold = mark->what == BEGINS_HOLD;
    if (mark->what == QUORUM_CHANGES)
        quorum_changes(walk, mark);
    else if (mark->what == BEGINS_TRY || mark->what == ENDS_TRY)
        try_changes(walk, mark);
    else if (ends_in_hold)
        walk->holds++;
    else
        walk->holds -= walk->holds > 0;
    bool gap = walk->holds == 0 && (walk->asking & walk->quorum) != 0;
    if (gap && walk->gap_ns < 0)
        walk->gap_ns = mark->at_ns;
    else if (!gap && walk->gap_ns >= 0)
        end_gap(walk, mark->at_ns);
    if (ends_in_hold)
        walk->returned = false;
}

void chaos_stats_gaps(const struct chaos_history *history,
                      const struct chaos_hold_history *hold_history,
                      struct chaos_verdict *verdict)
{
    size_t quorum_time_count;
    struct chaos_quorum_time *quorum = chaos_quorum_times(history, &quorum_time_count);
    size_t room =
        2 * (hold_history->hold_count + hold_history->try_count) + quorum_time_count + 1;
    struct mark *marks = chaos_room(room, sizeof(*marks));
    int64_t quorum_ns = 0, gone_ns = 0;
    for (unsigned name = 0; name < history->options->names; name++) {
        struct walk walk = {.verdict = verdict, .name = name, .gap_ns = -1};
        size_t count = marks_of(history, hold_history, name, quorum, quorum_time_count, marks);
        for (size_t i = 0; i < count; i++) {
            if (marks[i].at_ns > history->duration_ns)
                break;
            step(&walk, &marks[i]);
        }
        quorum_ns += walk.quorum_ns;
        gone_ns += walk.gone_ns;
    }
    free(marks);
    free(quorum);
    verdict->quorum_ns = quorum_ns;
    verdict->unavailable_ns = gone_ns;
    verdict->available = quorum_ns > 0 ? 1 - (double)gone_ns / (double)quorum_ns : 0;
}
