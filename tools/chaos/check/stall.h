/* stall.h - times in which a process of the run did not run: stopped from outside,
 * starved of the processor, or on a machine that stood still. Each contender and the proxies
 * have a heartbeat, a thread that sleeps for a moment again and again and measures how much
 * later than that it woke up. What is late then proves nothing about a lock.
 *
 * A stall that a fault of the run explains is no stall of the machine: a holder that was
 * stopped, a master that was killed. */
#ifndef CHAOS_STALL_H
#define CHAOS_STALL_H

#include "chaos/chaos.h"

#include <stdatomic.h>

enum { CHAOS_STALLS_MAX = 16384 }; /* in a log; what comes later is left out */

/* One writer at a time, read when that has ended. In shared memory, zeroed. */
struct chaos_stall_log {
    _Atomic size_t count;
    struct chaos_stall stall[CHAOS_STALLS_MAX];
};

/* ---- while it runs: heart.c ---------------------------------------------------------
 */

/* Log a stall, by CLOCK_BOOTTIME itself. One that is too short to matter is not kept. */
void chaos_stall_put(struct chaos_stall_log *log, enum chaos_stalled what, unsigned number,
                     int64_t from_ns, int64_t to_ns);

/* Begin a heartbeat in this process. False: errno, there is none. */
bool chaos_heartbeat(struct chaos_stall_log *log, enum chaos_stalled what, unsigned number);

/* Append what a log has, in the time of a run that began at `begun_ns`. */
size_t chaos_stalls_of(const struct chaos_stall_log *log, int64_t begun_ns,
                       struct chaos_stall *ret_stalls);

/* ---- when all have ended: stall.c, pure
 * -------------------------------------------------------- */

/* Sorts by time, and drops what faults explain. The number that is left. */
size_t chaos_stalls_sift(const struct chaos_history *history, struct chaos_stall *stalls,
                         size_t count);

/* How long, in [from_ns, to_ns], any of these did not run: the contenders of that set, the
 * masters of that one, and the proxies. What several lost at once counts once. */
int64_t chaos_stalled_ns(const struct chaos_history *history, uint64_t clients, uint64_t nodes,
                         int64_t from_ns, int64_t to_ns);

#endif
