/* status_checks.h - what redlock_probe() found of a master, as a list of checks, each with its
 * reason and with what helps. */
#ifndef STATUS_CHECKS_H
#define STATUS_CHECKS_H

#include <redlock.h>

enum status_result {
    STATUS_NONE, /* not tried: an earlier one failed */
    STATUS_OK,
    STATUS_WARN, /* it votes; or it will, by itself */
    STATUS_FAIL  /* it does not vote, or its vote makes no lock */
};

struct status_check {
    const char *name;
    enum status_result result;
    char reason[256];   /* WARN, FAIL; printable */
    const char *remedy; /* or NULL; may be in `reason`, behind its end */
};

#define STATUS_CHECKS 7
struct status_checks {
    struct status_check check[STATUS_CHECKS];
    bool votes; /* a lock can rest on it now */
};

void status_checks_make(const redlock_node_status *node, struct status_checks *ret_checks);

enum status_verdict { STATUS_FIT, STATUS_DEGRADED, STATUS_NOT_FIT };
enum status_verdict status_verdict_of(const redlock_status_report *report);

#endif
