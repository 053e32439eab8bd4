/* clock_watch.h - does a master's clock keep time with ours? Judged by the time that its INFO
 * tells. Core: pure.
 *
 * A key ends by its master's clock. If the master's clock is set forward, or runs too fast,
 * the key ends before the lock does.
 *
 * A reply tells the master's time at some moment between the request and the reply. So a reply
 * gives an interval for how far that clock is ahead of ours. The clocks may run apart by
 * drift-factor, so the kept interval is widened by the drift of the time since. The watch keeps
 * what both intervals have in common, and so finds even a clock that runs only little too fast.
 * If the intervals have nothing in common, the clock was set, or runs beyond the drift.
 *
 *    ahead by   |--- kept, widened ---|
 *                       |---- told ----|             FINE: the common part is kept
 *                                         |- told -| STEPPED_FORWARD, and soon again: FAST
 *
 * The watch finds what has happened, and prevents nothing. A step that is smaller than what the
 * clocks may have run apart meanwhile is not seen.
 */
#ifndef RL_CLOCK_WATCH_H
#define RL_CLOCK_WATCH_H

#include <stdbool.h>
#include <stdint.h>

enum rl_clock_says {
    RL_CLOCK_FINE, /* or nothing can be compared */
    RL_CLOCK_STEPPED_FORWARD,
    RL_CLOCK_STEPPED_BACK,
    RL_CLOCK_FAST, /* forward again within the window */
    RL_CLOCK_SLOW  /* back again, so it may stand still */
};

struct rl_clock_reading {
    const char *run_id;        /* of the server that told it; empty: not told */
    int64_t told_us;           /* its time; below 1: not told */
    int64_t sent_ns, came_ns;  /* by our clock: the request, the reply */
    int64_t sent_epoch, epoch; /* of our clock (base/clock.h), then and now */
};

/* The clock showed `told_us` at some time between these of ours. */
struct rl_clock_look {
    int64_t told_us;
    int64_t sent_ns, came_ns;
};

/* All zero at first. */
struct rl_clock_watch {
    char run_id[48]; /* empty: nothing is kept */
    int64_t epoch;
    int64_t since_ns;          /* the interval is of that time, or of a later one */
    int64_t least_ns, most_ns; /* the master's time less ours */
    int64_t ahead_ns;          /* what steps forward have added to this server's times */
    enum rl_clock_says last;   /* the last one that was not FINE */
    int64_t last_ns;           /* when that was found */
    int64_t last_by_ns;        /* by how much it was set at least, beyond the drift */
    struct rl_clock_look base, latest; /* by these its rate is measured */
};

/* What was measured: a middle, and by how much it may be wrong; 0: it is not known. */
struct rl_clock_figures {
    int64_t offset_us, offset_bound_us; /* its time of day less ours */
    int64_t rate_ppm, rate_bound_ppm;   /* how many us it gains on ours in a second */
};

/* This machine's time of day, read between two times of our clock. */
struct rl_clock_wall {
    int64_t before_ns, after_ns;
    int64_t wall_us;
};

/* Compare a reading with what is kept of the same server. A client whose own clock went back
 * begins anew, and so does another server. `window_ns` as in trust.h. */
enum rl_clock_says rl_clock_watch_learn(struct rl_clock_watch *watch,
                                        const struct rl_clock_reading *reading,
                                        double drift_factor, int64_t window_ns);

/* May keys have ended before their time? A clock that was set back makes them last longer. */
bool rl_clock_says_early(enum rl_clock_says says);

/* How fast a clock ran from one look to another, its seconds in one of ours: certainly within
 * these bounds. False: the looks are too close. */
bool rl_clock_rate(const struct rl_clock_look *first, const struct rl_clock_look *last,
                   double *ret_least, double *ret_most);

/* How the clock stands to ours now, if its rate is still within the drift. */
void rl_clock_watch_figures(const struct rl_clock_watch *watch, double drift_factor,
                            const struct rl_clock_wall *now,
                            struct rl_clock_figures *ret_figures);

/* What was found within the last `window_ns`. */
enum rl_clock_says rl_clock_watch_shown(const struct rl_clock_watch *watch, int64_t window_ns,
                                        int64_t now_ns);

#endif
