/* handoff.c - processes that take turns with one lock. Measures the time from just before a
 * release to the return of the next one's try. The floor is two processes that are woken on raw
 * sockets. */
#include "config_auto.h"

#include "bench/report/draw.h"
#include "bench/contenders/group.h"

#include <string.h>
#include <sysexits.h>

#define HOLD_US 5000
#define HOLD_LONG_US 400000 /* the figures then show the waiting */
#define ROUNDS_MAX 3
#define DRIVERS 3
#define SAMPLES_MAX BENCH_HANDOFFS_MAX

enum { LIBRARY, QUEUED, BARE };
enum fault { NONE, KILLED, STOPPED };

static const char scenario[] = "hand-off: from a release to the next holder, held for 5 ms";
static const char *const of[DRIVERS] = {"library", "floor, with a queue", "floor, bare SET"};

/* One way to contend. */
struct way {
    const char *name;
    unsigned workers;
    enum fault fault;
    bool races; /* nobody is made to wait for its turn */
    int64_t hold_us;
};

static const struct way ways[] = {
    {"2", 2, NONE, false, HOLD_US},
    {"8", 8, NONE, false, HOLD_US},
    {"64", 64, NONE, false, HOLD_US},
    {"8, one killed", 8, KILLED, false, HOLD_US},
    {"8, one stopped", 8, STOPPED, false, HOLD_US},
    {"8, free to race", 8, NONE, true, HOLD_US},
    {"64, held for 400 ms", 64, NONE, true, HOLD_LONG_US},
};

struct handoff_run {
    struct bench *bench;
    const struct way *way;
    struct bench_group *group[DRIVERS];
    struct bench_samples samples[DRIVERS]; /* of a round */
    double p50_us[DRIVERS][ROUNDS_MAX];
    double p99_us[DRIVERS][ROUNDS_MAX];
    double longest_us[DRIVERS][ROUNDS_MAX];
    double cpu_ms[DRIVERS][ROUNDS_MAX]; /* of all processes, a second */
    double commands[ROUNDS_MAX];        /* an acquisition */
    double fairness[ROUNDS_MAX];
    double retaken[ROUNDS_MAX]; /* per cent */
    double failures[DRIVERS];
    double overlaps;
    size_t fewest; /* hand-offs of the library in a round */
};

static bool inject(struct handoff_run *run, bool begin)
{
    struct servers *masters = run->bench->masters;
    unsigned last = run->bench->nodes - 1;
    bool fine = true;
    if (run->way->fault == KILLED)
        fine = begin ? server_kill(masters, last) : server_restart(masters, last);
    else if (run->way->fault == STOPPED)
        fine = begin ? server_stop(masters, last) : server_resume(masters, last);
    if (!fine)
        fprintf(stderr, "redlock-bench: cannot %s master %u\n",
                begin ? "kill or stop" : "bring back", last + 1);
    return fine;
}

static bool run_one(struct handoff_run *run, int which, unsigned round, int64_t slice_ms)
{
    struct bench_group_run did;
    struct bench_samples *samples = &run->samples[which];
    bench_samples_clear(samples);
    if (!bench_group_run(run->group[which], slice_ms, samples, &did))
        return false;
    double acquired = did.acquired > 0 ? (double)did.acquired : 1;
    if (which == LIBRARY && (round == 0 || samples->count < run->fewest))
        run->fewest = samples->count;
    run->p50_us[which][round] = bench_percentile_us(samples, 500);
    run->p99_us[which][round] = bench_percentile_us(samples, 990);
    run->longest_us[which][round] = bench_percentile_us(samples, 1000);
    run->cpu_ms[which][round] = did.cpu_us / 1e3 / did.seconds;
    run->failures[which] += (double)did.failures;
    run->overlaps += (double)did.overlaps;
    if (which == LIBRARY) {
        run->commands[round] = (double)did.commands / acquired;
        run->retaken[round] = (double)did.retaken / acquired * 100;
        run->fairness[round] = bench_jain(did.of_worker, run->way->workers);
    }
    if (run->way->hold_us != HOLD_US)
        return true;
    char title[56];
    snprintf(title, sizeof(title), "hand-off, %s", run->way->name);
    bench_draw_add(&run->bench->report, title, of[which], samples);
    return true;
}

/* Everybody connects, and waits for the first time. */
static bool warm_up(struct handoff_run *run, bool quick)
{
    struct bench_group_run did;
    for (int i = 0; i < DRIVERS; i++) {
        int64_t once_ms = quick          ? 20
                          : i == LIBRARY ? 200 + run->way->workers * HOLD_US / 1000
                                         : 50;
        if (run->group[i] != NULL && !bench_group_run(run->group[i], once_ms, NULL, &did))
            return false;
    }
    return true;
}

static int start_groups(struct handoff_run *run)
{
    struct bench_group_plan plan = {.bench = run->bench,
                                    .name = "redlock-bench:handoff",
                                    .workers = run->way->workers,
                                    .hold_us = run->way->hold_us,
                                    .turns = !run->way->races};
    int status = bench_group_start(&plan, &run->group[LIBRARY]);
    plan.hold_us = HOLD_US;
    plan.workers = 2;
    for (int i = QUEUED; i <= BARE && run->bench->floors && !run->way->races && status == 0;
         i++) {
        plan.name = i == QUEUED ? "redlock-bench:turns" : "redlock-bench:bare";
        plan.contender = i == QUEUED ? BENCH_WAKEUP_QUEUED : BENCH_WAKEUP_BARE;
        status = bench_group_start(&plan, &run->group[i]);
    }
    return status;
}

static void add(struct handoff_run *run, const char *what, int which, const char *unit,
                double *values, unsigned rounds)
{
    char text[56];
    snprintf(text, sizeof(text), "%s: %s", run->way->name, what);
    bench_add(&run->bench->report, scenario, text, of[which], unit,
              bench_summarise(values, rounds));
}

static void report_ratios(struct handoff_run *run, unsigned rounds)
{
    struct bench_report *report = &run->bench->report;
    char text[56];
    for (int i = QUEUED; i <= BARE && run->group[i] != NULL; i++) {
        snprintf(text, sizeof(text), "%s: p50, library to", run->way->name);
        bench_add_ratio(report, scenario, text, of[i], run->p50_us[LIBRARY], run->p50_us[i],
                        rounds);
        bench_aim(report, BENCH_AT_MOST, 1.3);
    }
    snprintf(text, sizeof(text), "%s: p99, to p50", run->way->name);
    bench_add_ratio(report, scenario, text, of[LIBRARY], run->p99_us[LIBRARY],
                    run->p50_us[LIBRARY], rounds);
    bench_of_samples(report, run->fewest);
    bench_aim(report, BENCH_AT_MOST, 10);
}

static void report(struct handoff_run *run, unsigned rounds)
{
    struct bench_report *to = &run->bench->report;
    double failures = run->failures[LIBRARY] + run->failures[QUEUED] + run->failures[BARE];
    bool short_holds = run->way->hold_us == HOLD_US;
    if (short_holds)
        report_ratios(run, rounds);
    for (int i = 0; i < DRIVERS; i++)
        if (run->group[i] != NULL) {
            if (short_holds) {
                add(run, "p50", i, "us", run->p50_us[i], rounds);
                add(run, "p99", i, "us", run->p99_us[i], rounds);
                add(run, "the longest", i, "us", run->longest_us[i], rounds);
            }
            add(run, "CPU of all, a second", i, "ms", run->cpu_ms[i], rounds);
        }
    if (short_holds) {
        add(run, "commands an acquisition", LIBRARY, "count", run->commands, rounds);
        add(run, "Jain's index", LIBRARY, "index", run->fairness, rounds);
    }
    if (run->way->races && short_holds)
        add(run, "taken again by who released", LIBRARY, "%", run->retaken, rounds);
    add(run, "held by two at once", LIBRARY, "times", &run->overlaps, 1);
    bench_aim(to, BENCH_AT_MOST, 0);
    add(run, "failed calls", LIBRARY, "calls", &failures, 1);
    bench_aim(to, BENCH_AT_MOST, 0);
}

static int measure(struct handoff_run *run)
{
    const struct bench_options *options = &run->bench->options;
    unsigned rounds = options->rounds < ROUNDS_MAX ? options->rounds : ROUNDS_MAX;
    int status = start_groups(run);
    if (status != 0)
        return status;
    if (!warm_up(run, options->quick) || !inject(run, true))
        return EX_OSERR;
    bool fine = run->way->fault == NONE || warm_up(run, options->quick);
    for (unsigned round = 0; round < rounds && fine; round++)
        for (int at = 0; at < DRIVERS && fine; at++) {
            int which = (at + (int)round) % DRIVERS;
            int64_t slice_ms = options->slice_ms * (which == LIBRARY ? 5 : 2) / 8;
            if (run->group[which] != NULL)
                fine = run_one(run, which, round, slice_ms);
        }
    fine = inject(run, false) && fine;
    if (fine)
        report(run, rounds);
    return fine ? 0 : EX_OSERR;
}

static int measure_all(struct handoff_run *run)
{
    struct bench *bench = run->bench;
    int status = 0;
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]) && status == 0; i++) {
        bool too_few = bench->nodes < 3 || bench->masters == NULL;
        if ((ways[i].fault != NONE && too_few) || (bench->options.quick && ways[i].workers > 8))
            continue;
        run->way = &ways[i];
        run->overlaps = 0;
        memset(run->failures, 0, sizeof(run->failures));
        status = measure(run);
        for (int g = 0; g < DRIVERS; g++) {
            bench_group_end(run->group[g]);
            run->group[g] = NULL;
        }
    }
    return status;
}

int bench_run_handoff(struct bench *bench)
{
    struct handoff_run run = {.bench = bench};
    return bench_samples_init_all(run.samples, DRIVERS, SAMPLES_MAX) ? measure_all(&run)
                                                                     : EX_OSERR;
}
