/* status_print.c - what status found, for people and as JSON. */
#include "config_auto.h"

#include "redlock/status_print.h"

#include <string.h>

#define COLUMNS 96
#define BESIDE_ADDRESS 50 /* columns that the rest of a node's line takes */
#define REASON_AT 9       /* "   FAIL  " */

static const char *state_word(const struct status_master *master)
{
    if (master->full)
        return "refused"; /* the library knows only that it is not connected */
    switch (master->node->state) {
    case REDLOCK_NODE_CONNECTING:
        return "connecting";
    case REDLOCK_NODE_GUARDED:
        return "guarded";
    case REDLOCK_NODE_REFUSED:
        return "refused";
    case REDLOCK_NODE_STALLED:
        return "stalled";
    case REDLOCK_NODE_READY:
        return master->votes ? "ready" : "failing";
    default:
        return "down";
    }
}

static const char *result_word(enum status_result result)
{
    static const char *const words[] = {"none", "unknown", "ok", "warn", "fail"};
    return words[result];
}

static const char *verdict_word(enum status_verdict verdict)
{
    static const char *const words[] = {"fit", "degraded", "not fit"};
    return words[verdict];
}

/* ---- for people ------------------------------------------------------------------------- */

/* Words from column `indent` on; the first line has been written up to `at`. */
static void print_wrapped(const char *text, int indent, int at)
{
    while (*text) {
        int len = (int)strcspn(text, " ");
        if (at > indent && at + 1 + len > COLUMNS) {
            printf("\n%*s", indent, "");
            at = indent;
        } else if (at > indent) {
            putchar(' ');
            at++;
        }
        printf("%.*s", len, text);
        at += len;
        text += len;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void print_check(const struct status_check *check)
{
    static const char *const words[] = {"-", "UNKNOWN", "OK", "WARN", "FAIL"};
    char line[sizeof(check->reason) + 32];
    snprintf(line, sizeof(line), "%s%s%s", check->name, *check->reason ? ": " : "",
             check->reason);
    int at = printf("   %-4s  ", words[check->result]);
    print_wrapped(line, REASON_AT, at > REASON_AT ? at : REASON_AT);
    if (!check->remedy)
        return;
    printf("%*s", REASON_AT, "");
    print_wrapped(check->remedy, REASON_AT, REASON_AT);
}

static struct cli_text round_trip_text(const redlock_node_status *node)
{
    struct cli_text shown = {"-"};
    if (node->round_trip_us >= 0)
        snprintf(shown.text, sizeof(shown.text), "%lld.%02lldms",
                 (long long)node->round_trip_us / 1000,
                 (long long)node->round_trip_us % 1000 / 10);
    return shown;
}

static struct cli_text uptime_text(const redlock_node_status *node)
{
    struct cli_text shown = {"-"};
    if (node->uptime_s >= 60)
        return cli_time_text(node->uptime_s * 1000);
    if (node->uptime_s >= 0)
        snprintf(shown.text, sizeof(shown.text), "%llds", (long long)node->uptime_s);
    return shown;
}

/* An address that is too long for its column has a line of its own. */
static void print_node(const struct status_master *master, unsigned number, int width)
{
    const redlock_node_status *node = master->node;
    int len = (int)strlen(node->node);
    struct cli_text version =
        cli_text(node->version, strnlen(node->version, sizeof(node->version)));
    printf("%2u  %-*s", number, width, node->node);
    if (len > width)
        printf("\n    %*s", width, "");
    printf("  %-10s  %8s  up %-7s  %s\n",
           state_word(master),
           round_trip_text(node).text, uptime_text(node).text,
           *version.text ? version.text : "-");
}

/* The one that Sentinels name. */
static void print_server(const struct status_sentinels *sentinels)
{
    if (sentinels->named)
        printf("%*sserver: %s, in term %llu\n", REASON_AT, "", sentinels->server,
               (unsigned long long)sentinels->term);
}

static double middle(const struct status_bounds *bounds)
{
    return (bounds->least + bounds->most) / 2;
}

static double bound(const struct status_bounds *bounds)
{
    return (bounds->most - bounds->least) / 2;
}

static void print_clock(const struct status_clock *clock)
{
    if (clock->offset_us.known)
        printf("%*sclock: %+.2f ms to ours, within %.2f ms\n", REASON_AT, "",
               middle(&clock->offset_us) / 1e3, bound(&clock->offset_us) / 1e3);
    if (clock->rate.known)
        printf("%*sclock: gains %+.0f ppm on ours, within %.0f ppm\n", REASON_AT, "",
               (middle(&clock->rate) - 1) * 1e6, bound(&clock->rate) * 1e6);
}

/* Whatever the guard is: it decides what a restart costs. The second half is asked for only where
 * the guard needs it. */
static void print_disk(const struct status_facts *facts)
{
    if (facts->aof >= 0)
        printf("%*sdisk: appendonly %s%s\n", REASON_AT, "", facts->aof ? "yes" : "no",
               facts->fsync == 1   ? ", appendfsync always"
               : facts->fsync == 0 ? ", appendfsync not always"
                                   : "");
}

void status_print_text(const struct cli *cli, const struct status_found *found)
{
    static const char *const words[] = {"fit", "DEGRADED", "NOT FIT"};
    const redlock_status_report *report = found->report;
    char line[sizeof(found->lists.why) + 96];
    int width = 0;
    for (unsigned i = 0; i < report->node_count; i++) {
        int len = (int)strlen(report->node[i].node);
        width = len > width ? len : width;
    }
    width = width < COLUMNS - BESIDE_ADDRESS ? width : COLUMNS - BESIDE_ADDRESS;
    for (unsigned i = 0; i < report->node_count; i++) {
        const struct status_check *check = found->master[i].check;
        print_node(&found->master[i], i + 1, width);
        if (cli->verbose) {
            print_server(&found->master[i].facts.sentinels);
            print_clock(&found->master[i].facts.clock);
            print_disk(&found->master[i].facts);
        }
        for (int k = 0; k < STATUS_CHECKS; k++) {
            if (check[k].result >= STATUS_WARN ||
                (cli->verbose && (check[k].result != STATUS_NONE || *check[k].reason)))
                print_check(&check[k]);
        }
    }
    if (cli->verbose)
        printf("max-ttl %s\n", cli_time_text(report->max_ttl_ms).text);
    if (!cli->probe && found->votes > 0 && strcmp(status_lists_word(&found->lists), "unknown") == 0) {
        snprintf(line, sizeof(line), "lists: UNKNOWN: masters don't show which clients have "
                 "another one%s%s", *found->lists.why ? ": " : "", found->lists.why);
        print_wrapped(line, 0, 0);
    }
    printf("%s: %u of %u masters vote, %u are needed\n", words[found->verdict], found->votes,
           report->nodes, report->needed);
}

/* ---- JSON ------------------------------------------------------------------------------- */

static void json_field(const char *key, const char *text, size_t size)
{
    putchar(',');
    cli_json_bytes(stdout, key, text, strnlen(text, size));
}

static void json_checks(const struct status_check checks[STATUS_CHECKS])
{
    const char *between = "";
    fputs(",\"checks\":[", stdout);
    for (int i = 0; i < STATUS_CHECKS; i++) {
        const struct status_check *check = &checks[i];
        if (!check->name) /* nobody asked */
            continue;
        printf("%s{\"check\":\"%s\",\"result\":\"%s\"", between, check->name,
               result_word(check->result));
        between = ",";
        if (*check->reason)
            json_field("reason", check->reason, sizeof(check->reason));
        if (check->remedy)
            json_field("remedy", check->remedy, strlen(check->remedy));
        putchar('}');
    }
    putchar(']');
}

/* The middle of what is certain, and by how much it may be wrong. */
static void json_bounds(const char *key, const char *bound_key,
                        const struct status_bounds *bounds, double unit)
{
    if (bounds->known)
        printf(",\"%s\":%.6f,\"%s\":%.6f", key, middle(bounds) * unit, bound_key,
               bound(bounds) * unit);
}

static void json_clock(const struct status_clock *clock)
{
    json_bounds("clock_offset_ms", "clock_offset_bound_ms", &clock->offset_us, 1e-3);
    json_bounds("clock_rate", "clock_rate_bound", &clock->rate, 1);
}

static void json_node(const struct status_found *found, unsigned number)
{
    const struct status_master *master = &found->master[number - 1];
    const redlock_node_status *node = master->node;
    printf("{\"number\":%u,", number);
    cli_json_text(stdout, "node", node->node);
    printf(",\"state\":\"%s\",\"votes\":%s", state_word(master),
           master->votes ? "true" : "false");
    if (node->round_trip_us >= 0)
        printf(",\"round_trip_us\":%lld", (long long)node->round_trip_us);
    if (node->uptime_s >= 0)
        printf(",\"uptime_s\":%lld", (long long)node->uptime_s);
    if (node->state == REDLOCK_NODE_GUARDED)
        printf(",\"guard_ms\":%lld", (long long)node->guard_ms);
    json_field("role", node->role, sizeof(node->role));
    json_field("version", node->version, sizeof(node->version));
    json_field("run_id", node->run_id, sizeof(node->run_id));
    json_field("text", node->text, sizeof(node->text));
    if (*node->refusal) {
        json_field("refusal", node->refusal, sizeof(node->refusal));
        printf(",\"refused_ago_ms\":%lld", (long long)node->refused_ago_ms);
    }
    json_clock(&master->facts.clock);
    status_sentinels_json(&master->facts.sentinels);
    json_checks(master->check);
    status_rights_json(&master->facts.rights, &found->rights);
    putchar('}');
}

void status_print_json(const struct status_found *found, int exit_status)
{
    const redlock_status_report *report = found->report;
    cli_json_begin(stdout);
    cli_json_status(stdout);
    fputs("\"nodes\":[", stdout);
    for (unsigned i = 0; i < report->node_count; i++) {
        fputs(i > 0 ? "," : "", stdout);
        json_node(found, i + 1);
    }
    printf("],\"ready\":%u,\"proven\":%u,\"needed\":%u,\"max_ttl_ms\":%lld", report->ready,
           found->votes, report->needed, (long long)report->max_ttl_ms);
    printf(",\"lists\":\"%s\"", status_lists_word(&found->lists));
    if (*found->lists.why)
        json_field("lists_reason", found->lists.why, sizeof(found->lists.why));
    if (found->lists.told)
        printf(",\"other_lists\":%u,\"majorities_meet\":%s", found->lists.clients,
               found->lists.by_step ? "true" : "false");
    printf(",\"verdict\":\"%s\",\"fit\":%s", verdict_word(found->verdict),
           found->verdict == STATUS_NOT_FIT ? "false" : "true");
    printf(",\"exit_status\":%d", exit_status);
    cli_json_end();
}
