/* sim_fault_path.c - faults of what lies between processes and masters. */
#include "config_auto.h"

#include "sim_effect.h"

static void set_path(struct sim_path *path, int64_t low_ns, int64_t high_ns)
{
    for (unsigned way = 0; way < SIM_WAYS; way++) {
        path->delay_low_ns[way] = low_ns;
        path->delay_high_ns[way] = high_ns;
    }
}

/* ---- delays --------------------------------------------------------------------------- */

static void delay(const struct sim_effect *effect)
{
    int64_t high_ns = sim_scale(SIM_MS + 2 * sim_world.plan.delay_high_ns, 300 * SIM_MS);
    for (unsigned i = 0; i < sim_world.actor_count; i++) {
        const struct sim_proc *proc = sim_world.actor[i].proc;
        if (!effect->proc || effect->proc == proc)
            set_path(sim_path(proc, effect->master), high_ns / 2, high_ns);
    }
}

/* As fast as it was again, but for those that another fault delays. */
static void hurry(const struct sim_effect *effect)
{
    const struct sim_plan *plan = &sim_world.plan;
    for (unsigned i = 0; i < sim_world.actor_count; i++) {
        const struct sim_proc *proc = sim_world.actor[i].proc;
        if (!sim_fault_delays(proc, effect->master))
            set_path(sim_path(proc, effect->master), plan->delay_low_ns, plan->delay_high_ns);
    }
}

/* ---- holes ---------------------------------------------------------------------------- */

/* All holes there are to be, and no other. */
static void set_holes(void)
{
    for (unsigned i = 0; i < sim_world.actor_count; i++) {
        for (unsigned way = 0; way < SIM_WAYS; way++) {
            uint64_t pairs = sim_fault_pairs(i, (enum sim_way)way);
            for (unsigned master = 0; master < sim_server_count(); master++)
                sim_path_hole(sim_world.actor[i].proc, master, (enum sim_way)way,
                              pairs >> master & 1);
        }
    }
}

static uint64_t all_masters(void)
{
    return (UINT64_C(1) << sim_server_count()) - 1;
}

/* Who can't reach whom. */
static void draw_pairs(struct sim_effect *effect)
{
    unsigned n = sim_server_count();
    uint64_t one = UINT64_C(1) << effect->master;
    uint64_t half = 1 + sim_below(all_masters()), side = sim_below(1u << SIM_ACTORS_MAX);
    for (unsigned i = 0; i < sim_world.actor_count; i++) {
        bool aimed = sim_world.actor[i].proc == effect->proc;
        uint64_t *pairs = &effect->pairs[i];
        switch (effect->fault) {
        case SIM_FAULT_CUT_OFF: /* one master, or one process, from all others */
            *pairs = side & 1 ? one : aimed ? all_masters() : 0;
            break;
        case SIM_FAULT_HALVES: /* at least this one is cut off from something */
            *pairs = aimed || side >> i & 1 ? half : all_masters() & ~half;
            break;
        case SIM_FAULT_RING: /* each one reaches another majority */
            *pairs = all_masters();
            for (unsigned k = 0; k < n / 2 + 1; k++)
                *pairs &= ~(UINT64_C(1) << (i + k) % n);
            break;
        default:
            *pairs = aimed ? one : 0;
            break;
        }
    }
    effect->ways[SIM_THERE] = effect->fault != SIM_FAULT_HOLE_BACK;
    effect->ways[SIM_BACK] = effect->fault != SIM_FAULT_HOLE_THERE;
}

static void cut_after(const struct sim_proc *proc, unsigned master)
{
    bool reset = sim_below(2);
    uint64_t bytes = (uint64_t)sim_scale(1, 500);
    sim_path_cut_after(proc, master, sim_below(2) ? SIM_THERE : SIM_BACK, bytes, reset);
}

void sim_fault_do_to_path(struct sim_effect *effect)
{
    unsigned master = effect->master;
    switch (effect->fault) {
    case SIM_FAULT_RESET:
        sim_path_reset(effect->proc, master);
        break;
    case SIM_FAULT_HALF_OPEN:
        sim_path_forget(effect->proc, master,
                        sim_below(2) ? SIM_NEVER : sim_scale(SIM_MS, SIM_S));
        break;
    case SIM_FAULT_CUT_AFTER:
        cut_after(effect->proc, master);
        break;
    case SIM_FAULT_DELAY:
        effect->proc = sim_below(2) ? effect->proc : NULL;
        effect->before = sim_fault_felt(effect);
        delay(effect);
        break;
    default:
        draw_pairs(effect);
        effect->before = sim_fault_felt(effect);
        effect->used = true;
        set_holes();
        break;
    }
}

void sim_fault_undo_to_path(const struct sim_effect *effect)
{
    if (effect->fault == SIM_FAULT_DELAY)
        hurry(effect);
    else
        set_holes();
}
