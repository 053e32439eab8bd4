/* sim_small.h - worlds so small that all of them can be played. */
#ifndef SIM_SMALL_H
#define SIM_SMALL_H

#include <stdbool.h>
#include <stdint.h>

struct sim_small_options {
    bool big;      /* of a larger kind */
    uint64_t only; /* this one alone, with its story; 0: all */
};

/* What may befall messages (sim_small.c), and a process that is stopped at any of its system
 * calls (sim_small_stops.c). 0: nothing was violated in any. */
int sim_small_run(const struct sim_small_options *options);
int sim_stops_run(const struct sim_small_options *options);

/* One master that answers one thing wrong (sim_small_replies.c). `only`: as above. `worlds`: so
 * many of all, which are spread over everything; 0: all. */
int sim_replies_run(uint64_t only, uint64_t worlds);

#endif
