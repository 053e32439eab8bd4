/* hold_history.h - a history as the checker and the report read it: the holds that contenders
 * believed in, with their times, and the tries meanwhile. */
#ifndef CHAOS_HOLD_HISTORY_H
#define CHAOS_HOLD_HISTORY_H

#include "chaos/chaos.h"
#include "chaos/faults/kinds.h" /* CHAOS_BIT: sets of masters and contenders are masks too */

#define CHAOS_US INT64_C(1000)
#define CHAOS_MS INT64_C(1000000)
#define CHAOS_S INT64_C(1000000000)

enum chaos_ending { CHAOS_RAN_OUT, CHAOS_LET_GO, CHAOS_LOST };

/* One believed hold: [at_ns, end_ns). */
struct chaos_hold {
    int64_t asked_ns; /* when its contender began to try */
    int64_t at_ns;
    int64_t until_ns; /* as it believed last */
    int64_t end_ns;   /* the first of that, its letting go, and its finding out */
    uint64_t token;
    uint64_t key; /* on masters; 0: unknown */
    uint16_t client, name;
    uint8_t asked;  /* masters that were asked for it, of --client */
    uint8_t ending; /* enum chaos_ending */
    bool shared;    /* by a reader */
};

/* One contender that tries: [from_ns, to_ns), until it has it or was refused. */
struct chaos_try {
    int64_t from_ns, to_ns;
    uint16_t client, name;
    bool joint; /* of several names at once: none of them alone is to be had */
};

/* Both by name, then by time: those of name n are [first[n], first[n + 1]). */
struct chaos_hold_history {
    size_t hold_count, try_count;
    struct chaos_hold *hold;
    struct chaos_try *try;
    size_t first_hold[CHAOS_NAMES_MAX + 1], first_try[CHAOS_NAMES_MAX + 1];
    uint64_t refusals, losses, writes;
};

/* Memory that must be there; ends the program where there is none. NULL only for no items. */
void *chaos_room(size_t count, size_t size);

void chaos_hold_history_read(const struct chaos_history *history,
                             struct chaos_hold_history *ret_history);
void chaos_hold_history_free(struct chaos_hold_history *hold_history);

/* The hold that this contender had, or had last, of `name` at that time. NULL: none yet. */
const struct chaos_hold *chaos_hold_history_at(const struct chaos_hold_history *hold_history,
                                               unsigned name, unsigned client, int64_t at_ns);

#endif
