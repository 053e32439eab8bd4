/* clock.h - the one place that reads a clock: CLOCK_BOOTTIME, which counts the time the
 * machine is suspended, as the masters' clocks do. */
#ifndef RL_CLOCK_H
#define RL_CLOCK_H

#include <stdint.h>

int64_t rl_clock_now_ns(void);

/* The earlier of two of its times; INT64_MAX is never. */
static inline int64_t rl_earlier_ns(int64_t a_ns, int64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

/* This boot's id as 36 bytes of text. 0 or -1. */
int rl_clock_boot_id(char ret_id[37]);

#endif
