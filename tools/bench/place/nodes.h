/* nodes.h - the masters of a node list file, as the floors reach them. */
#ifndef BENCH_NODES_H
#define BENCH_NODES_H

#include "bench/bench.h"

/* Read the file that the options name into `bench`. One file a process. The nodes in `bench`
 * are good until bench_nodes_forget(). 0, or an exit status after a line on stderr. */
int bench_nodes_read(struct bench *bench);
void bench_nodes_forget(void);

#endif
