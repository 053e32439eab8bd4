/* status_print.h - what status found: for people, as JSON, and for Prometheus. */
#ifndef STATUS_PRINT_H
#define STATUS_PRINT_H

#include "redlock/cli.h"
#include "redlock/status_checks.h"

void status_print_text(const struct cli *cli, const struct status_found *found);
void status_print_json(const struct status_found *found, int exit_status);

/* ---- status_metrics.c: in Prometheus' text format ---- */

void status_print_metrics(const struct status_found *found);

/* ---- status_acl.c: a command that gives a user the rights to locks of the kind ---- */

/* Asks no master. Returns the exit status. */
int status_print_acl(const struct cli *cli);

#endif
