/* chaos_made.h - made-up histories of redlock-chaos: a line at a time for the rules of the
 * checker, and whole runs that look like real ones. */
#ifndef TEST_CHAOS_MADE_H
#define TEST_CHAOS_MADE_H

#include "chaos/chaos.h"

#define MS INT64_C(1000000)
#define SEC INT64_C(1000000000)

struct made {
    struct chaos_options options;
    struct chaos_history history;
    struct chaos_event *event;
    size_t count, room;
    struct chaos_fault fault[512];
    struct chaos_verdict *verdict;
};

/* 5 masters, 3 needed, 4 contenders, 2 locks, 10 s, nothing asked for and nothing done. */
void made_init(struct made *made);
void made_free(struct made *made);

/* Events may be added in any order; those of the same time keep theirs. */
struct chaos_event *made_event(struct made *made, int64_t at_ns, enum chaos_what what,
                               unsigned client, unsigned name);
void made_asks(struct made *made, int64_t at_ns, unsigned client, unsigned name);
void made_holds(struct made *made, int64_t at_ns, int64_t until_ns, unsigned client,
                unsigned name);
void made_reads(struct made *made, int64_t at_ns, uint64_t value, unsigned client,
                unsigned name);
void made_writes(struct made *made, int64_t at_ns, uint64_t value, unsigned client,
                 unsigned name);

/* Asks, holds, reads `value` - 1, writes `value`, lets go: 1 ms for each. */
void made_pair(struct made *made, int64_t at_ns, uint64_t value, unsigned client,
               unsigned name);

/* Begun, undone and seen; may be changed. */
struct chaos_fault *made_fault(struct made *made, enum chaos_fault_kind kind, int64_t begun_ns,
                               int64_t undone_ns, uint64_t nodes, uint64_t clients);

/* Sort, and judge. The records at the end are what the writes made them, plus made_record. */
const struct chaos_verdict *made_check(struct made *made);
void made_sort(struct made *made);

/* A run of that many seconds, like a real one: contenders that wait for locks, faults every
 * few seconds that take majorities away. `bad`: one grant of so many is given twice; 0: none.
 */
struct made_plan {
    uint64_t seed;
    unsigned seconds, clients, names, nodes;
    int64_t hold_ns;  /* about */
    int64_t fault_ns; /* one about every so often; 0: none */
    unsigned bad;
};
void made_run(struct made *made, const struct made_plan *plan);

#endif
