/* json.c - the report for programs: one JSON object with the data of the page. Times are
 * milliseconds since the run's beginning; null: it did not happen. */
#include "config_auto.h"

#include "chaos/check/check.h"
#include "chaos/report/format.h"
#include "chaos/report/stats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define STALLS_LISTED 2000 /* a machine that is too busy has no end of them */

static void put_text(FILE *to, const char *key, const char *value)
{
    fprintf(to, "\"%s\": ", key);
    if (value != NULL)
        chaos_json_put(to, value);
    else
        fputs("null", to);
}

static void put_ms(FILE *to, const char *key, int64_t ns, bool there)
{
    if (there)
        fprintf(to, "\"%s\": %.6f", key, (double)ns / 1e6);
    else
        fprintf(to, "\"%s\": null", key);
}

/* The numbers of a set's members, the first of which is `first`. */
static void put_members(FILE *to, const char *key, unsigned first, uint64_t members)
{
    const char *glue = "";
    fprintf(to, "\"%s\": [", key);
    for (unsigned i = 0; i < 64; i++) {
        if ((members & CHAOS_BIT(i)) == 0)
            continue;
        fprintf(to, "%s%u", glue, i + first);
        glue = ", ";
    }
    fputs("]", to);
}

static void put_options(FILE *to, const struct chaos_history *history)
{
    static const char *const places[] = {"local", "file", "compose"};
    const struct chaos_options *options = history->options;
    char command[CHAOS_COMMAND_MAX];
    const char *glue = "";
    chaos_command(options, command);
    fputs("\"options\": {", to);
    put_text(to, "command", command);
    fputs(", ", to);
    put_text(to, "where", places[options->where]);
    fputs(", ", to);
    put_text(to, "client", options->client_cmd);
    fputs(", ", to);
    put_text(to, "kind", chaos_lock_word(options->lock));
    fputs(", ", to);
    put_text(to, "guard",
             options->strict         ? "strict"
             : options->markers      ? "marker"
             : history->guard_ns > 0 ? "on"
                                     : "off");
    fprintf(to,
            ", \"seed\": \"%" PRIu64 "\", \"clients\": %u, \"names\": %u, \"duration_ms\": "
            "%" PRId64 ", \"ttl_ms\": %" PRId64 ", \"hold_ms\": %" PRId64
            ", \"max_recovery_ms\": %" PRId64
            ", \"min_holds\": %u, \"min_available\": %.4f, \"min_masters\": %u, \"self_test\": "
            "%s, \"faults\": [",
            options->seed, options->clients, options->names, options->duration_ms,
            options->ttl_ms, options->hold_ms, options->max_recovery_ms, options->min_holds,
            options->min_available,
            options->min_masters == CHAOS_USUAL ? history->needed : options->min_masters,
            options->self_test ? "true" : "false");
    for (unsigned kind = 0; kind < CHAOS_FAULT_KINDS; kind++) {
        if ((options->faults & CHAOS_BIT(kind)) == 0)
            continue;
        fputs(glue, to);
        chaos_json_put(to, chaos_fault_word(kind));
        glue = ", ";
    }
    fputs("]},\n", to);
}

static void put_run(FILE *to, const struct chaos_history *history)
{
    fputs("\"run\": {", to);
    put_text(to, "server_version", history->server_version);
    fprintf(to,
            ", \"begun_unix_s\": %" PRId64 ", \"nodes\": %u, \"needed\": %u, \"events\": %zu, "
            "\"lost_events\": %" PRIu64 ", ",
            history->begun_unix_s, history->nodes, history->needed, history->event_count,
            history->lost_events);
    put_ms(to, "lasted_ms", history->duration_ns, true);
    fputs(", ", to);
    put_text(to, "error", history->error[0] != '\0' ? history->error : NULL);
    fprintf(to, ", \"processors\": %u, \"load_at_begin\": %.2f, \"load_highest\": %.2f",
            history->load.processors, history->load.begin, history->load.highest);
    fputs(", \"node_names\": [", to);
    for (unsigned i = 0; i < history->nodes; i++) {
        fputs(i > 0 ? ", " : "", to);
        chaos_json_put(to, history->node_name[i] != NULL ? history->node_name[i] : "");
    }
    fputs("]},\n", to);
}

static void put_verdict(FILE *to, const struct chaos_history *history,
                        const struct chaos_verdict *verdict)
{
    fprintf(to, "\"verdict\": {\"passed\": %s, \"exit_status\": %d, ",
            verdict->passed ? "true" : "false", verdict->exit_status);
    put_text(to, "judged", chaos_judged_word(chaos_judged(history, verdict)));
    fputs(", ", to);
    put_text(to, "text", verdict->text);
    fputs("},\n", to);
}

static void put_quantiles(FILE *to, const char *key, const struct chaos_quantiles *quantiles)
{
    fprintf(to,
            "  \"%s\": {\"count\": %zu, \"p50_ms\": %.6f, \"p90_ms\": %.6f, \"p99_ms\": %.6f, "
            "\"max_ms\": %.6f},\n",
            key, quantiles->count, quantiles->p50_ms, quantiles->p90_ms, quantiles->p99_ms,
            quantiles->max_ms);
}

static void put_figures(FILE *to, const struct chaos_verdict *verdict)
{
    fprintf(
        to,
        "\"figures\": {\n  \"overlaps\": %" PRIu64 ", \"lost_updates\": %" PRIu64
        ", \"stale_refused\": %" PRIu64 ", \"changed_reads\": %" PRIu64
        ", \"token_disorders\": %" PRIu64 ", \"orphans\": %" PRIu64
        ", \"late_recoveries\": %" PRIu64 ", \"excused\": %" PRIu64 ",\n  \"holds\": %" PRIu64
        ", \"shared\": %" PRIu64 ", \"refusals\": %" PRIu64 ", \"losses\": %" PRIu64
        ", \"writes\": %" PRIu64 ", \"faults_done\": %" PRIu64 ", \"faults_unseen\": %" PRIu64
        ",\n  \"holds_per_s\": %.3f, \"available\": %.6f,\n",
        verdict->overlaps, verdict->lost_updates, verdict->stale, verdict->changed_reads,
        verdict->token_disorders, verdict->orphans, verdict->late, verdict->excused,
        verdict->holds, verdict->shared, verdict->refusals, verdict->losses, verdict->writes,
        verdict->faults_done, verdict->faults_unseen, verdict->holds_per_s, verdict->available);
    fprintf(to,
            "  \"available_too_seldom\": %" PRIu64 ", \"masters_asked_per_hold\": %.3f, "
            "\"masters_asked_least\": %u, \"excused_by_stalls\": %" PRIu64
            ", \"stalls\": %" PRIu64 ", \"stalled_contenders\": %u, ",
            verdict->scarce, verdict->asked_mean, verdict->asked_least, verdict->stalled,
            verdict->stalls, verdict->starved);
    put_ms(to, "longest_stall_ms", verdict->longest_stall_ns, true);
    fputs(",\n", to);
    put_quantiles(to, "wait", &verdict->wait);
    put_quantiles(to, "hold", &verdict->hold);
    put_quantiles(to, "hand_off", &verdict->hand_off);
    fputs("  ", to);
    put_ms(to, "longest_unavailable_ms", verdict->longest_unavailable_ns, true);
    fputs(", ", to);
    put_ms(to, "longest_at_ms", verdict->longest_at_ns, true);
    fprintf(to, ", \"longest_name\": %u,\n  ", verdict->longest_name);
    put_ms(to, "recovery_ms", verdict->recovery_ns, true);
    fputs(", ", to);
    put_ms(to, "recovery_at_ms", verdict->recovery_at_ns, true);
    fprintf(to, ", \"recovery_name\": %u\n},\n", verdict->recovery_name);
}

static void put_fault(FILE *to, const struct chaos_history *history,
                      const struct chaos_fault *fault)
{
    static const char *const words[] = {NULL,    "keys-stay",  "no-step",
                                        "guard", "one-server", "one-list"};
    fputs("{", to);
    put_text(to, "kind", chaos_fault_word(fault->kind));
    fputs(", ", to);
    put_ms(to, "planned_ms", fault->planned_ns, true);
    fputs(", ", to);
    put_ms(to, "length_ms", fault->length_ns, true);
    fputs(", ", to);
    put_ms(to, "begun_ms", fault->begun_ns, fault->begun_ns != 0);
    fputs(", ", to);
    put_ms(to, "undone_ms", fault->undone_ns, fault->undone_ns != 0);
    fprintf(to, ", \"step_ms\": %" PRId64 ", ", fault->step_ms);
    put_members(to, "nodes", 1, fault->nodes);
    fputs(", ", to);
    put_members(to, "clients", 0, fault->clients);
    fputs(", ", to);
    put_text(to, "breaks", words[chaos_broken_by(history->options, fault)]);
    fprintf(to, ", \"seen\": %s, ", fault->seen ? "true" : "false");
    put_text(to, "text", fault->text);
    fputs("}", to);
}

static void put_finding(FILE *to, const struct chaos_history *history,
                        const struct chaos_finding *finding)
{
    fputs("{", to);
    put_text(to, "kind", chaos_finding_word(finding));
    fputs(", ", to);
    put_ms(to, "at_ms", finding->at_ns, true);
    fputs(", ", to);
    put_ms(to, "for_ms", finding->for_ns,
           finding->what == CHAOS_OVERLAP || finding->what == CHAOS_LATE ||
               finding->what == CHAOS_SCARCE);
    fprintf(to,
            ", \"name\": %u, \"client\": %u, \"other\": %u, \"excused\": %s, "
            "\"stalled\": %s, \"fault\": ",
            finding->name, finding->client, finding->other, finding->excused ? "true" : "false",
            finding->stalled ? "true" : "false");
    if (finding->by != NULL) /* its place in "faults", from 0 */
        fprintf(to, "%zu, ", (size_t)(finding->by - history->faults));
    else
        fputs("null, ", to);
    put_text(to, "text", finding->text);
    fputs("}", to);
}

static void put_lists(FILE *to, const struct chaos_history *history,
                      const struct chaos_verdict *verdict)
{
    fputs("\"faults\": [", to);
    for (size_t i = 0; i < history->fault_count; i++) {
        fputs(i > 0 ? ",\n  " : "\n  ", to);
        put_fault(to, history, &history->faults[i]);
    }
    fputs("],\n\"findings\": [", to);
    for (size_t i = 0; i < verdict->finding_count; i++) {
        fputs(i > 0 ? ",\n  " : "\n  ", to);
        put_finding(to, history, &verdict->finding[i]);
    }
    fputs("],\n", to);
}

/* The source: "contender", "proxies", "node"; its number counts as elsewhere. */
static void put_stalls(FILE *to, const struct chaos_history *history)
{
    static const char *const words[] = {"contender", "proxies", "node"};
    size_t count = history->stall_count < STALLS_LISTED ? history->stall_count : STALLS_LISTED;
    fputs("\"stalls\": [", to);
    for (size_t i = 0; i < count; i++) {
        const struct chaos_stall *stall = &history->stalls[i];
        fputs(i > 0 ? ",\n  {" : "\n  {", to);
        put_text(to, "of", words[stall->what]);
        if (stall->what != CHAOS_STALLED_PROXIES)
            fprintf(to, ", \"number\": %u",
                    stall->number + (stall->what == CHAOS_STALLED_MASTER ? 1U : 0U));
        fputs(", ", to);
        put_ms(to, "from_ms", stall->from_ns, true);
        fputs(", ", to);
        put_ms(to, "to_ms", stall->to_ns, true);
        fputs("}", to);
    }
    fputs("],\n", to);
}

static void put_series(FILE *to, const struct chaos_series *series)
{
    fputs("\"series\": {", to);
    put_ms(to, "every_ms", series->every_ns, true);
    fputs(", \"points\": [", to);
    for (size_t i = 0; i < series->count; i++)
        fprintf(to,
                "%s\n  {\"holds\": %" PRIu64 ", \"refusals\": %" PRIu64
                ", \"wait_p50_ms\": %.6f, \"wait_p99_ms\": %.6f, \"wait_max_ms\": %.6f}",
                i > 0 ? "," : "", series->point[i].holds, series->point[i].refusals,
                series->point[i].p50_ms, series->point[i].p99_ms, series->point[i].max_ms);
    fputs("]},\n", to);
}

static void put_hand_offs(FILE *to, const struct chaos_hold_history *hold_history)
{
    int64_t *ns = chaos_room(hold_history->hold_count, sizeof(*ns));
    struct chaos_histogram histogram;
    chaos_histogram_of(ns, chaos_stats_hand_offs(hold_history, ns), &histogram);
    const char *glue = "";
    fputs("\"hand_offs\": [", to);
    for (unsigned i = 0; i < CHAOS_COLUMNS; i++) {
        if (histogram.column[i] == 0)
            continue;
        fprintf(to, "%s\n  {\"from_ms\": %.6f, \"to_ms\": %.6f, \"count\": %" PRIu64 "}", glue,
                i == 0 ? 0 : chaos_column_ns(i) / 1e6, chaos_column_ns(i + 1) / 1e6,
                histogram.column[i]);
        glue = ",";
    }
    fputs("]\n", to);
    free(ns);
}

int chaos_report_json(const struct chaos_history *history, const struct chaos_verdict *verdict,
                      FILE *to)
{
    struct chaos_hold_history hold_history;
    struct chaos_series series;
    chaos_hold_history_read(history, &hold_history);
    chaos_series_of(history, &hold_history, &series);
    fprintf(to, "{\"program\": \"redlock-chaos\", \"version\": \"%s\",\n", REDLOCK_VERSION);
    put_options(to, history);
    put_run(to, history);
    put_verdict(to, history, verdict);
    put_figures(to, verdict);
    put_lists(to, history, verdict);
    put_stalls(to, history);
    put_series(to, &series);
    put_hand_offs(to, &hold_history);
    fputs("}\n", to);
    chaos_hold_history_free(&hold_history);
    if (fflush(to) != 0 || ferror(to)) {
        errno = errno != 0 ? errno : EIO;
        return -1;
    }
    return 0;
}
