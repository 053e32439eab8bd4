/* stall.h - stalls: the machine gives no processor to a thread that wants little of it. What
 * fails beside one has told nothing of the library, and may be played again; what fails without
 * has failed. */
#ifndef TEST_STALL_H
#define TEST_STALL_H

#include <stdbool.h>
#include <stdint.h>

/* Where a thread that wants little had to wait for so long, masters and clients that want more
 * may have waited for far longer. */
enum { STALL_MS = 10 };

/* Plays a condition: its last value. Where it is false, and the machine stalled meanwhile for
 * `least_ms` or longer, it is played again, at most `again` times. */
#define met_unless_stalled(condition, least_ms, again)                                         \
    ({                                                                                         \
        bool stall_met_;                                                                       \
        unsigned stall_left_ = (again);                                                        \
        stall_watch();                                                                         \
        while (!(stall_met_ = (condition)) && stall_left_-- > 0 && stall_excuses(least_ms))    \
            continue;                                                                          \
        stall_met_;                                                                            \
    })

/* A thread measures from here on, until the process ends. */
void stall_watch(void);

/* Did the machine stall for `least_ms` or longer since stall_watch(), or since this was last
 * asked? Or did it withhold as much from this thread in all? Says so. Never where STALL_MS is
 * "0" in the environment, which is for driver.sh too. */
bool stall_excuses(int64_t least_ms);

int64_t stall_now_ns(void); /* monotonic */

/* By how much a nap of `nap_ms` and a bit of work took longer than they need. */
int64_t stall_nap_ns(int nap_ms);

#endif
