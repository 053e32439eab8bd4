/* servers.h - private masters: started in a directory of their own, ended by their own pids on
 * every way out. If we are killed ourselves, the kernel ends them. */
#ifndef SERVERS_H
#define SERVERS_H

#include "cluster/server_talk.h"

#include <redlock.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SERVER_FILLERS_MAX 160

struct server {
    volatile pid_t pid; /* 0: not running */
    int port;           /* 0: none, reached by its socket alone */
    bool stopped;
    char dir[88]; /* where it keeps its files */
    char socket[104];
    char log[104];
    int filler[SERVER_FILLERS_MAX]; /* connections that fill its backlog; -1: none */
    volatile int64_t *clock_ns;     /* added to its time of day; NULL: it has no such clock */
};

/* The settings of the masters to start. */
struct servers_want {
    unsigned count;
    const char *prefix;    /* of the directory's name, below $TMPDIR */
    bool unix_sockets;     /* and no TCP */
    bool keep;             /* with an append-only file, and commands for debugging */
    bool end_on_signals;   /* those that end a program */
    const char *clock_lib; /* server_clock.so, loaded into them; NULL: without */
};

struct servers {
    unsigned count;
    struct servers_want want;
    bool debug; /* DEBUG has to be enabled */
    char dir[72];
    char node_file[96];
    struct server master[REDLOCK_NODES_MAX];
};

/* The data that a server begins with. */
enum server_from { SERVER_EMPTY, SERVER_FROM_AOF, SERVER_FROM_RDB };

/* Start them and write their node list file. One set a process. NULL: `why` says what went
 * wrong, and nothing is left behind. */
struct servers *servers_start(const struct servers_want *want, char *why, size_t why_size);

/* End them and remove the directory. Called by itself on exit, and on signals where that is
 * wanted. NULL and twice are allowed. */
void servers_end(struct servers *servers);

/* The address of master `index`. */
struct server_at servers_at(const struct servers *servers, unsigned index);

/* Faults. Each waits until the kernel says that it has happened. False: it could not be. */
bool server_kill(struct servers *servers, unsigned index);
bool server_stop(struct servers *servers, unsigned index);

/* Has it ended since the last call, and not by one of these? Then how, as of waitpid(). */
bool server_has_ended(struct servers *servers, unsigned index, int *ret_status);

/* Start it again at the same address, and wait until it answers. */
bool server_restart(struct servers *servers, unsigned index);

/* The same in two steps. The second is true if the server answers and is the one we launched.
 * It is false if not (yet); `ret_ended` if it never will be. */
bool server_launch(struct servers *servers, unsigned index, enum server_from from);
bool server_is_ready(struct servers *servers, unsigned index, bool *ret_ended);

/* Stop it and fill its backlog. Requests are then never answered, and connecting hangs, as on a
 * network that loses everything. TCP only. */
bool server_blackhole(struct servers *servers, unsigned index);

/* After stop or blackhole. */
bool server_resume(struct servers *servers, unsigned index);

#endif
