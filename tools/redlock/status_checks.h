/* status_checks.h - what was found of each master, as a list of checks, each with its reason
 * and with what helps: first what redlock_probe() proved, then what a lock rests on beside. */
#ifndef STATUS_CHECKS_H
#define STATUS_CHECKS_H

#include "redlock/status_ask.h"

#include <redlock.h>

enum status_result {
    STATUS_NONE,    /* not tried: an earlier one failed */
    STATUS_UNKNOWN, /* tried, and the master does not tell; neither well nor amiss */
    STATUS_OK,
    STATUS_WARN, /* it votes; or it will, by itself */
    STATUS_FAIL  /* it does not vote, or its vote makes no lock */
};

struct status_check {
    const char *name;
    enum status_result result;
    char reason[768];   /* WARN, FAIL; printable */
    const char *remedy; /* or NULL; may be in `reason`, behind its end */
};

#define STATUS_PROOFS 7
#define STATUS_ASSUMED 11
#define STATUS_CHECKS (STATUS_PROOFS + STATUS_ASSUMED)

enum status_verdict { STATUS_FIT, STATUS_DEGRADED, STATUS_NOT_FIT };

struct status_master {
    const redlock_node_status *node;
    struct status_facts facts;
    struct status_check check[STATUS_CHECKS];
    bool votes; /* a lock can rest on it now */
    bool full;  /* it lives, and takes no more connections */
};

struct status_found {
    const redlock_status_report *report;
    redlock_stats stats; /* of the client that has asked */
    struct status_master master[REDLOCK_NODES_MAX]; /* report->node_count */
    struct rights_use rights;
    struct status_lists lists;
    int64_t lease_ms; /* so long after its client is gone a lock may be held */
    unsigned votes;
    unsigned uncertified; /* masters that must be certified for fencing tokens, and are not */
    char blind[256]; /* what is not known and won't be until a person acts; "": nothing */
    enum status_verdict verdict;
};

/* `ask` may be NULL: then there are the proofs alone. The report must outlive what is found. */
void status_judge(const redlock_status_report *report, const struct status_ask *ask,
                  struct status_found *ret_found);

/* ---- status_assume.c: the checks behind the proofs; `number` is the node's index ---- */

void status_checks_assume(const redlock_node_status *node, unsigned number,
                          const struct status_facts *facts, const struct status_setup *setup,
                          struct status_check *ret_check);

#endif
