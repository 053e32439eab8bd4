/* crew.h - the contenders' processes: begun, watched, stopped, killed and replaced. */
#ifndef CHAOS_CREW_H
#define CHAOS_CREW_H

#include "chaos/workload/worker.h"

struct chaos_crew {
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
bool chaos_crew_start(struct chaos_crew *crew, const struct chaos_options *options,
                      struct chaos_record *record, struct chaos_proxies *proxies, char *why,
                      size_t why_size);

/* Are all contenders there that should be? False: `why` says how one ended. */
bool chaos_crew_fine(struct chaos_crew *crew, char *why, size_t why_size);

/* A contender that holds a lock for longer than `more_ms`, and is neither stopped nor in `not`
 * (a bit each); -1: none. */
int chaos_crew_holder(const struct chaos_crew *crew, uint64_t not, int64_t more_ms);

/* Each waits until the kernel confirms it. */
bool chaos_crew_stop(struct chaos_crew *crew, unsigned client);
bool chaos_crew_resume(struct chaos_crew *crew, unsigned client);
bool chaos_crew_kill(struct chaos_crew *crew, unsigned client);
bool chaos_crew_replace(struct chaos_crew *crew, unsigned client);

/* Have them let go and end, and kill those that do not. Returns how many were killed.
 * `meanwhile`, if not NULL, is called repeatedly until all have ended. */
unsigned chaos_crew_end(struct chaos_crew *crew, void (*meanwhile)(void *context),
                        void *context);

#endif
