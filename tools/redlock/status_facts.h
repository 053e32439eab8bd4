/* status_facts.h - what a master's INFO and two looks at its clock tell. Pure. */
#ifndef REDLOCK_STATUS_FACTS_H
#define REDLOCK_STATUS_FACTS_H

#include "core/certify.h"
#include "core/clock_watch.h"
#include "redlock/status_rights.h"
#include "redlock/status_sentinels.h"

#include <redlock.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct status_look {
    struct rl_clock_look clock;
    int64_t wall_ns; /* this machine's time of day when the reply came */
};

struct status_bounds {
    bool known;
    double least, most;
};

/* What is certain of a master's clock, by two looks at it and by what the library measured. */
struct status_clock {
    struct status_bounds offset_us; /* the master's time less this machine's */
    struct status_bounds rate;      /* its seconds in one of this machine's */
};

/* What a master is asked; an error to one is no answer to another. */
enum status_question {
    STATUS_ASKED_INFO,
    STATUS_ASKED_TIME,
    STATUS_ASKED_CLIENTS,
    STATUS_ASKED_FSYNC
};
#define STATUS_QUESTIONS 4

struct status_facts {
    bool asked;                            /* INFO was answered */
    char run_id[48];   /* of who answered this program's own connection; empty: not told */
    bool second_server; /* that is another one than answered the library, which lived, too */
    int64_t clients, clients_max, evicted; /* -1: not told */
    int64_t uptime_s;                      /* -1: not told */
    int64_t aof;                           /* 1: there is an append-only file; -1: not told */
    int64_t refused;                       /* commands of its file or its replicas; -1: not told */
    int fsync;                             /* 1: of that file before each reply; -1: not told */
    int replays;         /* 1: its default user may run what scripts wrote; -1: not told */
    char unreplayed[16]; /* 0: this is what it may not */
    struct status_clock clock;
    struct status_rights rights;
    struct rl_certificate certificate; /* for fencing tokens; its word is empty: not told */
    char uncertified[192];             /* it can't tell, and why; printable */
    int64_t tls_left_s;   /* until a certificate of its TLS ends; -1: no TLS, or not told */
    bool others_certified;             /* enough masters are to certify another one */
    bool listed;          /* its clients are known */
    bool unlisted_for_good; /* they are not, and waiting does not change that */
    bool watched;         /* by a Sentinel */
    struct status_sentinels sentinels; /* that name it */
    unsigned odd_clients; /* those that have another node list */
    bool odd_by_step;     /* of all these: each majority meets those of this list */
    bool odd_former;      /* some are of the former format of keys */
    char odd[192];        /* one of them, and what is other; printable */
    char why[STATUS_QUESTIONS][192]; /* what was answered instead; printable */
};

void status_facts_init(struct status_facts *facts);

/* This question has no answer, and why; the first reason stays. */
void status_facts_unanswered(struct status_facts *facts, enum status_question question,
                             const char *why);

/* An answer that is the same until a person changes a right, or the server's configuration. */
bool status_is_refusal(const char *why);

/* The text of INFO. */
void status_facts_heard(struct status_facts *facts, const char *text, size_t len);

/* Did another server answer the library, which has been open for so long? Not where the one that
 * answered here may have begun since: that is a restart. A masked run_id tells nothing. */
void status_facts_compare(struct status_facts *facts, const redlock_node_status *node,
                          int64_t open_ms);

/* By two looks. */
void status_clock_judge(struct status_clock *clock, const struct status_look *first,
                        const struct status_look *last);

/* By the library's figures beside these: what both allow. The looks are later, so they stand
 * where the library's say something else. */
void status_clock_take(struct status_clock *clock, const redlock_node_status *node);

#endif
