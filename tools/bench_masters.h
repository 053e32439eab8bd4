/* bench_masters.h - private masters: started in a directory of their own, ended by their
 * own pids on every way out (the kernel ends them where we were killed ourselves). */
#ifndef BENCH_MASTERS_H
#define BENCH_MASTERS_H

#include "bench_wire.h"

#include <redlock.h>

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define BENCH_FILLERS_MAX 160

struct bench_master {
    volatile pid_t pid; /* 0: not running */
    int port;           /* 0: none, reached by its socket alone */
    bool stopped;
    char socket[104];
    char log[112];
    int filler[BENCH_FILLERS_MAX]; /* connections that fill its backlog; -1: none */
};

struct bench_masters {
    unsigned count;
    bool unix_sockets;
    char dir[80];
    char node_file[96];
    struct bench_master master[REDLOCK_NODES_MAX];
};

/* Start `count` masters and write their node list file. One set a process. NULL: `why`
 * says what went wrong, and nothing is left behind. */
struct bench_masters *bench_masters_start(unsigned count, bool unix_sockets, char *why,
                                          size_t why_size);

/* End them and remove the directory. Called by itself on exit and on the signals that end a
 * program. NULL and twice are allowed. */
void bench_masters_end(struct bench_masters *masters);

/* Where master `index` is reached. */
struct bench_node bench_masters_node(const struct bench_masters *masters, unsigned index);

/* Faults. Each waits until the kernel says that it has happened. False: it could not be. */
bool bench_master_kill(struct bench_masters *masters, unsigned index);
bool bench_master_restart(struct bench_masters *masters, unsigned index); /* same address */
bool bench_master_stop(struct bench_masters *masters, unsigned index);

/* Stop it and fill its backlog: what is sent is never answered, and connecting hangs, as on
 * a network that loses everything. TCP only. */
bool bench_master_blackhole(struct bench_masters *masters, unsigned index);

/* After stop or blackhole. */
bool bench_master_resume(struct bench_masters *masters, unsigned index);

#endif
