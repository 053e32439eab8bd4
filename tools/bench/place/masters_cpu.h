/* masters_cpu.h - the processor time of the private masters, by the kernel's count. Asking a
 * master itself would be a command more for it to run. */
#ifndef BENCH_MASTERS_CPU_H
#define BENCH_MASTERS_CPU_H

#include "bench/bench.h"

/* The masters to count, one set a process. Without this call nothing is known. */
void bench_masters_cpu_watch(const struct servers *masters);

/* Of all of them so far, kernel included; BENCH_NOT_KNOWN where one can't be read. */
double bench_masters_cpu_us(void);

/* Figures "PREFIXmasters' CPU a pair" of each driver, and the ratio of the first to the last,
 * which is the bare SET floor. Nothing where a round has not measured it. */
void bench_add_masters_cpu(struct bench_report *report, const char *scenario,
                           const char *prefix, const char *const *of,
                           struct bench_series *series, unsigned drivers, unsigned rounds);

#endif
