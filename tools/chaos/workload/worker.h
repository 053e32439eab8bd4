/* worker.h - the contenders: processes that take locks and write under them. */
#ifndef CHAOS_WORKER_H
#define CHAOS_WORKER_H

#include "chaos/place/proxy.h"
#include "chaos/check/record.h"

#include "base/prng.h"

/* The input of a contender's body. It runs in a forked process, with SIGINT and SIGTERM at
 * their defaults. The kernel ends it when the parent dies. It leads a process group of its own.
 * Signals that stop or end it go to the group, because a foreign client is in there too. */
struct chaos_contender {
    const struct chaos_options *options;
    struct chaos_record *record;
    struct chaos_seat *seat;
    unsigned nodes;
    const struct chaos_path *path; /* its ways to the masters, one each */
    struct rl_prng prng; /* which name next, how long: of the run's seed, seat and life */
};

/* One turn: ask for a lock of the seat's choice, read, hold, write, let go. */
struct chaos_turn {
    unsigned name;
    unsigned more;                   /* SEVERAL: names beside it, in any order, */
    unsigned other[CHAOS_NAMES_MAX]; /* all different */
    int64_t wait_ms;                 /* ask for at most so long */
    int64_t hold_ms;                 /* between reading and writing */
    bool renew;                      /* hold it for longer than its ttl, prolonging it */
    bool shared;                     /* as a reader: it reads, holds, and reads again */
    bool again; /* take it once more meanwhile: a writer goes on as a reader, others give up
                   one or the other hold first */
};
void chaos_turn_draw(struct chaos_contender *contender, struct chaos_turn *ret_turn);

/* A refused contender asks again soon, but not as fast as it can. */
void chaos_rest_a_little(struct chaos_contender *contender);

/* True: let go and come to an end. */
bool chaos_contender_ends(const struct chaos_contender *contender);

/* The bodies: they return their exit status when the run is ending. */
int chaos_contend_redlock(struct chaos_contender *contender); /* worker.c */
int chaos_contend_broken(struct chaos_contender *contender);  /* broken.c: --self-test */
int chaos_contend_client(struct chaos_contender *contender);  /* client.c: --client */

#endif
