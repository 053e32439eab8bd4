/* sightings.h - finds out whether several servers answer at one address. Core: pure.
 *
 * Each server process has a run_id of its own, and answers no more when it has ended. So an
 * address may show one run_id after the other, as its server is restarted. But a process that
 * answers again, after another one had answered, has lived all the time: there are two servers.
 * A proxy or a name leads to either server, and each may grant what the other has granted.
 */
#ifndef RL_SIGHTINGS_H
#define RL_SIGHTINGS_H

#include <stdbool.h>
#include <stdint.h>

#define RL_RUN_ID_SIZE 48
#define RL_SIGHTINGS_FORMER 6

struct rl_sightings {
    char last[RL_RUN_ID_SIZE]; /* who answered last; empty: nobody yet */
    int64_t last_ns;           /* when that answer came */
    char former[RL_SIGHTINGS_FORMER][RL_RUN_ID_SIZE]; /* those before, a ring */
    unsigned next;
    int64_t two_ns; /* when two were last found; 0: never */
};

/* A process has answered, on any connection to the address, a request that was sent then. True:
 * it is now found that two servers answer there. An empty run_id tells nothing. */
bool rl_sightings_learn(struct rl_sightings *sightings, const char *run_id, int64_t sent_ns,
                        int64_t now_ns);

/* Were two found less than `window_ns` ago? By then all that either had granted is over. */
bool rl_sightings_two(const struct rl_sightings *sightings, int64_t window_ns, int64_t now_ns);

#endif
