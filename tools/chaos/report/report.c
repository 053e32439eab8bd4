/* report.c - see report.h. */
#include "config_auto.h"

#include "chaos/faults/kinds.h"
#include "chaos/report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE 4200

/* ---- the terminal ---------------------------------------------------------------------- */

static void tell_faults(const struct chaos_history *history, FILE *to)
{
    for (int kind = 0; kind < CHAOS_FAULT_KINDS; kind++) {
        unsigned done = 0, seen = 0;
        const struct chaos_fault *unseen = NULL;
        for (size_t i = 0; i < history->fault_count; i++) {
            const struct chaos_fault *fault = &history->faults[i];
            if ((int)fault->kind != kind)
                continue;
            done++;
            seen += fault->seen;
            if (!fault->seen && unseen == NULL)
                unseen = fault;
        }
        if (done == 0)
            continue;
        fprintf(to, "  %-16s %u, seen to have an effect: %u%s%s\n",
                chaos_fault_word((enum chaos_fault_kind)kind), done, seen,
                unseen != NULL ? "; else: " : "", unseen != NULL ? unseen->text : "");
    }
}

static void tell_quantiles(const char *what, const struct chaos_quantiles *quantiles, FILE *to)
{
    if (quantiles->count > 0)
        fprintf(to, "%s: median %.1f ms, 99 in 100 below %.1f ms, longest %.1f ms\n", what,
                quantiles->p50_ms, quantiles->p99_ms, quantiles->max_ms);
}

void chaos_report_text(const struct chaos_history *history, const struct chaos_verdict *verdict,
                       FILE *to)
{
    fprintf(to, "faults: %llu, without effect: %llu\n",
            (unsigned long long)verdict->faults_done,
            (unsigned long long)verdict->faults_unseen);
    tell_faults(history, to);
    fprintf(
        to,
        "holds: %llu (%.1f a second), refused: %llu, lost: %llu, writes under a lock: %llu\n",
        (unsigned long long)verdict->holds, verdict->holds_per_s,
        (unsigned long long)verdict->refusals, (unsigned long long)verdict->losses,
        (unsigned long long)verdict->writes);
    tell_quantiles("waits", &verdict->wait, to);
    tell_quantiles("hand-offs", &verdict->hand_off, to);
    fprintf(
        to,
        "with a majority that can vote: available %.2f %% of the time, longest gap %.0f ms, "
        "back within %.0f ms\n",
        100 * verdict->available, (double)verdict->longest_unavailable_ns / 1e6,
        (double)verdict->recovery_ns / 1e6);
    fprintf(to,
            "overlaps: %llu, lost updates: %llu, changed reads: %llu, keys left: %llu, late "
            "recoveries: %llu; excused by a broken assumption: %llu\n",
            (unsigned long long)verdict->overlaps, (unsigned long long)verdict->lost_updates,
            (unsigned long long)verdict->changed_reads, (unsigned long long)verdict->orphans,
            (unsigned long long)verdict->late, (unsigned long long)verdict->excused);
    if (history->options->client_cmd != NULL)
        fprintf(to, "masters asked per hold: %.3g of %u; %u at least\n", verdict->asked_mean,
                history->nodes, verdict->asked_least);
    fprintf(
        to,
        "machine: load %.1f at the beginning, %.1f at most, of %u processors; stalls: %llu, "
        "the longest %.0f ms, contenders that did not run at times: %u\n",
        history->load.begin, history->load.highest, history->load.processors,
        (unsigned long long)verdict->stalls, (double)verdict->longest_stall_ns / 1e6,
        verdict->starved);
    for (size_t i = 0; i < verdict->finding_count && i < 10; i++)
        fprintf(to, "  %s%s\n", verdict->finding[i].text,
                verdict->finding[i].excused ? " (excused)" : "");
    fprintf(to, "%s\n", verdict->text);
}

/* ---- files ----------------------------------------------------------------------------- */

static bool write_one(const char *dir, const char *name, const struct chaos_history *history,
                      const struct chaos_verdict *verdict,
                      int (*put)(const struct chaos_history *, const struct chaos_verdict *,
                                 FILE *))
{
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *file = fopen(path, "we");
    bool fine = file != NULL && put(history, verdict, file) == 0;
    if (file != NULL && fclose(file) != 0)
        fine = false;
    if (!fine)
        fprintf(stderr, "redlock-chaos: cannot write %s: %s\n", path, strerror(errno));
    return fine;
}

bool chaos_report_prepare(const char *dir)
{
    char path[PATH_SIZE];
    if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "redlock-chaos: cannot make %s: %s\n", dir, strerror(errno));
        return false;
    }
    snprintf(path, sizeof(path), "%s/.redlock-chaos.XXXXXX", dir);
    int fd = mkstemp(path);
    if (fd < 0) {
        fprintf(stderr, "redlock-chaos: cannot write into %s: %s\n", dir, strerror(errno));
        return false;
    }
    close(fd);
    (void)unlink(path);
    return true;
}

bool chaos_report_write(const struct chaos_history *history,
                        const struct chaos_verdict *verdict)
{
    const char *dir = history->options->report;
    bool html = write_one(dir, "report.html", history, verdict, chaos_report_html);
    return write_one(dir, "report.json", history, verdict, chaos_report_json) && html;
}
