/* sim_alloc.h - the memory of simulated processes: what else than malloc() may fail for want of
 * it. */
#ifndef SIM_ALLOC_H
#define SIM_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* To be asked once for what takes memory of the process that runs: it is not to be had. */
bool sim_alloc_fails(void);

#endif
