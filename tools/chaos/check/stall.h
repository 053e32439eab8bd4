/* stall.h - times in which a process of the run did not run. It was stopped from outside, it
 * got no processor, or the whole machine stood still. Each contender and the proxies have a
 * heartbeat. This thread sleeps for a moment again and again, and measures how late it wakes
 * up. A late action during a stall proves nothing about a lock.
 *
 * A stall caused by a fault of the run is no stall of the machine: a holder that was stopped, a
 * master that was killed. */
#ifndef CHAOS_STALL_H
#define CHAOS_STALL_H

#include "chaos/chaos.h"

#include <stdatomic.h>

enum { CHAOS_STALLS_MAX = 16384 }; /* in a log; later ones are left out */

/* One writer at a time, read when that has ended. In shared memory, zeroed. */
struct chaos_stall_log {
    _Atomic size_t count;
    struct chaos_stall stall[CHAOS_STALLS_MAX];
};

/* ---- while it runs: heart.c ---------------------------------------------------------
 */

/* Log a stall, by CLOCK_BOOTTIME itself. A stall too short to matter is not kept. */
void chaos_stall_put(struct chaos_stall_log *log, enum chaos_stalled what, unsigned number,
                     int64_t from_ns, int64_t to_ns);

/* Begin a heartbeat in this process. False: errno, there is none. */
bool chaos_heartbeat(struct chaos_stall_log *log, enum chaos_stalled what, unsigned number);

/* Append a log's stalls, with times that count from the run's beginning, `begun_ns`. */
size_t chaos_stalls_of(const struct chaos_stall_log *log, int64_t begun_ns,
                       struct chaos_stall *ret_stalls);

/* ---- when all have ended: stall.c, pure
 * -------------------------------------------------------- */

/* Sort by time, and drop stalls that faults explain. Returns the number left. */
size_t chaos_stalls_sift(const struct chaos_history *history, struct chaos_stall *stalls,
                         size_t count);

/* How long, in [from_ns, to_ns], at least one of these did not run: the given contenders, the
 * given masters, and the proxies. Time that several lost at once counts once. */
int64_t chaos_stalled_ns(const struct chaos_history *history, uint64_t clients, uint64_t nodes,
                         int64_t from_ns, int64_t to_ns);

#endif
