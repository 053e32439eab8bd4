/* run_lists.h - while COMMAND runs, tell of clients of the masters that have another node list:
 * two may have the lock then. A thread of its own looks, once, and sets nothing. */
#ifndef REDLOCK_RUN_LISTS_H
#define REDLOCK_RUN_LISTS_H

#include "redlock/cli.h"

/* A command that is over sooner costs the masters nothing. */
#define RUN_LISTS_AFTER_MS 1000

/* A master with more clients than that is not asked: each run would have it list them all. */
#define RUN_LISTS_CLIENTS_MAX 1000

struct run_lists;

/* NULL: nobody looks. */
struct run_lists *run_lists_begin(const struct cli *cli);

/* At once, whether it has looked or not. */
void run_lists_end(struct run_lists *lists);

#endif
