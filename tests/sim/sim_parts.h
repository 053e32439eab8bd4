/* sim_parts.h - between the files of time, choices and story, and those of processes. */
#ifndef SIM_PARTS_H
#define SIM_PARTS_H

#include "sim.h"

/* What the simulator's base marks. Other parts count on from 100. */
enum {
    SIM_MARK_RUNS = 1, /* a thread goes on: process, thread */
    SIM_MARK_ENDS,     /* a thread ended */
    SIM_MARK_PAUSE,    /* process, for how long */
    SIM_MARK_SUSPEND,
    SIM_MARK_FREEZE,
    SIM_MARK_CRASH,
    SIM_MARK_NO_MEMORY, /* process, size */
    SIM_MARK_LOOKUP,    /* process, how it ended */
    SIM_MARK_SET_CLOCK  /* process, by how much */
};

/* sim_begin() and sim_end() are sim_choice.c's; these are their parts. */
void sim_time_begin(void);
void sim_time_end(void);
void sim_story_begin(void);

uint64_t sim_tie(void); /* for events of one time: drawn, or in turn under an odometer */

/* Tokens and names must differ even where all choices are counted through: they come from a
 * stream of their own. */
void sim_random_bytes(void *ret_bytes, size_t size);

/* The simulator itself can't go on. */
_Noreturn void sim_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
