/* status_print.h - what status found, for people and as JSON. */
#ifndef STATUS_PRINT_H
#define STATUS_PRINT_H

#include "redlock/cli.h"
#include "redlock/status_checks.h"

void status_print_text(const struct cli *cli, const redlock_status_report *report);
void status_print_json(const redlock_status_report *report);

#endif
