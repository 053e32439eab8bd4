/* check.h - between the files of the checker. */
#ifndef CHAOS_CHECK_H
#define CHAOS_CHECK_H

#include "chaos/check/hold_history.h"

/* ---- findings (check.c) ---------------------------------------------------------- */

struct chaos_found {
    const struct chaos_history *history;
    const struct chaos_hold_history *hold_history;
    struct chaos_verdict *verdict;
};

/* Counts the finding `times` times, and keeps it if there is room. Excused findings give way to
 * others. */
void chaos_find(struct chaos_found *found, const struct chaos_finding *finding, uint64_t times);

void chaos_check_record(struct chaos_found *found);  /* check_record.c */
void chaos_check_keys(struct chaos_found *found);    /* check_keys.c */
void chaos_check_verdict(struct chaos_found *found); /* verdict.c */

/* ---- assumptions (chaos/faults/assumptions.c) ------------------------------------------- */

/* As chaos_fault_breaks(), for this run: another client may lack the restart guard, and markers
 * prove more than uptimes. */
enum chaos_assumption chaos_broken_by(const struct chaos_options *options,
                                      const struct chaos_fault *fault);

/* The first fault that may have given a lock, asked for at `asked_ns`, to another at
 * `taken_ns`; NULL: none. `tokens`: a greater token than that of the second one. */
const struct chaos_fault *chaos_broken_assumption(const struct chaos_history *history,
                                                  int64_t asked_ns, int64_t taken_ns,
                                                  bool tokens);

/* The step back of this master's clock that was still in force at the end. NULL: there is none.
 */
const struct chaos_fault *chaos_step_back_of(const struct chaos_history *history,
                                             unsigned node);

/* The fault that stopped this contender at some time in [from_ns, to_ns]. NULL: none did. */
const struct chaos_fault *chaos_pause_of(const struct chaos_history *history, unsigned client,
                                         int64_t from_ns, int64_t to_ns);

#endif
