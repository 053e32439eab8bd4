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

void sim_fault_slow_path(const struct sim_proc *proc, unsigned master, bool on)
{
    const struct sim_plan *plan = &sim_world.plan;
    int64_t high_ns = sim_scale(SIM_MS, 300 * SIM_MS);
    for (unsigned i = 0; i < sim_world.actor_count; i++) {
        const struct sim_proc *one = sim_world.actor[i].proc;
        if (proc && one != proc)
            continue;
        if (on)
            set_path(sim_path(one, master), high_ns / 2, high_ns);
        else
            set_path(sim_path(one, master), plan->delay_low_ns, plan->delay_high_ns);
    }
}

void sim_fault_hole(const struct sim_effect *effect, bool on)
{
    for (unsigned i = 0; i < sim_world.actor_count; i++) {
        for (uint64_t rest = effect->pairs[i]; rest; rest &= rest - 1) {
            unsigned master = (unsigned)__builtin_ctzll(rest);
            for (unsigned way = 0; way < SIM_WAYS; way++) {
                if (effect->ways[way])
                    sim_path_hole(sim_world.actor[i].proc, master, (enum sim_way)way, on);
            }
        }
    }
}

static uint64_t all_masters(void)
{
    return (UINT64_C(1) << sim_world.plan.masters) - 1;
}

/* Who can't reach whom. */
static void draw_pairs(struct sim_effect *effect, const struct sim_actor *actor)
{
    unsigned n = sim_world.plan.masters;
    uint64_t half = sim_below(all_masters() + 1), side = sim_below(1u << 16);
    for (unsigned i = 0; i < sim_world.actor_count; i++) {
        uint64_t *pairs = &effect->pairs[i];
        switch (effect->fault) {
        case SIM_FAULT_CUT_OFF: /* one master, or one process, from all others */
            *pairs = side & 1                       ? UINT64_C(1) << effect->master
                     : &sim_world.actor[i] == actor ? all_masters()
                                                    : 0;
            break;
        case SIM_FAULT_HALVES:
            *pairs = side >> i & 1 ? half : all_masters() & ~half;
            break;
        case SIM_FAULT_RING: /* each one reaches another majority */
            *pairs = all_masters();
            for (unsigned k = 0; k < n / 2 + 1; k++)
                *pairs &= ~(UINT64_C(1) << (i + k) % n);
            break;
        default:
            *pairs = &sim_world.actor[i] == actor ? UINT64_C(1) << effect->master : 0;
            break;
        }
    }
    effect->ways[SIM_THERE] = effect->fault != SIM_FAULT_HOLE_BACK;
    effect->ways[SIM_BACK] = effect->fault != SIM_FAULT_HOLE_THERE;
}

static void cut_after(const struct sim_proc *proc, unsigned master)
{
    bool reset = sim_below(2);
    uint64_t bytes = (uint64_t)sim_scale(1, 2000);
    sim_path_cut_after(proc, master, sim_below(2) ? SIM_THERE : SIM_BACK, bytes, reset);
}

void sim_fault_do_to_path(struct sim_effect *effect, struct sim_actor *actor)
{
    unsigned master = effect->master;
    switch (effect->fault) {
    case SIM_FAULT_RESET:
        sim_path_reset(actor->proc, master);
        break;
    case SIM_FAULT_HALF_OPEN:
        sim_path_forget(actor->proc, master,
                        sim_below(2) ? SIM_NEVER : sim_scale(SIM_MS, SIM_S));
        break;
    case SIM_FAULT_CUT_AFTER:
        cut_after(actor->proc, master);
        break;
    case SIM_FAULT_DELAY:
        effect->proc = sim_below(2) ? actor->proc : NULL;
        sim_fault_slow_path(effect->proc, master, true);
        break;
    default:
        draw_pairs(effect, actor);
        sim_fault_hole(effect, true);
        break;
    }
}
