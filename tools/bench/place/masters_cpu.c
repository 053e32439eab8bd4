/* masters_cpu.c - see masters_cpu.h. */
#include "config_auto.h"

#include "bench/place/masters_cpu.h"

#include <assert.h>
#include <time.h>

#define ASKED 1.5 /* at most so much of a bare SET's */

static const struct servers *watched;

void bench_masters_cpu_watch(const struct servers *masters)
{
    watched = masters;
}

double bench_masters_cpu_us(void)
{
    double sum = 0;
    for (unsigned i = 0; watched != NULL && i < watched->count; i++) {
        clockid_t clock;
        struct timespec used;
        pid_t pid = watched->master[i].pid;
        /* Process 0 would be ourselves. */
        if (pid <= 0 || clock_getcpuclockid(pid, &clock) != 0 ||
            clock_gettime(clock, &used) != 0)
            return BENCH_NOT_KNOWN;
        sum += (double)used.tv_sec * 1e6 + (double)used.tv_nsec / 1e3;
    }
    return watched != NULL ? sum : BENCH_NOT_KNOWN;
}

static bool all_known(const struct bench_series *series, unsigned drivers, unsigned rounds)
{
    for (unsigned i = 0; i < drivers; i++)
        for (unsigned round = 0; round < rounds; round++)
            if (series[i].masters_us[round] < 0)
                return false;
    return true;
}

void bench_add_masters_cpu(struct bench_report *report, const char *scenario,
                           const char *prefix, const char *const *of,
                           struct bench_series *series, unsigned drivers, unsigned rounds)
{
    char what[56];
    assert(drivers > 0);
    if (!all_known(series, drivers, rounds))
        return;
    unsigned bare = drivers - 1;
    if (bare > 0) {
        snprintf(what, sizeof(what), "%smasters' CPU a pair, library to", prefix);
        bench_add_ratio(report, scenario, what, of[bare], series[0].masters_us,
                        series[bare].masters_us, rounds);
        bench_aim(report, BENCH_AT_MOST, ASKED);
    }
    snprintf(what, sizeof(what), "%smasters' CPU a pair", prefix);
    for (unsigned i = 0; i < drivers; i++)
        bench_add(report, scenario, what, of[i], "us",
                  bench_summarise(series[i].masters_us, rounds));
}
