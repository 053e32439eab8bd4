/* run.h - a run: the state that its parts share. */
#ifndef CHAOS_RUN_H
#define CHAOS_RUN_H

#include "chaos/workload/workers.h"
#include "chaos/report/progress.h"
#include "chaos/place/place.h"
#include "chaos/place/proxy.h"

struct chaos_run {
    const struct chaos_options *options;
    struct chaos_place place;
    struct chaos_record *record;
    struct chaos_proxies *proxies;
    struct chaos_keys *keys;
    struct chaos_workers workers;
    struct chaos_progress_display display;
    size_t fault_count;
    struct chaos_fault *faults; /* CHAOS_FAULTS_MAX */
    unsigned nodes;
    int64_t begun_unix_s;
    uint64_t violations; /* two were seen with one lock: as far as is known meanwhile */
    bool ending;         /* faults are being undone: waiters may finish */
    struct chaos_load load;
    char error[256]; /* why it ends before its time, or "" */
    char server_version[24];
};

/* The run that chaos_pause_ms() serves. NULL: none any more. */
void chaos_run_set(struct chaos_run *run);

/* Signals that end a program end the run in an orderly way. Returns how many have come; the
 * first one. */
void chaos_run_watch_signals(void);
unsigned chaos_run_signals(int *ret_first);

/* Its time is over, a signal has come, or something has failed: no fault begins any more. */
bool chaos_run_is_over(const struct chaos_run *run);

/* The run has failed, with that sentence; the first one counts. */
void chaos_run_fail(struct chaos_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
