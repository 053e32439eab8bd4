/* sim_rw.h - between the files that play the scripts of read-write locks of one master: the
 * lock, its owners' counts, and the leases beside it. */
#ifndef SIM_RW_H
#define SIM_RW_H

#include "sim_script_parts.h"

/* What a script is about. `field`: as whom it looks at the lock, to read or to write. */
struct sim_rw {
    struct sim_run *run;
    const struct sim_word *lock, *owner;
    struct sim_word writer; /* the owner's field to write */
    char writer_text[SIM_MEMBER_MAX + 1];
};
void sim_rw_begin(struct sim_rw *rw, struct sim_run *run);

/* False, of all of these that return it: the script has failed, and that has been answered,
 * unless they say what else it means. */

/* NULL: there is none. */
struct sim_key *sim_rw_lock(const struct sim_rw *rw);
struct sim_key *sim_rw_lease(const struct sim_rw *rw, const struct sim_word *field, int i);

bool sim_rw_may(const struct sim_rw *rw, unsigned flags, const char *where);
bool sim_rw_at_least(const struct sim_rw *rw, const struct sim_word *key,
                     const struct sim_word *ms);

/* rw_holds.lua */
int sim_rw_count(const struct sim_rw *rw, const struct sim_word *field);
int sim_rw_find(const struct sim_rw *rw, const struct sim_word *field); /* 0: it is not there */
bool sim_rw_last_longer(const struct sim_rw *rw, const struct sim_word *field, int i);
bool sim_rw_keep_writes(const struct sim_rw *rw);
bool sim_rw_set_count(const struct sim_rw *rw, const struct sim_word *field, int count,
                      const char *where);
bool sim_rw_set_mode(const struct sim_rw *rw, const char *mode, const char *where);
bool sim_rw_set_lease(const struct sim_rw *rw, const struct sim_word *field, int i);
/* The key goes with its last field. */
void sim_rw_forget_count(const struct sim_rw *rw, const struct sim_word *field);

/* What is not the business of whoever looks at tokens: a lease gets another number; a lease
 * that nobody counts goes. */
void sim_rw_rename(const struct sim_rw *rw, const struct sim_word *field, int from, int to);
void sim_rw_drop_left(const struct sim_rw *rw, const struct sim_word *field, int i);

bool sim_rw_is_count(const struct sim_rw *rw, const struct sim_word *field);

/* rw_compact.lua */
bool sim_rw_compact(const struct sim_rw *rw, const struct sim_word *field, int *ret_count);

/* rw_state.lua. `what`: where it is SIM_RW_OTHER. */
enum sim_rw_mode { SIM_RW_FREE, SIM_RW_READS, SIM_RW_WRITES, SIM_RW_OTHER };
enum sim_rw_mode sim_rw_state(const struct sim_rw *rw, char ret_what[64]);
bool sim_rw_mode_is(const struct sim_rw *rw, const char *mode);

/* Whole scripts. */
void sim_rw_extend(struct sim_run *run, bool writes);
void sim_rw_give_up(struct sim_run *run, bool writes);

/* It is the turn of the readers KEYS[4]. */
void sim_rw_turn_begins(struct sim_run *run);

#endif
