/* sim_fault_felt.c - whether a fault took effect: what it does to masters, paths and processes
 * is counted where it happens, and one that nobody met has changed nothing. */
#include "config_auto.h"

#include "sim_effect.h"

static uint64_t refused_by(unsigned master)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < sim_world.actor_count; i++)
        sum += sim_path_felt(sim_world.actor[i].proc, master)->refused;
    return sum;
}

static uint64_t of_master(const struct sim_effect *effect)
{
    const struct sim_master_felt *felt = sim_master_felt(effect->master);
    switch (effect->fault) {
    case SIM_FAULT_KILL_AT:
        return felt->hits;
    case SIM_FAULT_PAUSE:
        return felt->stood;
    case SIM_FAULT_SLOW:
        return felt->slow;
    case SIM_FAULT_TROUBLE:
    case SIM_FAULT_LIES:
        return sim_master_troubled(effect->master);
    case SIM_FAULT_SCRIPT_FLUSH:
        return felt->unknown;
    case SIM_FAULT_CLOCK_RATE:
    case SIM_FAULT_FAST:
        return sim_master_commands(effect->master);
    default: /* it is down, or another */
        return felt->ended + refused_by(effect->master);
    }
}

static uint64_t of_path(const struct sim_effect *effect, const struct sim_proc *proc)
{
    const struct sim_path_felt *felt = sim_path_felt(proc, effect->master);
    switch (effect->fault) {
    case SIM_FAULT_RESET:
        return felt->reset;
    case SIM_FAULT_HALF_OPEN:
        return felt->lost;
    case SIM_FAULT_CUT_AFTER:
        return felt->cut;
    default:
        return felt->sent;
    }
}

static uint64_t of_paths(const struct sim_effect *effect)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < sim_world.actor_count; i++) {
        const struct sim_proc *proc = sim_world.actor[i].proc;
        if (!effect->proc || effect->proc == proc)
            sum += of_path(effect, proc);
    }
    return sum;
}

static uint64_t of_holes(const struct sim_effect *effect)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < sim_world.actor_count; i++) {
        for (uint64_t rest = effect->pairs[i]; rest; rest &= rest - 1) {
            unsigned master = (unsigned)__builtin_ctzll(rest);
            const struct sim_path_felt *felt = sim_path_felt(sim_world.actor[i].proc, master);
            for (unsigned way = 0; way < SIM_WAYS; way++)
                sum += effect->ways[way] ? felt->held[way] : 0;
        }
    }
    return sum;
}

static uint64_t of_proc(const struct sim_effect *effect)
{
    const struct sim_proc *proc = effect->proc;
    switch (effect->fault) {
    case SIM_FAULT_PROC_STUTTER:
        return proc->felt.stutters;
    case SIM_FAULT_PROC_CRASH:
        return proc->crashed;
    case SIM_FAULT_ALLOC:
        return proc->felt.no_memory;
    case SIM_FAULT_NO_FDS:
        return proc->felt.no_fds;
    case SIM_FAULT_LOOKUP:
        return proc->felt.lookups;
    case SIM_FAULT_OWN_BACK:
    case SIM_FAULT_OWN_FORWARD:
    case SIM_FAULT_OWN_UNSEEN:
    case SIM_FAULT_WALL: /* it is read with the other one */
        return proc->felt.steps;
    default:
        return proc->felt.late;
    }
}

uint64_t sim_fault_felt(const struct sim_effect *effect)
{
    switch (effect->fault) {
    case SIM_FAULT_HOLE:
    case SIM_FAULT_HOLE_THERE:
    case SIM_FAULT_HOLE_BACK:
    case SIM_FAULT_CUT_OFF:
    case SIM_FAULT_HALVES:
    case SIM_FAULT_RING:
        return of_holes(effect);
    case SIM_FAULT_RESET:
    case SIM_FAULT_HALF_OPEN:
    case SIM_FAULT_CUT_AFTER:
    case SIM_FAULT_DELAY:
        return of_paths(effect);
    case SIM_FAULT_PROC_PAUSE:
    case SIM_FAULT_PROC_SUSPEND:
    case SIM_FAULT_FREEZE:
    case SIM_FAULT_PROC_STUTTER:
    case SIM_FAULT_PROC_CRASH:
    case SIM_FAULT_ALLOC:
    case SIM_FAULT_NO_FDS:
    case SIM_FAULT_LOOKUP:
    case SIM_FAULT_OWN_BACK:
    case SIM_FAULT_OWN_FORWARD:
    case SIM_FAULT_OWN_UNSEEN:
    case SIM_FAULT_WALL:
        return of_proc(effect);
    default:
        return of_master(effect);
    }
}
