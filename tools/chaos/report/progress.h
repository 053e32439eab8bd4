/* progress.h - the display while redlock-chaos runs. On a terminal one line is redrawn;
 * elsewhere a plain line is printed every few seconds. */
#ifndef CHAOS_PROGRESS_H
#define CHAOS_PROGRESS_H

#include "chaos/chaos.h"

/* The state of the run. The caller owns all of it. */
struct chaos_progress {
    int64_t now_ns; /* since the run's beginning */
    uint64_t holds;
    uint64_t violations; /* while assumptions held, as far as is known */
    unsigned nodes;
    enum chaos_node_state node[REDLOCK_NODES_MAX];
    size_t fault_count;
    const struct chaos_fault *faults; /* all: those in force are begun and not undone */
};

struct chaos_progress_display {
    FILE *to;
    int64_t duration_ns;
    bool terminal, colour;
    unsigned every_ms; /* a new line no sooner than that after the last one */
    int64_t drawn_ns;  /* when the last one was; -1: none yet */
    int64_t rate_ns;   /* the last second's rate: its start, first count, and value */
    uint64_t rate_holds;
    double holds_per_s;
    bool line_open; /* the cursor stands behind what we have drawn */
};

/* `to` is where it goes, normally stderr; asks the environment for NO_COLOR and TERM. */
void chaos_progress_begin(struct chaos_progress_display *ret_display, FILE *to,
                          int64_t duration_ns);

/* To be called a few times a second; draws when it is time. */
void chaos_progress_draw(struct chaos_progress_display *display,
                         const struct chaos_progress *progress);

/* The last state stays, and the cursor stands on a new line. */
void chaos_progress_end(struct chaos_progress_display *display);

#endif
