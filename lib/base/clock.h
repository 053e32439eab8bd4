/* clock.h - the one place that reads a clock: CLOCK_BOOTTIME, which counts the time the machine
 * is suspended, as the masters' clocks do.
 *
 * The kernel's clock does not go back by itself. The clock may go back if a virtual machine is
 * moved, a process is restored from a checkpoint, or a hypervisor is at fault. So a client has a
 * clock of its own, whose time goes on from the latest value returned. Waits and deadlines of
 * calls therefore still end. The time that has passed meanwhile is unknown, so no earlier
 * measurement may be trusted: a step back begins a new epoch.
 *
 * The kernel's clock may also stand still, as in a virtual machine that is stopped, until
 * somebody sets the wall clock there. A client that watches the wall clock begins a new epoch
 * when the wall clock has gone on further than the kernel's clock. The client's time goes on by
 * the kernel's clock all the same: no wall clock makes a wait or a guard shorter.
 */
#ifndef RL_CLOCK_H
#define RL_CLOCK_H

#include "base/times.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* The kernel's clock as it is. */
int64_t rl_clock_now_ns(void);
/* A sandbox may refuse it: false, with errno. To be asked before the clock is read. */
bool rl_clock_is_there(void);

/* How much longer it has gone on than a clock that stands still while the machine is suspended:
 * since it was started. */
int64_t rl_clock_suspended_ns(void);

/* A client's clock; all zero at first. Any thread may read it at any time. */
struct rl_clock {
    _Atomic int64_t seen_ns;  /* the latest value returned */
    _Atomic int64_t added_ns; /* added to the kernel's time: all steps back, and 1 ns for each
                                 time that the wall clock went on further; only grows */
    bool watches_wall;
    _Atomic int64_t lead_ns; /* the wall clock is ahead of the kernel's by that at most */
};

/* From now on the wall clock is read, too. Before the clock is read first. */
void rl_clock_watch_wall(struct rl_clock *clock);

/* Its time, which never goes back. */
int64_t rl_clock_steady_ns(struct rl_clock *clock);

/* Its epoch: the value it adds to the kernel's time. The difference of two times is right if
 * the epoch, read before the first and after the second, is the same. */
static inline int64_t rl_clock_epoch(const struct rl_clock *clock)
{
    return atomic_load(&((struct rl_clock *)(uintptr_t)clock)->added_ns);
}

/* Convert a time of this clock into the kernel's time in that epoch, which other processes
 * understand; and back. */
static inline int64_t rl_clock_kernel_ns(int64_t own_ns, int64_t epoch)
{
    return own_ns - epoch;
}
static inline int64_t rl_clock_own_ns(int64_t kernel_ns, int64_t epoch)
{
    return kernel_ns + epoch;
}

/* Wall-clock time in us, for what a later start of this or another host must know to be later:
 * the proposals of fencing tokens. No validity may rest on it; it may only end one. */
uint64_t rl_clock_wall_us(void);

/* This boot's id as 36 bytes of text. 0 or -1. */
int rl_clock_boot_id(char ret_id[37]);

/* The time that `clock` shows `ns` from now, for calls with a time limit. */
struct timespec rl_clock_limit(clockid_t clock, int64_t ns);

/* The offset in ns of this process's time namespace: it tells its clock from others of this
 * boot. 0 or -1. */
int rl_clock_offset(int64_t *ret_offset);

#endif
