/* verdict.c - the result of a run: an exit status, and one sentence.
 *
 *   1  a violation happened while every assumption held
 *   2  the run has shown nothing, for one of these reasons:
 *      it ended early; too few locks were taken; logs were full;
 *      a requested kind of fault had no visible effect, or in less than half of its faults;
 *      a foreign client asks fewer masters than a majority;
 *      the broken client of --self-test was not caught
 *   0  neither. Costs of broken assumptions are reported, and are no failure
 *
 * With --self-test the run must find a violation, so a violation counts as 0. */
#include "config_auto.h"

#include "chaos/check/check.h"
#include "chaos/report/format.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#define STALL_PART 4

/* The things that a run has not shown, as the end of a sentence. */
struct reason {
    char text[200];
    size_t len;
};

__attribute__((format(printf, 3, 4))) static void add(struct reason *reason, const char *glue,
                                                      const char *format, ...)
{
    size_t room = sizeof(reason->text) - reason->len;
    if (reason->len == 0)
        glue = "";
    if (room <= strlen(glue) + 1)
        return;
    memcpy(reason->text + reason->len, glue, strlen(glue) + 1);
    reason->len += strlen(glue);
    va_list arguments;
    va_start(arguments, format);
    int added = vsnprintf(reason->text + reason->len, sizeof(reason->text) - reason->len,
                          format, arguments);
    va_end(arguments);
    if (added > 0)
        reason->len += strlen(reason->text + reason->len);
}

/* How many faults of a kind were done, and how many of them without a visible effect. */
struct effect {
    unsigned done, unseen;
};

static struct effect effect_of(const struct chaos_history *history, unsigned kind)
{
    struct effect effect = {0, 0};
    for (size_t i = 0; i < history->fault_count; i++) {
        const struct chaos_fault *fault = &history->faults[i];
        if (fault->kind != kind || fault->begun_ns == 0)
            continue;
        effect.done++;
        effect.unseen += !fault->seen;
    }
    return effect;
}

/* A kind of fault that was never seen shows nothing, and a kind that mostly failed hardly
 * more. */
static void look_for_unseen(const struct chaos_history *history, struct reason *reason)
{
    struct reason never = {.len = 0}, mostly = {.len = 0};
    for (unsigned kind = 0; kind < CHAOS_FAULT_KINDS; kind++) {
        struct effect effect = effect_of(history, kind);
        if ((history->options->faults & CHAOS_BIT(kind)) == 0)
            continue;
        if (effect.unseen == effect.done)
            add(&never, ", ", "%s", chaos_fault_word(kind));
        else if (effect.unseen > effect.done / 2)
            add(&mostly, ", ", "%s (%u of %u)", chaos_fault_word(kind), effect.unseen,
                effect.done);
    }
    if (never.len > 0)
        add(reason, "; ", "no effect was ever seen of %s", never.text);
    if (mostly.len > 0)
        add(reason, "; ", "no effect was seen of most faults of %s", mostly.text);
}

static void look_for_nothing(const struct chaos_found *found, struct reason *reason)
{
    const struct chaos_history *history = found->history;
    if (history->error[0] != '\0')
        add(reason, "; ", "%s", history->error);
    if (history->lost_events > 0)
        add(reason, "; ", "%" PRIu64 " events did not fit into the logs", history->lost_events);
    if (found->verdict->holds == 0)
        add(reason, "; ", "no lock was ever had");
    else if (found->verdict->holds < history->options->min_holds)
        add(reason, "; ", "%" PRIu64 " holds, and at least %u were asked for",
            found->verdict->holds, history->options->min_holds);
    unsigned min_masters = history->options->min_masters == CHAOS_USUAL
                               ? history->needed
                               : history->options->min_masters;
    if (found->verdict->holds > 0 && found->verdict->asked_mean < min_masters)
        add(reason, "; ",
            "the client asked %.2g of %u masters per hold, and a lock of %u at least was to be "
            "shown",
            found->verdict->asked_mean, history->nodes, min_masters);
    if (history->options->self_test)
        add(reason, "; ", "the broken client was not caught");
    look_for_unseen(history, reason);
}

/* "2 overlaps, 1 lost update" */
static void count_violations(const struct chaos_verdict *verdict, struct reason *reason)
{
    const struct {
        uint64_t count;
        const char *one, *many;
    } kinds[] = {
        {verdict->overlaps, "overlap", "overlaps"},
        {verdict->lost_updates, "lost update", "lost updates"},
        {verdict->changed_reads, "changed read", "changed reads"},
        {verdict->token_disorders, "token out of order", "tokens out of order"},
        {verdict->orphans, "orphaned key", "orphaned keys"},
        {verdict->late, "late recovery", "late recoveries"},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (kinds[i].count > 0)
            add(reason, "; ", "%" PRIu64 " %s", kinds[i].count,
                kinds[i].count == 1 ? kinds[i].one : kinds[i].many);
    if (verdict->scarce > 0)
        add(reason, "; ", "locks were to be had %.4g %% of the time only",
            100 * verdict->available);
}

static void say_passed(struct chaos_verdict *verdict)
{
    char holds[CHAOS_COUNT_MAX], faults[CHAOS_COUNT_MAX];
    int len = snprintf(
        verdict->text, sizeof(verdict->text), "No violation in %s holds under %s faults",
        chaos_count(verdict->holds, holds), chaos_count(verdict->faults_done, faults));
    if (verdict->excused > 0 && len > 0)
        len += snprintf(verdict->text + len, sizeof(verdict->text) - (size_t)len,
                        " while the assumptions held");
    uint64_t by_faults = verdict->excused - verdict->stalled;
    if (by_faults > 0 && len > 0)
        len += snprintf(verdict->text + len, sizeof(verdict->text) - (size_t)len,
                        "; %" PRIu64 " where a fault had broken one", by_faults);
    if (verdict->stalled > 0 && len > 0)
        len += snprintf(verdict->text + len, sizeof(verdict->text) - (size_t)len,
                        "; %" PRIu64 " where the machine had stalled", verdict->stalled);
    if (verdict->stale > 0 && len > 0)
        snprintf(verdict->text + len, sizeof(verdict->text) - (size_t)len,
                 "; %" PRIu64 " accesses too late, all refused by their fencing tokens",
                 verdict->stale);
}

/* Stalls are mentioned if they took a part of a ttl, or if they excuse a finding. */
static void say_stalled(const struct chaos_history *history, struct chaos_verdict *verdict)
{
    size_t len = strlen(verdict->text);
    int64_t long_ns = history->options->ttl_ms * CHAOS_MS / STALL_PART;
    if (verdict->stalled == 0 && verdict->longest_stall_ns < long_ns)
        return;
    snprintf(
        verdict->text + len, sizeof(verdict->text) - len,
        "; the machine stalled for %.0f ms at the longest (contenders that did not run: %u "
        "of %u; load up to %.1f on %u processor%s)",
        (double)verdict->longest_stall_ns / 1e6, verdict->starved, history->options->clients,
        history->load.highest, history->load.processors,
        history->load.processors == 1 ? "" : "s");
}

void chaos_check_verdict(struct chaos_found *found)
{
    struct chaos_verdict *verdict = found->verdict;
    struct reason violations = {.len = 0}, nothing = {.len = 0};
    count_violations(verdict, &violations);
    look_for_nothing(found, &nothing);
    bool self_test = found->history->options->self_test;
    if (violations.len > 0 && self_test) {
        snprintf(verdict->text, sizeof(verdict->text), "The broken client was caught: %s",
                 violations.text);
    } else if (violations.len > 0) {
        verdict->exit_status = 1;
        snprintf(verdict->text, sizeof(verdict->text),
                 "Violation while the assumptions held: %s", violations.text);
    } else if (nothing.len > 0) {
        verdict->exit_status = 2;
        snprintf(verdict->text, sizeof(verdict->text), "The run has shown nothing: %s",
                 nothing.text);
    } else {
        say_passed(verdict);
    }
    verdict->passed = verdict->exit_status == 0;
    say_stalled(found->history, verdict);
}
