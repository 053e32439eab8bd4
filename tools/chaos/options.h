/* options.h - the command line of redlock-chaos. */
#ifndef CHAOS_OPTIONS_H
#define CHAOS_OPTIONS_H

#include "chaos/chaos.h"
#include "options/table.h"

/* -1: go on; else the exit status, after --help, --version, or a line on stderr. Options not
 * given have their defaults. */
int chaos_options_parse(struct chaos_options *options, int argc, char **argv);

#endif
