/* sim_count.h - what came of many worlds: sums that can be added up. */
#ifndef SIM_COUNT_H
#define SIM_COUNT_H

#include "sim_fault.h"

#include <stdio.h>

/* Of the worlds in which all assumptions held: the one that needed most of its bound. */
struct sim_slowest {
    uint64_t seed;
    int64_t took_ns, bound_ns;
};

struct sim_tally {
    uint64_t seeds, broken_seeds; /* of these, with an assumption broken */
    uint64_t tries, acquired, extended, released, lost, refused, no_quorum, other;
    uint64_t crashes, detached, attached;
    /* Tries (sim_idle.c); those that needed a master too slow; those where clocks
     * were too far apart. */
    uint64_t alone, alone_slow, alone_apart;
    int64_t simulated_ns, held_ns;
    uint64_t faults[SIM_FAULT_KINDS], felt[SIM_FAULT_KINDS]; /* done; that took effect */
    uint64_t breaks[SIM_ASSUMPTIONS];                        /* seeds that broke it */
    uint64_t costs[SIM_ASSUMPTIONS][SIM_ORACLES];            /* and what that cost */
    uint64_t violations[SIM_ORACLES];
    int64_t served_ns; /* after the faults' end, in worlds in which all assumptions held */
    struct sim_slowest slowest;
    uint64_t hash; /* of all histories, in any order */
};

/* How long it took, how much of that the jobs had a core, and how many they were. */
struct sim_pace {
    double seconds, core_seconds;
    unsigned jobs;
};

void sim_tally_served(struct sim_tally *tally, const struct sim_slowest *one);
void sim_tally_add(struct sim_tally *sum, const struct sim_tally *tally);
void sim_tally_show(const struct sim_tally *tally, const struct sim_pace *pace, FILE *to);
void sim_tally_json(const struct sim_tally *tally, const struct sim_pace *pace, uint64_t first,
                    const char *verdict, FILE *to);

#endif
