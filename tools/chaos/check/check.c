/* check.c - the checker: finds the violations in a history, and computes its figures.
 *
 *   overlap       two believed holds of one name at the same time, unless both are readers'.
 *                 A hold is believed from HOLDS until the first of LETS_GO, LOSES and
 *                 until_ns, that moment excluded
 *   token order   a hold whose fencing token is not above that of every earlier hold
 *   lost update   a write under the lock that a later one did not see: check_record.c
 *   changed read  a record that changed while a reader held the lock: check_record.c
 *   orphan        a key that is left when every lease is over, or that its contender did not
 *                 take back: check_keys.c
 *   late          a lock that nobody got for too long after a majority's return
 *   scarce        locks that were available for too small a part of the time
 *
 * A finding is excused if a fault that breaks a documented assumption can have caused it:
 * faults/assumptions.c has the rule. */
#include "config_auto.h"

#include "chaos/check/check.h"

#include "chaos/check/stall.h"
#include "chaos/report/stats.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static uint64_t *counter_of(struct chaos_verdict *verdict, const struct chaos_finding *finding)
{
    if (finding->excused)
        return &verdict->excused;
    switch (finding->what) {
    case CHAOS_OVERLAP:
        return &verdict->overlaps;
    case CHAOS_LOST_UPDATE:
        return &verdict->lost_updates;
    case CHAOS_CHANGED_READ:
        return &verdict->changed_reads;
    case CHAOS_TOKEN_ORDER:
        return &verdict->token_disorders;
    case CHAOS_LATE:
        return &verdict->late;
    case CHAOS_SCARCE:
        return &verdict->scarce;
    case CHAOS_ORPHAN:
        break;
    }
    return &verdict->orphans;
}

void chaos_find(struct chaos_found *found, const struct chaos_finding *finding, uint64_t times)
{
    struct chaos_verdict *verdict = found->verdict;
    const size_t most = sizeof(verdict->finding) / sizeof(verdict->finding[0]);
    *counter_of(verdict, finding) += times;
    verdict->stalled += finding->stalled ? times : 0;
    if (verdict->finding_count < most) {
        verdict->finding[verdict->finding_count++] = *finding;
        return;
    }
    for (size_t i = most; !finding->excused && i-- > 0;) {
        if (!verdict->finding[i].excused)
            continue;
        verdict->finding[i] = *finding;
        return;
    }
}

static void find_overlap(struct chaos_found *found, const struct chaos_hold *earlier,
                         const struct chaos_hold *later)
{
    int64_t end_ns = earlier->end_ns < later->end_ns ? earlier->end_ns : later->end_ns;
    struct chaos_finding finding = {
        .what = CHAOS_OVERLAP,
        .at_ns = later->at_ns,
        .for_ns = end_ns - later->at_ns,
        .name = later->name,
        .client = later->client,
        .other = earlier->client,
        .by = chaos_broken_assumption(found->history, earlier->asked_ns, later->at_ns, false),
    };
    finding.excused = finding.by != NULL;
    snprintf(finding.text, sizeof(finding.text),
             "contender %u believed to %s lock %u while contender %u did%s, for %.3f ms",
             (unsigned)later->client, later->shared ? "read under" : "hold",
             (unsigned)later->name, (unsigned)earlier->client,
             earlier->shared == later->shared ? ""
             : later->shared                  ? ", as a writer"
                                              : ", as a reader",
             (double)finding.for_ns / 1e6);
    chaos_find(found, &finding, 1);
}

/* Each pair is looked at once; readers may overlap. Few holds can still overlap later ones,
 * because a contender has one hold at a time, except killed contenders. */
static void check_overlaps(struct chaos_found *found, unsigned name)
{
    const struct chaos_hold_history *hold_history = found->hold_history;
    size_t first = hold_history->first_hold[name], last = hold_history->first_hold[name + 1];
    const struct chaos_hold **open = chaos_room(last - first, sizeof(*open));
    size_t count = 0;
    for (size_t i = first; i < last; i++) {
        const struct chaos_hold *hold = &hold_history->hold[i];
        if (hold->end_ns <= hold->at_ns)
            continue; /* over before it began: nobody believed in it */
        size_t kept = 0;
        for (size_t k = 0; k < count; k++) {
            if (open[k]->end_ns <= hold->at_ns)
                continue;
            if (!open[k]->shared || !hold->shared)
                find_overlap(found, open[k], hold);
            open[kept++] = open[k];
        }
        open[kept] = hold;
        count = kept + 1;
    }
    free(open);
}

static void check_tokens(struct chaos_found *found, unsigned name)
{
    const struct chaos_hold_history *hold_history = found->hold_history;
    const struct chaos_hold *highest = NULL;
    for (size_t i = hold_history->first_hold[name]; i < hold_history->first_hold[name + 1];
         i++) {
        const struct chaos_hold *hold = &hold_history->hold[i];
        if (hold->token == 0 || hold->end_ns <= hold->at_ns)
            continue;
        if (highest == NULL || hold->token > highest->token) {
            highest = hold;
            continue;
        }
        struct chaos_finding finding = {
            .what = CHAOS_TOKEN_ORDER,
            .at_ns = hold->at_ns,
            .name = name,
            .client = hold->client,
            .other = highest->client,
            .by = chaos_broken_assumption(found->history, 0, hold->at_ns, true),
        };
        finding.excused = finding.by != NULL;
        snprintf(finding.text, sizeof(finding.text),
                 "contender %u got token %" PRIu64 " for lock %u after contender %u had "
                 "%" PRIu64,
                 (unsigned)hold->client, hold->token, name, (unsigned)highest->client,
                 highest->token);
        chaos_find(found, &finding, 1);
    }
}

static void check_orphans(struct chaos_found *found)
{
    for (unsigned node = 0; node < found->history->nodes; node++) {
        unsigned keys = found->history->orphans[node];
        struct chaos_finding finding = {
            .what = CHAOS_ORPHAN,
            .at_ns = found->history->duration_ns,
            .by = chaos_step_back_of(found->history, node),
        };
        finding.excused = finding.by != NULL;
        snprintf(finding.text, sizeof(finding.text),
                 "node %u had %u key%s left when every lease was over", node + 1, keys,
                 keys == 1 ? "" : "s");
        if (keys > 0)
            chaos_find(found, &finding, keys);
    }
}

/* The slowest recovery counts. No broken assumption excuses it, because a majority could
 * vote. */
static void check_recovery(struct chaos_found *found)
{
    const struct chaos_verdict *verdict = found->verdict;
    int64_t max_ms = found->history->options->max_recovery_ms;
    struct chaos_finding finding = {
        .what = CHAOS_LATE,
        .at_ns = verdict->recovery_at_ns,
        .for_ns = verdict->recovery_ns,
        .name = verdict->recovery_name,
    };
    snprintf(
        finding.text, sizeof(finding.text),
        "lock %u was not had for %.0f ms after a majority could vote again, and %lld ms are "
        "the most",
        verdict->recovery_name, (double)verdict->recovery_ns / 1e6, (long long)max_ms);
    int64_t stalled_ns =
        chaos_stalled_ns(found->history, UINT64_MAX, UINT64_MAX, verdict->recovery_at_ns,
                         verdict->recovery_at_ns + verdict->recovery_ns);
    finding.stalled = finding.excused =
        verdict->recovery_ns <= max_ms * CHAOS_MS + stalled_ns && stalled_ns > 0;
    if (max_ms > 0 && verdict->recovery_ns > max_ms * CHAOS_MS)
        chaos_find(found, &finding, 1);
}

/* Without any time in which a majority could vote, there is no figure. */
static void check_available(struct chaos_found *found)
{
    const struct chaos_history *history = found->history;
    const struct chaos_verdict *verdict = found->verdict;
    double least = history->options->min_available;
    if (verdict->quorum_ns == 0 || verdict->available >= least)
        return;
    struct chaos_finding finding = {
        .what = CHAOS_SCARCE,
        .at_ns = verdict->longest_at_ns,
        .for_ns = verdict->longest_unavailable_ns,
        .name = verdict->longest_name,
    };
    /* Available time counts once for each lock, so lost time does too. */
    int64_t stalled_ns =
        history->options->names *
        chaos_stalled_ns(history, UINT64_MAX, UINT64_MAX, 0, history->duration_ns);
    int64_t held_against_ns = verdict->unavailable_ns - stalled_ns;
    finding.stalled = finding.excused =
        (double)held_against_ns <= (1 - least) * (double)verdict->quorum_ns;
    snprintf(
        finding.text, sizeof(finding.text),
        "locks were to be had %.4g %% of the time in which a majority could vote, and %.4g "
        "%% are the least; this is the longest gap",
        100 * verdict->available, 100 * least);
    chaos_find(found, &finding, 1);
}

/* The machine's stalls. Those of a tenth of a ttl and more may matter. */
static void sum_up_stalls(const struct chaos_history *history, struct chaos_verdict *verdict)
{
    uint64_t starved = 0;
    for (size_t i = 0; i < history->stall_count; i++) {
        const struct chaos_stall *stall = &history->stalls[i];
        int64_t length_ns = stall->to_ns - stall->from_ns;
        if (length_ns < history->options->ttl_ms * CHAOS_MS / 10)
            continue;
        verdict->stalls++;
        if (stall->what == CHAOS_STALLED_CONTENDER)
            starved |= CHAOS_BIT(stall->number);
        if (length_ns > verdict->longest_stall_ns)
            verdict->longest_stall_ns = length_ns;
    }
    for (; starved != 0; starved &= starved - 1)
        verdict->starved++;
}

static int by_time(const void *left, const void *right)
{
    const struct chaos_finding *a = left, *b = right;
    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns ? -1 : 1;
    return (a->what > b->what) - (a->what < b->what);
}

void chaos_check(const struct chaos_history *history, struct chaos_verdict *ret_verdict)
{
    assert(history->nodes <= REDLOCK_NODES_MAX && history->options->names <= CHAOS_NAMES_MAX);
    struct chaos_hold_history hold_history;
    struct chaos_found found = {history, &hold_history, ret_verdict};
    memset(ret_verdict, 0, sizeof(*ret_verdict));
    chaos_hold_history_read(history, &hold_history);
    for (unsigned name = 0; name < CHAOS_NAMES_MAX; name++) {
        check_overlaps(&found, name);
        check_tokens(&found, name);
    }
    chaos_check_record(&found);
    check_orphans(&found);
    chaos_check_keys(&found);
    chaos_stats_figures(history, &hold_history, ret_verdict);
    check_recovery(&found);
    check_available(&found);
    sum_up_stalls(history, ret_verdict);
    qsort(ret_verdict->finding, ret_verdict->finding_count, sizeof(ret_verdict->finding[0]),
          by_time);
    chaos_check_verdict(&found);
    chaos_hold_history_free(&hold_history);
}
