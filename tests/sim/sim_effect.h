/* sim_effect.h - a fault that lasts, and what the files of faults have of each other. */
#ifndef SIM_EFFECT_H
#define SIM_EFFECT_H

#include "sim_fault.h"
#include "sim_world.h"

enum { SIM_ALL = 1000000 }; /* a rate: always */

/* What is to be undone, or looked at later: has anybody felt it? */
struct sim_effect {
    struct sim_event event; /* first */
    bool used, felt;
    enum sim_fault fault;
    unsigned master;
    struct sim_proc *proc; /* NULL: all */
    enum sim_restart how;
    uint64_t pairs[SIM_ACTORS_MAX]; /* holes: masters by actor */
    bool ways[SIM_WAYS];
    int64_t begun_ns, for_ns;
    uint64_t before; /* sim_fault_felt() when it began */
};

/* sim_fault_felt.c: how often it was felt so far what such a fault does to whom it is done. */
uint64_t sim_fault_felt(const struct sim_effect *effect);

/* sim_fault_aim.c. False: there is nobody to whom it would mean anything. */
bool sim_fault_aim(struct sim_effect *effect);
bool sim_fault_is_of_master(enum sim_fault fault);
bool sim_fault_is_of_path(enum sim_fault fault);

/* sim_fault_master.c */
void sim_fault_do_to_master(struct sim_effect *effect, int64_t for_ns);
void sim_fault_undo_to_master(const struct sim_effect *effect);

/* sim_failover.c: to a server of a service. False: it meant nothing there. */
bool sim_failover_do(enum sim_fault fault, unsigned server);

/* sim_fault_path.c */
void sim_fault_do_to_path(struct sim_effect *effect);
void sim_fault_undo_to_path(const struct sim_effect *effect);

/* sim_fault_proc.c */
int64_t sim_fault_unseen_ns(const struct sim_proc *proc); /* since its client read the clock */
void sim_fault_do_to_proc(const struct sim_effect *effect, int64_t for_ns);
void sim_fault_undo_to_proc(const struct sim_effect *effect);

/* sim_fault_do.c */
void sim_fault_lasts_until(int64_t at_ns);
unsigned sim_fault_successors(void); /* of killed processes, still to come */
/* Who can't reach whom by what is still in force: masters of that actor, that way. */
uint64_t sim_fault_pairs(unsigned actor, enum sim_way way);
/* One like it is in force there, or is to be met still: another one would mean nothing. */
bool sim_fault_waits(const struct sim_effect *effect);
bool sim_fault_delays(const struct sim_proc *proc, unsigned master); /* likewise */

#endif
