/* option_values.h - reads the value of one option. Each returns -1, or the exit status after a
 * line on stderr that says which value would be right. */
#ifndef CHAOS_OPTION_VALUES_H
#define CHAOS_OPTION_VALUES_H

#include "chaos/chaos.h"

int chaos_take_number(const char *option, const char *text, unsigned min, unsigned max,
                      unsigned *ret_number);
int chaos_take_time(const char *option, const char *text, int64_t min_ms, int64_t max_ms,
                    int64_t *ret_ms);
int chaos_take_percent(const char *option, const char *text, double *ret_part);
int chaos_take_seed(const char *text, uint64_t *ret_seed);
int chaos_take_kind(const char *word, enum chaos_lock *ret_lock);

/* `word` NULL: the default breach. */
int chaos_take_fencing(const char *word, bool *ret_certified);
int chaos_take_guard(const char *word, bool *ret_markers, bool *ret_strict);
int chaos_take_breach(const char *word, enum chaos_breach *ret_breach);

/* `ret_faults`: all kinds of the list. `ret_named`: the kinds named one by one. */
int chaos_take_faults(const char *list, uint64_t *ret_faults, uint64_t *ret_named);

#endif
