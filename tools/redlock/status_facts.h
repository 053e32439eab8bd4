/* status_facts.h - what a master's INFO and two looks at its clock tell. Pure. */
#ifndef REDLOCK_STATUS_FACTS_H
#define REDLOCK_STATUS_FACTS_H

#include "redlock/status_rights.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The master read its clock at some time between request and reply. */
struct status_look {
    int64_t asked_ns, told_ns; /* by a clock of this machine that nobody sets */
    int64_t wall_ns;           /* this machine's time of day at told_ns */
    int64_t master_us;
};

/* What follows for certain from two looks. */
struct status_clock {
    bool known;
    int64_t offset_least_us, offset_most_us; /* the master's time less this machine's */
    double rate_least, rate_most;            /* its seconds in one of this machine's */
};

struct status_facts {
    bool asked;                            /* INFO was answered; else `why` says why not */
    int64_t clients, clients_max, evicted; /* -1: not told */
    int64_t aof;                           /* 1: there is an append-only file; -1: not told */
    int fsync;                             /* 1: of that file before each reply; -1: not told */
    struct status_clock clock;
    struct status_rights rights;
    bool listed;          /* its clients are known */
    bool watched;         /* by a Sentinel */
    unsigned odd_clients; /* those that have another node list */
    bool odd_by_step;     /* of all these: each majority meets those of this list */
    char odd[192];        /* one of them, and what is other; printable */
    char why[192];        /* printable */
};

void status_facts_init(struct status_facts *facts);

/* The text of INFO. */
void status_facts_heard(struct status_facts *facts, const char *text, size_t len);

void status_clock_judge(struct status_clock *clock, const struct status_look *first,
                        const struct status_look *last);

#endif
