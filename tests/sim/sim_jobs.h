/* sim_jobs.h - many seeds, played by several processes. */
#ifndef SIM_JOBS_H
#define SIM_JOBS_H

#include "sim_count.h"

enum { SIM_JOBS_MAX = 256, SIM_BAD_MAX = 16 };

struct sim_run {
    uint64_t first, seeds;
    unsigned jobs;
    double limit_s;  /* 0: none */
    bool go_on;      /* after a violation */
    bool shows;      /* how far it is, on a terminal */
};

/* A seed that was not as it should be. */
struct sim_bad {
    uint64_t seed;
    char text[280];
};

struct sim_result {
    struct sim_tally tally;
    struct sim_pace pace;
    unsigned bad_count; /* all of them; the first are told */
    struct sim_bad bad[SIM_BAD_MAX];
};

/* 0, or -1 with errno: it could not be begun. */
int sim_jobs_run(const struct sim_run *run, struct sim_result *ret_result);

#endif
