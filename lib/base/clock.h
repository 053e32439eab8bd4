/* clock.h - the one place that reads a clock: CLOCK_BOOTTIME, which counts the time the
 * machine is suspended, as the masters' clocks do.
 *
 * The kernel's clock does not go back by itself. It may where a virtual machine is moved, a
 * process is restored from a checkpoint, or a hypervisor is at fault. A client has a clock of
 * its own for that: its time goes on from the latest that it has told, so that waits and
 * deadlines of calls still end. How much time has passed meanwhile nobody can tell, so nothing
 * that was measured before may be trusted: a step back begins a new epoch.
 */
#ifndef RL_CLOCK_H
#define RL_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>

/* The kernel's clock as it is. */
int64_t rl_clock_now_ns(void);

/* A client's clock; all zero at first. Any thread may read it at any time. */
struct rl_clock {
    _Atomic int64_t seen_ns;  /* the latest that it has told */
    _Atomic int64_t added_ns; /* to the kernel's time, by all steps back so far; only grows */
};

/* Its time, which never goes back. */
int64_t rl_clock_steady_ns(struct rl_clock *clock);

/* Its epoch: what it adds to the kernel's time. Two times lie so far apart as their difference
 * says if this is the same when read before the first and after the second. */
static inline int64_t rl_clock_epoch(const struct rl_clock *clock)
{
    return atomic_load(&((struct rl_clock *)(uintptr_t)clock)->added_ns);
}

/* One of its times as the kernel's clock had it in that epoch, which other processes can
 * understand; and back. */
static inline int64_t rl_clock_kernel_ns(int64_t own_ns, int64_t epoch)
{
    return own_ns - epoch;
}
static inline int64_t rl_clock_own_ns(int64_t kernel_ns, int64_t epoch)
{
    return kernel_ns + epoch;
}

/* The earlier of two of its times; INT64_MAX is never. */
static inline int64_t rl_earlier_ns(int64_t a_ns, int64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

/* This boot's id as 36 bytes of text. 0 or -1. */
int rl_clock_boot_id(char ret_id[37]);

/* What tells this process's clock from others of this boot: by how much its time namespace has
 * set it off, in ns. 0 or -1. */
int rl_clock_offset(int64_t *ret_offset);

#endif
