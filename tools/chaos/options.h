/* options.h - the command line of redlock-chaos. */
#ifndef CHAOS_OPTIONS_H
#define CHAOS_OPTIONS_H

#include "chaos/chaos.h"

/* -1: go on; else the exit status, after --help, --version, or a line on stderr. Options not
 * given have their defaults. `ret_named` are the kinds that --faults names one by one. These
 * must be possible; impossible kinds of a group are left out. */
int chaos_options_parse(struct chaos_options *options, int argc, char **argv,
                        uint64_t *ret_named);

/* A line on stderr. Returns EX_USAGE. */
int chaos_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
