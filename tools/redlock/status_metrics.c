/* status_metrics.c - what status found, in Prometheus' text format: one look, as a textfile
 * collector reads it. */
#include "config_auto.h"

#include "redlock/status_print.h"

#include <stdio.h>

struct metric {
    const char *name, *help;
    bool (*value)(const struct status_master *master, double *ret_value); /* false: unknown */
};

static void put_head_of(const char *name, const char *help, const char *type)
{
    printf("# HELP redlock_%s %s\n# TYPE redlock_%s %s\n", name, help, name, type);
}

static void put_head(const char *name, const char *help)
{
    put_head_of(name, help, "gauge");
}

/* Inside of quotes. A node's URL has no control characters. */
static void put_escaped(const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
}

static void put_labels(const struct status_master *master, unsigned number)
{
    printf("{number=\"%u\",master=\"", number);
    put_escaped(master->node->node);
    putchar('"');
}

static void put_sums(const struct status_found *found)
{
    const redlock_status_report *report = found->report;
    const struct {
        const char *name, *help;
        double value;
    } sums[] = {
        {"masters", "Masters in the node list.", report->nodes},
        {"masters_needed", "Votes that make a lock.", report->needed},
        {"masters_voting", "Masters on which a lock can rest now.", found->votes},
        {"lists_known", "Do the masters show which node list each client has?",
         found->lists.told},
        {"other_lists", "Clients seen that have another node list.", found->lists.clients},
        {"max_ttl_seconds", "The longest lease.", (double)report->max_ttl_ms / 1000},
    };
    for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
        put_head(sums[i].name, sums[i].help);
        printf("redlock_%s %.15g\n", sums[i].name, sums[i].value);
    }
}

/* ---- of each master --------------------------------------------------------------------- */

static bool known(double value, bool is_known, double *ret_value)
{
    *ret_value = value;
    return is_known;
}

static bool votes(const struct status_master *master, double *ret_value)
{
    return known(master->votes, true, ret_value);
}

static bool round_trip(const struct status_master *master, double *ret_value)
{
    return known((double)master->node->round_trip_us / 1e6, master->node->round_trip_us >= 0,
                 ret_value);
}

static bool uptime(const struct status_master *master, double *ret_value)
{
    return known((double)master->node->uptime_s, master->node->uptime_s >= 0, ret_value);
}

static bool guard(const struct status_master *master, double *ret_value)
{
    return known((double)master->node->guard_ms / 1000,
                 master->node->state == REDLOCK_NODE_GUARDED, ret_value);
}

static bool middle(const struct status_bounds *bounds, double unit, double *ret_value)
{
    return known((bounds->least + bounds->most) / 2 * unit, bounds->known, ret_value);
}

static bool bound(const struct status_bounds *bounds, double unit, double *ret_value)
{
    return known((bounds->most - bounds->least) / 2 * unit, bounds->known, ret_value);
}

static bool offset(const struct status_master *master, double *ret_value)
{
    return middle(&master->facts.clock.offset_us, 1e-6, ret_value);
}

static bool offset_bound(const struct status_master *master, double *ret_value)
{
    return bound(&master->facts.clock.offset_us, 1e-6, ret_value);
}

static bool rate(const struct status_master *master, double *ret_value)
{
    return middle(&master->facts.clock.rate, 1, ret_value);
}

static bool rate_bound(const struct status_master *master, double *ret_value)
{
    return bound(&master->facts.clock.rate, 1, ret_value);
}

static bool clients(const struct status_master *master, double *ret_value)
{
    return known((double)master->facts.clients, master->facts.clients >= 0, ret_value);
}

static bool clients_max(const struct status_master *master, double *ret_value)
{
    return known((double)master->facts.clients_max, master->facts.clients_max >= 0, ret_value);
}

static bool evicted(const struct status_master *master, double *ret_value)
{
    return known((double)master->facts.evicted, master->facts.evicted >= 0, ret_value);
}

static bool tls_left(const struct status_master *master, double *ret_value)
{
    return known((double)master->facts.tls_left_s, master->facts.tls_left_s >= 0, ret_value);
}

static bool term(const struct status_master *master, double *ret_value)
{
    return known((double)master->facts.sentinels.term, master->facts.sentinels.named, ret_value);
}

static const struct metric metrics[] = {
    {"master_votes", "Can a lock rest on this master now?", votes},
    {"master_round_trip_seconds", "The round trip of a PING.", round_trip},
    {"master_uptime_seconds", "Since the master's start.", uptime},
    {"master_guard_seconds", "The restart guard withholds its vote for so long.", guard},
    {"master_clock_offset_seconds", "Its time of day less this machine's.", offset},
    {"master_clock_offset_bound_seconds", "The offset may be wrong by so much.", offset_bound},
    {"master_clock_rate", "Its seconds in one of this machine's.", rate},
    {"master_clock_rate_bound", "The rate may be wrong by so much.", rate_bound},
    {"master_clients", "Connections that are open there.", clients},
    {"master_clients_max", "Connections that it allows.", clients_max},
    {"master_tls_left_seconds", "Until a certificate that its TLS rests on ends.", tls_left},
    {"master_evicted_keys", "Keys that it has evicted.", evicted},
    {"master_term", "In which term its Sentinels name it: each failover raises it.", term},
};

static void put_metric(const struct metric *metric, const struct status_found *found)
{
    put_head(metric->name, metric->help);
    for (unsigned i = 0; i < found->report->node_count; i++) {
        double value;
        if (!metric->value(&found->master[i], &value))
            continue;
        printf("redlock_%s", metric->name);
        put_labels(&found->master[i], i + 1);
        printf("} %.15g\n", value);
    }
}

static void put_checks(const struct status_found *found)
{
    put_head("master_check", "0: well, 1: a warning, 2: failed. None: not tried, or unknown.");
    for (unsigned i = 0; i < found->report->node_count; i++) {
        const struct status_check *check = found->master[i].check;
        for (int k = 0; k < STATUS_CHECKS; k++) {
            if (check[k].result < STATUS_OK)
                continue;
            fputs("redlock_master_check", stdout);
            put_labels(&found->master[i], i + 1);
            printf(",check=\"%s\"} %d\n", check[k].name, (int)check[k].result - STATUS_OK);
        }
    }
    put_head("master_check_known", "0: tried, and the master does not tell. None: not tried.");
    for (unsigned i = 0; i < found->report->node_count; i++) {
        const struct status_check *check = found->master[i].check;
        for (int k = 0; k < STATUS_CHECKS; k++) {
            if (check[k].result == STATUS_NONE)
                continue;
            fputs("redlock_master_check_known", stdout);
            put_labels(&found->master[i], i + 1);
            printf(",check=\"%s\"} %d\n", check[k].name, check[k].result >= STATUS_OK);
        }
    }
}

/* ---- of each Sentinel ------------------------------------------------------------------- */

static bool agrees(const struct status_sentinel *sentinel, double *ret_value)
{
    return known(sentinel->agrees, true, ret_value);
}

static bool its_clients(const struct status_sentinel *sentinel, double *ret_value)
{
    return known((double)sentinel->clients, sentinel->clients >= 0, ret_value);
}

static bool its_clients_max(const struct status_sentinel *sentinel, double *ret_value)
{
    return known((double)sentinel->clients_max, sentinel->clients_max >= 0, ret_value);
}

static void put_sentinels(const struct status_found *found)
{
    static const struct {
        const char *name, *help;
        bool (*value)(const struct status_sentinel *sentinel, double *ret_value);
    } all[] = {
        {"sentinel_agrees", "Does it name the master that a majority does?", agrees},
        {"sentinel_clients", "Connections that are open at this Sentinel.", its_clients},
        {"sentinel_clients_max", "Connections that it allows.", its_clients_max},
    };
    for (size_t m = 0; m < sizeof(all) / sizeof(all[0]); m++) {
        put_head(all[m].name, all[m].help);
        for (unsigned i = 0; i < found->report->node_count; i++) {
            const struct status_sentinels *sentinels = &found->master[i].facts.sentinels;
            for (unsigned k = 0; k < sentinels->count; k++) {
                double value;
                if (!all[m].value(&sentinels->of[k], &value))
                    continue;
                printf("redlock_%s", all[m].name);
                put_labels(&found->master[i], i + 1);
                fputs(",sentinel=\"", stdout);
                put_escaped(sentinels->of[k].at);
                printf("\"} %.15g\n", value);
            }
        }
    }
}

/* What the client that asked has counted itself. */
static void put_counters(const redlock_stats *stats)
{
    const struct {
        const char *name, *help;
        uint64_t value;
    } counters[] = {
        {"client_rounds_total", "Rounds begun to acquire a lock.", stats->rounds},
        {"client_acquired_total", "Rounds won.", stats->acquired},
        {"client_extended_total", "Extensions won.", stats->extended},
        {"client_lost_total", "Locks that were lost or ran out.", stats->lost},
        {"client_released_total", "Releases that a majority confirmed.", stats->released},
        {"client_unconfirmed_total", "Releases that too few confirmed.", stats->unconfirmed},
        {"client_abandoned_total", "Releases that were given up.", stats->abandoned_releases},
        {"client_commands_total", "Requests sent to masters.", stats->commands},
        {"client_reconnects_total", "Connections made anew.", stats->reconnects},
        {"client_wakes_total", "Messages that a lock was released.", stats->wakes},
        {"client_probes_total", "Rounds begun without one.", stats->probes},
        {"client_other_lists_total", "Other node lists met.", stats->other_lists},
    };
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
        put_head_of(counters[i].name, counters[i].help, "counter");
        printf("redlock_%s %llu\n", counters[i].name, (unsigned long long)counters[i].value);
    }
}

void status_print_metrics(const struct status_found *found)
{
    cli_metric_fit(found->verdict != STATUS_NOT_FIT);
    put_sums(found);
    for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
        put_metric(&metrics[i], found);
    put_checks(found);
    put_sentinels(found);
    put_counters(&found->stats);
}
