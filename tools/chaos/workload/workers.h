/* workers.h - the contenders' processes: begun, watched, stopped, killed and replaced. */
#ifndef CHAOS_WORKERS_H
#define CHAOS_WORKERS_H

#include "chaos/workload/worker.h"

struct chaos_workers {
    const struct chaos_options *options;
    struct chaos_record *record;
    struct chaos_proxies *proxies;
    int (*body)(struct chaos_contender *contender);
    pid_t pid[CHAOS_CLIENTS_MAX]; /* 0: nobody is there */
    bool stopped[CHAOS_CLIENTS_MAX];
    bool vacant[CHAOS_CLIENTS_MAX]; /* killed on purpose, to be replaced later */
    size_t kill_count;
    struct chaos_kill *kills; /* the caller frees it at last */
};

/* Begin them all. False: `why`, and none is left. */
bool chaos_workers_start(struct chaos_workers *workers, const struct chaos_options *options,
                         struct chaos_record *record, struct chaos_proxies *proxies, char *why,
                         size_t why_size);

/* Are all contenders there that should be? False: `why` says how one ended. */
bool chaos_workers_fine(struct chaos_workers *workers, char *why, size_t why_size);

/* A contender that holds a lock for longer than `more_ms`, and is neither stopped nor in `not`
 * (a bit each); -1: none. */
int chaos_workers_holder(const struct chaos_workers *workers, uint64_t not, int64_t more_ms);

/* Each waits until the kernel confirms it. */
bool chaos_workers_stop(struct chaos_workers *workers, unsigned client);
bool chaos_workers_resume(struct chaos_workers *workers, unsigned client);
bool chaos_workers_kill(struct chaos_workers *workers, unsigned client);
bool chaos_workers_replace(struct chaos_workers *workers, unsigned client);

/* Have them let go and end, and kill those that do not. Returns how many were killed.
 * `meanwhile`, if not NULL, is called repeatedly until all have ended. */
unsigned chaos_workers_end(struct chaos_workers *workers, void (*meanwhile)(void *context),
                           void *context);

#endif
