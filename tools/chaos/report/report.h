/* report.h - the reports at the end: in the terminal, and as files. */
#ifndef CHAOS_REPORT_H
#define CHAOS_REPORT_H

#include "chaos/chaos.h"

/* The figures and the verdict, in some lines. */
void chaos_report_text(const struct chaos_history *history, const struct chaos_verdict *verdict,
                       FILE *to);

/* Make the directory for the reports, and check that files can be made there. This happens
 * before the run, or all of it may be for nothing. False, after a line on stderr. */
bool chaos_report_prepare(const char *dir);

/* report.html and report.json in the directory that the options name. False, after a line on
 * stderr. */
bool chaos_report_write(const struct chaos_history *history,
                        const struct chaos_verdict *verdict);

#endif
