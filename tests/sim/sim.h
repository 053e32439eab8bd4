/* sim.h - what every part of the simulator stands on: true time, the one source of choices,
 * and the story that is told of what happens.
 *
 * The simulator is one thread of one process. It runs whole programs that use the library,
 * as shipped, in a world of its own: system calls, threads, clocks and random bytes of the
 * library are bound to the functions below tests/sim at link time, and masters are models
 * that speak the protocol. Nothing in it reads a real clock, and every choice is drawn here,
 * so that one seed is one history.
 *
 *   sim.h         time, choices, story (this file)
 *   sim_proc.h    simulated processes: threads, clocks, pauses, crashes, allocations
 *   sim_net.h     descriptors, connections, and what a network does to them
 *   sim_master.h  model masters
 *   sim_world.h   a seed's world: who does what, what goes wrong, what must stay true
 */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_US 1000LL
#define SIM_MS 1000000LL
#define SIM_S 1000000000LL
#define SIM_NEVER INT64_MAX

/* ---- true time ------------------------------------------------------------------------ */

/* Something that is to happen. Part of what it happens to; `place` is the clock's. */
struct sim_event {
    int64_t at_ns;
    uint64_t tie; /* drawn: the order of what is due at the same time */
    size_t place; /* 0: not scheduled */
    void (*fire)(struct sim_event *event);
};

extern int64_t sim_present_ns; /* sim_time.c's own */

static inline int64_t sim_now_ns(void) /* since the world began */
{
    return sim_present_ns;
}

/* It happens then, or now where that is past. One that is scheduled is moved. */
void sim_at(struct sim_event *event, int64_t at_ns);
void sim_not(struct sim_event *event); /* not any more; twice is allowed */

/* Let things happen, up to and including that time; the clock stands there afterwards. Only
 * from outside of fibers. False: stopped early by sim_stop(). */
bool sim_run_until(int64_t at_ns);
/* The same for as long as `more` says so and anything is scheduled. */
bool sim_run_while(bool (*more)(void *context), void *context, int64_t limit_ns);
void sim_stop(void); /* a verdict was reached: the run ends after the present event */

/* ---- choices -------------------------------------------------------------------------- */

/* How the choices of a world are made: drawn from a seed, or counted through (an odometer
 * whose digits are the choices, for worlds small enough to see all of). */
void sim_begin(uint64_t seed); /* a new world at time 0, nothing scheduled */
void sim_end(void);            /* the memory of it is freed; asserts that nothing is scheduled */

uint64_t sim_below(uint64_t n);                    /* 0 .. n-1 */
int64_t sim_between(int64_t low, int64_t high);    /* low .. high, both included */
bool sim_drawn(unsigned per_million);              /* sim_chance() where there is one */

static inline bool sim_chance(unsigned per_million)
{
    return per_million > 0 && sim_drawn(per_million);
}

/* Mostly small, sometimes large: low .. high by orders of magnitude. low > 0. */
int64_t sim_scale(int64_t low, int64_t high);

/* Counting through. Between first and next, sim_pick() gives the odometer's digits and the
 * draws above give their lowest value, so that only picks are counted. */
void sim_odometer_first(void);
bool sim_odometer_next(void); /* false: all were seen */
uint64_t sim_pick(uint64_t n); /* 0 .. n-1; without an odometer: sim_below() */

/* ---- the story ------------------------------------------------------------------------ */

/* Whatever happens is marked: the marks, in order, make the hash of the history. Cheap. */
void sim_mark(unsigned what, uint64_t a, uint64_t b);
void sim_mark_bytes(unsigned what, const void *bytes, size_t len);
uint64_t sim_hash(void);

/* A line of the story, with the time in front. Does nothing unless told to tell; ask
 * sim_tells() before making what is costly. */
bool sim_tells(void);
void sim_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Where lines go: NULL for nowhere. The line has no newline. */
void sim_tell_to(void (*take)(void *context, const char *line), void *context);

#endif
