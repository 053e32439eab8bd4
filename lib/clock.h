/* clock.h - the one place that reads a clock: CLOCK_BOOTTIME, which counts the time the
 * machine is suspended, as the masters' clocks do. */
#ifndef RL_CLOCK_H
#define RL_CLOCK_H

#include <stdint.h>

int64_t rl_clock_now_ns(void);

/* This boot's id as 36 bytes of text. 0 or -1. */
int rl_clock_boot_id(char ret_id[37]);

#endif
