/* sim_count.c - see sim_count.h: what came of many worlds, added up and shown. */
#include "config_auto.h"

#include "sim_count.h"

#include "sim_judge.h"

#include <inttypes.h>

static uint64_t sum_of(const uint64_t *counts, unsigned n)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += counts[i];
    return sum;
}

static void add(uint64_t *sums, const uint64_t *counts, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        sums[i] += counts[i];
}

static double share(const struct sim_slowest *one)
{
    return one->bound_ns > 0 ? (double)one->took_ns / (double)one->bound_ns : 0;
}

/* Of two that are as slow the first one, so that it is no matter who played them. */
static void slower(struct sim_slowest *slowest, const struct sim_slowest *one)
{
    double a = share(slowest), b = share(one);
    if (a < b || (a <= b && one->bound_ns > 0 && one->seed < slowest->seed))
        *slowest = *one;
}

void sim_tally_served(struct sim_tally *tally, const struct sim_slowest *one)
{
    tally->served_ns += one->took_ns;
    slower(&tally->slowest, one);
}

void sim_tally_add(struct sim_tally *sum, const struct sim_tally *tally)
{
    sum->seeds += tally->seeds;
    sum->broken_seeds += tally->broken_seeds;
    sum->tries += tally->tries;
    sum->acquired += tally->acquired;
    sum->extended += tally->extended;
    sum->released += tally->released;
    sum->lost += tally->lost;
    sum->refused += tally->refused;
    sum->no_quorum += tally->no_quorum;
    sum->other += tally->other;
    sum->crashes += tally->crashes;
    sum->detached += tally->detached;
    sum->attached += tally->attached;
    sum->alone += tally->alone;
    sum->alone_slow += tally->alone_slow;
    sum->alone_apart += tally->alone_apart;
    sum->simulated_ns += tally->simulated_ns;
    sum->held_ns += tally->held_ns;
    sum->served_ns += tally->served_ns;
    sum->hash += tally->hash;
    slower(&sum->slowest, &tally->slowest);
    add(sum->faults, tally->faults, SIM_FAULT_KINDS);
    add(sum->felt, tally->felt, SIM_FAULT_KINDS);
    add(sum->breaks, tally->breaks, SIM_ASSUMPTIONS);
    add(sum->violations, tally->violations, SIM_ORACLES);
    for (unsigned i = 0; i < SIM_ASSUMPTIONS; i++)
        add(sum->costs[i], tally->costs[i], SIM_ORACLES);
}

static double seconds(int64_t ns)
{
    return (double)ns / (double)SIM_S;
}

static double per(uint64_t count, double of)
{
    return of > 0 ? (double)count / of : 0;
}

/* ---- for people ----------------------------------------------------------------------- */

static void show_faults(const struct sim_tally *tally, FILE *to)
{
    uint64_t felt = sum_of(tally->felt, SIM_FAULT_KINDS);
    uint64_t done = sum_of(tally->faults, SIM_FAULT_KINDS);
    fprintf(to, "\nfaults that took effect   %12" PRIu64 "   of %" PRIu64 "\n", felt, done);
    for (unsigned i = 0; i < SIM_FAULT_KINDS; i++) {
        if (!tally->faults[i])
            continue;
        fprintf(to, "  %-32s %10" PRIu64 "   of %" PRIu64 ", %.0f %%\n",
                sim_fault_word((enum sim_fault)i), tally->felt[i], tally->faults[i],
                100 * per(tally->felt[i], (double)tally->faults[i]));
    }
}

static void show_costs(const struct sim_tally *tally, FILE *to)
{
    if (!tally->broken_seeds)
        return;
    fprintf(to, "\nbroken assumptions%20s  what that cost\n", "seeds");
    for (unsigned i = 0; i < SIM_ASSUMPTIONS; i++) {
        if (!tally->breaks[i])
            continue;
        fprintf(to, "  %-25s %10" PRIu64 " ", sim_assumption_name((enum sim_assumption)i),
                tally->breaks[i]);
        for (unsigned k = 0; k < SIM_ORACLES; k++) {
            if (tally->costs[i][k])
                fprintf(to, " %" PRIu64 " %s", tally->costs[i][k],
                        sim_oracle_name((enum sim_oracle)k));
        }
        fprintf(to, "\n");
    }
}

static void show_violations(const struct sim_tally *tally, FILE *to)
{
    fprintf(to, "\nviolations%28" PRIu64 "\n", sum_of(tally->violations, SIM_ORACLES));
    for (unsigned i = 0; i < SIM_ORACLES; i++) {
        if (tally->violations[i])
            fprintf(to, "  %-25s %10" PRIu64 "\n", sim_oracle_name((enum sim_oracle)i),
                    tally->violations[i]);
    }
}

void sim_tally_show(const struct sim_tally *tally, const struct sim_pace *pace, FILE *to)
{
    double s = pace->seconds;
    uint64_t whole = tally->seeds - tally->broken_seeds;
    fprintf(to, "seeds                     %12" PRIu64 "   %.0f a second\n", tally->seeds,
            per(tally->seeds, s));
    fprintf(to,
            "acquisitions              %12" PRIu64
            "   %.0f a second, %.0f a second of a core\n",
            tally->acquired, per(tally->acquired, s), per(tally->acquired, pace->core_seconds));
    fprintf(to,
            "of tries                  %12" PRIu64 "   %" PRIu64 " held, %" PRIu64
            " no quorum, %" PRIu64 " other\n",
            tally->tries, tally->refused, tally->no_quorum, tally->other);
    fprintf(to, "extensions                %12" PRIu64 "\n", tally->extended);
    fprintf(to, "releases confirmed        %12" PRIu64 "\n", tally->released);
    fprintf(to, "losses told               %12" PRIu64 "\n", tally->lost);
    fprintf(to, "handed on as text         %12" PRIu64 "   %" PRIu64 " taken up\n",
            tally->detached, tally->attached);
    fprintf(to,
            "tries when alone          %12" PRIu64 "   %" PRIu64
            " needed a slow master, %" PRIu64 " where clocks are far apart\n",
            tally->alone, tally->alone_slow, tally->alone_apart);
    fprintf(to, "simulated hours           %12.1f   %.0f times as fast as time\n",
            seconds(tally->simulated_ns) / 3600,
            seconds(tally->simulated_ns) / (s > 0 ? s : 1));
    fprintf(to, "lock-hours                %12.2f\n", seconds(tally->held_ns) / 3600);
    fprintf(to,
            "all served after faults   %12.3f s   at most %.0f %% of the bound: %.3f s, seed "
            "%" PRIu64 "\n",
            seconds(tally->served_ns) / (whole > 0 ? (double)whole : 1),
            100 * share(&tally->slowest), seconds(tally->slowest.took_ns), tally->slowest.seed);
    show_faults(tally, to);
    show_costs(tally, to);
    show_violations(tally, to);
    fprintf(to, "\nhash of all histories     %016" PRIx64 "\n", tally->hash);
}

/* ---- for programs --------------------------------------------------------------------- */

static void json_counts(const char *key, const uint64_t *counts, unsigned n,
                        const char *(*name)(unsigned), FILE *to)
{
    fprintf(to, ",\n  \"%s\": {", key);
    for (unsigned i = 0; i < n; i++)
        fprintf(to, "%s\"%s\": %" PRIu64, i ? ", " : "", name(i), counts[i]);
    fprintf(to, "}");
}

static const char *fault_name(unsigned i)
{
    return sim_fault_word((enum sim_fault)i);
}

static const char *oracle_name(unsigned i)
{
    return sim_oracle_name((enum sim_oracle)i);
}

static const char *assumption_name(unsigned i)
{
    return sim_assumption_name((enum sim_assumption)i);
}

void sim_tally_json(const struct sim_tally *tally, const struct sim_pace *pace, uint64_t first,
                    const char *verdict, FILE *to)
{
    fprintf(to,
            "{\n  \"first\": %" PRIu64 ", \"seeds\": %" PRIu64 ", \"seconds\": %.3f, "
            "\"core_seconds\": %.3f, \"jobs\": %u",
            first, tally->seeds, pace->seconds, pace->core_seconds, pace->jobs);
    fprintf(to,
            ",\n  \"acquisitions\": %" PRIu64 ", \"tries\": %" PRIu64
            ", \"extensions\": %" PRIu64 ", \"releases\": %" PRIu64,
            tally->acquired, tally->tries, tally->extended, tally->released);
    fprintf(to, ",\n  \"acquisitions_per_s\": %.0f, \"simulated_s\": %.3f, \"lock_s\": %.3f",
            per(tally->acquired, pace->seconds), seconds(tally->simulated_ns),
            seconds(tally->held_ns));
    fprintf(
        to, ",\n  \"slowest\": {\"seed\": %" PRIu64 ", \"served_s\": %.3f, \"bound_s\": %.3f}",
        tally->slowest.seed, seconds(tally->slowest.took_ns), seconds(tally->slowest.bound_ns));
    json_counts("faults", tally->felt, SIM_FAULT_KINDS, fault_name, to);
    json_counts("faults_done", tally->faults, SIM_FAULT_KINDS, fault_name, to);
    json_counts("broken", tally->breaks, SIM_ASSUMPTIONS, assumption_name, to);
    fprintf(to, ",\n  \"costs\": {");
    for (unsigned i = 0; i < SIM_ASSUMPTIONS; i++)
        fprintf(to, "%s\"%s\": %" PRIu64, i ? ", " : "", assumption_name(i),
                sum_of(tally->costs[i], SIM_ORACLES));
    fprintf(to, "}");
    json_counts("violations", tally->violations, SIM_ORACLES, oracle_name, to);
    fprintf(to, ",\n  \"hash\": \"%016" PRIx64 "\", \"verdict\": \"%s\"\n}\n", tally->hash,
            verdict);
}
