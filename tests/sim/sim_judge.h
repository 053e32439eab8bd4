/* sim_judge.h - between the parts of the oracles, and for who shows what they found. */
#ifndef SIM_JUDGE_H
#define SIM_JUDGE_H

#include "sim_oracle.h"

const char *sim_oracle_name(enum sim_oracle oracle);
const char *sim_assumption_name(enum sim_assumption assumption);
unsigned sim_assumptions_broken(void); /* a bit each */
extern bool sim_oracle_strict; /* fencing tokens are excused by nothing but two lists */
extern int64_t sim_oracle_max_ttl_ns; /* all have a guard for so long; 0: not all */

/* sim_holds.c */
void sim_holds_begin(void);
void sim_holds_end(void);
void sim_look_for_open_holds(void);
/* The one with this token in which its program believes now; NULL: nobody does. */
const struct sim_hold *sim_believed(const char *token);
int64_t sim_believes_for_ns(const struct sim_hold *hold); /* so much longer */
const char *sim_holder(const struct sim_hold *hold); /* its process's name */

/* sim_backing.c: how many masters have these names under that token until then; nobody asks for
 * more than max-ttl. */
unsigned sim_masters_behind(const char *names, const char *token, int64_t until_ns,
                            int64_t max_ttl_ns);

/* Has this one died since so that a lock may stand which it has forgotten? */
bool sim_may_have_forgotten(unsigned master, int64_t max_ttl_ns);

/* How many have anything under it now, and were not killed since it may have been given. */
unsigned sim_masters_with(const char *token, int64_t max_ttl_ns);

/* sim_keys.c, sim_backing.c: counters of fencing tokens; how many a master has. */
bool sim_is_counter(const char *name);
size_t sim_counters(unsigned master);

/* sim_fences.c: the fencing token of a hold that its program has just been told of. Its call
 * began at that true time. */
void sim_fences_begin(void);
uint64_t sim_fences_greatest(void); /* that anybody was told */
void sim_look_at_fence(const struct sim_hold *hold, uint64_t token, int64_t began_ns);

/* sim_witnessed.c: of the masters that have it, as by a round that was begun at the true time
 * `t0_ns`, how many could vote then? The others had no word of their Sentinels', or were in
 * quarantine. */
void sim_witnessed_begin(void);
unsigned sim_masters_witnessed(const struct sim_proc *proc, const char *token, int64_t t0_ns);
/* Does the master of that number have it, or has it died or been replaced since then? */
bool sim_server_backs(unsigned server, const char *token, int64_t since_ns);

/* sim_holds.c: was it detached? */
bool sim_was_detached(const char *token);

/* sim_kept.c: was it to keep others out for a least time? And is that seen on the masters: do
 * they lose nothing unseen? */
bool sim_is_kept(const char *token);
extern bool sim_kept_on_masters;

/* sim_order.c */
void sim_order_begin(void);
/* Has it lost a key that may have said which waiters of a fair lock are this library's? Others
 * have no end. */
bool sim_order_evicted(unsigned master);

/* sim_oracle.c */
void sim_look_for_open_calls(void);

#endif
