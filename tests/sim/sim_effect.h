/* sim_effect.h - a fault that lasts, and what the files of faults have of each other. */
#ifndef SIM_EFFECT_H
#define SIM_EFFECT_H

#include "sim_fault.h"
#include "sim_world.h"

enum { SIM_ALL = 1000000 }; /* a rate: always */

/* What is to be undone. */
struct sim_effect {
    struct sim_event event; /* first */
    bool used;
    enum sim_fault fault;
    unsigned master;
    struct sim_proc *proc; /* NULL: all */
    enum sim_restart how;
    uint64_t pairs[SIM_ACTORS_MAX]; /* holes: masters by actor */
    bool ways[SIM_WAYS];
};

/* sim_fault_path.c. Slow, for a process or (NULL) for all; or as fast as it was again. */
void sim_fault_slow_path(const struct sim_proc *proc, unsigned master, bool on);
void sim_fault_hole(const struct sim_effect *effect, bool on);
void sim_fault_do_to_path(struct sim_effect *effect, struct sim_actor *actor);

/* sim_fault_proc.c. True: there was something to do it to. */
bool sim_fault_do_to_proc(struct sim_effect *effect, struct sim_proc *proc, int64_t for_ns);
void sim_fault_undo_to_proc(const struct sim_effect *effect);

/* sim_fault_do.c */
void sim_fault_lasts_until(int64_t at_ns);
unsigned sim_fault_successors(void); /* of killed processes, still to come */

#endif
