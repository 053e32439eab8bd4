/* sim_fault_proc.c - faults of processes. */
#include "config_auto.h"

#include "sim_effect.h"

#include "engine/client/client.h"

#define NOTICED_NS (SIM_S + 10 * SIM_MS) /* a client looks at its clock so often at least */

/* ---- done ----------------------------------------------------------------------------- */

static void crash(struct sim_proc *proc)
{
    sim_world.tally->crashes++;
    sim_proc_crash(proc);
    for (unsigned i = 0; i < sim_world.actor_count; i++) {
        if (sim_world.actor[i].proc == proc)
            sim_actor_call(&sim_world.actor[i]);
    }
}

static void stutter(struct sim_proc *proc, int64_t for_ns)
{
    proc->rates.pause_ppm = (unsigned)sim_scale(100, SIM_ALL / 100);
    proc->rates.pause_max_ns = sim_scale(20 * SIM_US, 300 * SIM_MS);
    proc->rates.switch_ppm = (unsigned)sim_scale(100, SIM_ALL / 2);
    sim_fault_lasts_until(sim_now_ns() + for_ns + proc->rates.pause_max_ns);
}

/* Of the client that it has; 0: it has none, or that has seen a later time. */
int64_t sim_fault_unseen_ns(const struct sim_proc *proc)
{
    for (unsigned i = 0; i < sim_world.actor_count; i++) {
        const redlock *client = sim_world.actor[i].client;
        if (sim_world.actor[i].proc != proc || !client)
            continue;
        int64_t now_ns = sim_shown_ns(proc) + atomic_load(&client->clock.added_ns);
        int64_t seen_ns = atomic_load(&client->clock.seen_ns);
        return seen_ns > 0 && now_ns > seen_ns ? now_ns - seen_ns : 0;
    }
    return 0;
}

/* By more than the world lasts: whenever it is read next it shows less than it has shown. */
static void set_back(struct sim_proc *proc)
{
    int64_t by_ns = sim_scale(3600 * SIM_S, 20 * 3600 * SIM_S);
    int64_t most_ns = sim_shown_ns(proc) / 2;
    sim_proc_set_clock(proc, CLOCK_BOOTTIME, -(by_ns < most_ns ? by_ns : most_ns));
    sim_fault_lasts_until(sim_now_ns() + NOTICED_NS);
}

static void set_unseen(struct sim_proc *proc, int64_t back_ns)
{
    sim_proc_set_clock(proc, CLOCK_BOOTTIME, -back_ns);
    sim_miscounts(proc, back_ns);
}

/* Forward, it looks like time that the other clock has lost; back, it tells nothing. */
static void set_wall(struct sim_proc *proc)
{
    int64_t by_ns = sim_scale(SIM_MS, 3600 * SIM_S);
    sim_proc_set_clock(proc, CLOCK_REALTIME, sim_below(2) ? by_ns : -by_ns);
    sim_fault_lasts_until(sim_now_ns() + NOTICED_NS);
}

void sim_fault_do_to_proc(const struct sim_effect *effect, int64_t for_ns)
{
    struct sim_proc *proc = effect->proc;
    switch (effect->fault) {
    case SIM_FAULT_PROC_PAUSE:
        sim_proc_pause(proc, for_ns);
        break;
    case SIM_FAULT_PROC_SUSPEND:
        sim_proc_suspend(proc, for_ns);
        break;
    case SIM_FAULT_FREEZE:
        sim_proc_freeze(proc, for_ns);
        break;
    case SIM_FAULT_OWN_BACK:
        set_back(proc);
        break;
    case SIM_FAULT_OWN_UNSEEN:
        set_unseen(proc, sim_between(SIM_MS, sim_fault_unseen_ns(proc)));
        break;
    case SIM_FAULT_OWN_FORWARD:
        set_unseen(proc, -sim_scale(SIM_MS, 3600 * SIM_S));
        break;
    case SIM_FAULT_WALL:
        set_wall(proc);
        break;
    case SIM_FAULT_PROC_STUTTER:
        stutter(proc, for_ns);
        break;
    case SIM_FAULT_ALLOC:
        if (sim_below(2))
            sim_proc_fail_alloc(proc, sim_below(40) + 1);
        else
            proc->rates.alloc_fail_ppm = (unsigned)sim_scale(100, SIM_ALL / 2);
        break;
    case SIM_FAULT_NO_FDS:
        sim_proc_no_fds(proc, true);
        break;
    case SIM_FAULT_LOOKUP:
        proc->rates.lookup_fail_ppm = (unsigned)sim_scale(SIM_ALL / 10, SIM_ALL);
        proc->rates.lookup_max_ns = sim_scale(SIM_MS, 3 * SIM_S);
        break;
    default:
        crash(proc);
        break;
    }
}

/* ---- undone --------------------------------------------------------------------------- */

static void start_successor(const struct sim_effect *effect)
{
    for (unsigned i = 0; i < sim_world.actor_count; i++) {
        if (sim_world.actor[i].proc == effect->proc) {
            sim_actor_start(sim_world.actor[i].host, effect->proc);
            return;
        }
    }
}

void sim_fault_undo_to_proc(const struct sim_effect *effect)
{
    struct sim_proc *proc = effect->proc;
    switch (effect->fault) {
    case SIM_FAULT_PROC_STUTTER:
        proc->rates.pause_ppm = 0;
        proc->rates.switch_ppm = sim_world.plan.switch_ppm;
        break;
    case SIM_FAULT_ALLOC:
        proc->rates.alloc_fail_ppm = 0;
        sim_proc_fail_alloc(proc, 0);
        break;
    case SIM_FAULT_NO_FDS:
        sim_proc_no_fds(proc, false);
        break;
    case SIM_FAULT_LOOKUP:
        proc->rates.lookup_fail_ppm = 0;
        proc->rates.lookup_max_ns = SIM_LOOKUP_NS;
        break;
    case SIM_FAULT_PROC_CRASH:
        start_successor(effect);
        break;
    default:
        break;
    }
}
