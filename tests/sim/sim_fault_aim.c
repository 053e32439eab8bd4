/* sim_fault_aim.c - to whom a fault is done: to somebody to whom it can mean something. */
#include "config_auto.h"

#include "sim_effect.h"
#include "sim_sentinel.h"

bool sim_fault_is_of_master(enum sim_fault fault)
{
    return fault <= SIM_FAULT_CLOCK_RATE || fault == SIM_FAULT_FLUSHALL ||
           fault == SIM_FAULT_EVICT || fault == SIM_FAULT_UNGUARDED ||
           fault == SIM_FAULT_STEP || fault == SIM_FAULT_FAST || fault == SIM_FAULT_REPLACE ||
           (fault >= SIM_FAULT_EMPTY && fault <= SIM_FAULT_COPY) || fault == SIM_FAULT_RESTART_SOME ||
           fault >= SIM_FAULT_NUMBER;
}

bool sim_fault_is_of_path(enum sim_fault fault)
{
    return fault >= SIM_FAULT_HOLE && fault <= SIM_FAULT_DELAY;
}

bool sim_fault_means_something(enum sim_fault fault)
{
    const struct sim_plan *plan = &sim_world.plan;
    switch (fault) {
    case SIM_FAULT_RING: /* a majority is less than all */
        return sim_server_count() > 2;
    case SIM_FAULT_CLOCK_RATE: /* there is another one */
        return plan->master_rate_ppb >= 1;
    case SIM_FAULT_LOOKUP:
        return plan->options.by_name;
    default:
        return true;
    }
}

/* What those that are not masters, or not only, can do. */
static bool fits_server(enum sim_fault fault, unsigned server)
{
    bool sentinel = sim_is_sentinel(server);
    switch (fault) {
    case SIM_FAULT_DEAF:
    case SIM_FAULT_FORGETS:
    case SIM_FAULT_ALL_FORGET:
        return sentinel && sim_master_up(server) &&
               (fault != SIM_FAULT_FORGETS || sim_sentinel_may_forget(server));
    case SIM_FAULT_KILL_AT:
    case SIM_FAULT_TROUBLE:
    case SIM_FAULT_LIES:
    case SIM_FAULT_CLOCK_RATE:
    case SIM_FAULT_FAST:
        return !sentinel;
    case SIM_FAULT_FAILOVER:
    case SIM_FAULT_FAILOVER_BY_HAND:
        return !sentinel && sim_service_master(sim_service_of(server)) != server;
    case SIM_FAULT_PROMOTED:
        return !sentinel && sim_is_replica(server);
    case SIM_FAULT_DEMOTED: /* a former master, that is */
        return !sentinel && !sim_is_replica(server) &&
               sim_service_master(sim_service_of(server)) != server;
    case SIM_FAULT_COPY:
    case SIM_FAULT_WARM:
    case SIM_FAULT_REPLACE:
        return !sentinel && !sim_is_replica(server);
    default:
        return true;
    }
}

static bool fits_master(enum sim_fault fault, unsigned master)
{
    if (!fits_server(fault, master))
        return false;
    switch (fault) {
    case SIM_FAULT_SCRIPT_FLUSH:
        return sim_master_scripts(master) > 0;
    case SIM_FAULT_CLOCK_BACK: /* somebody is timed by it */
    case SIM_FAULT_STEP:
    case SIM_FAULT_FLUSHALL:
    case SIM_FAULT_EVICT:
    case SIM_FAULT_REPLACE:
    case SIM_FAULT_EMPTY:
    case SIM_FAULT_WARM:
    case SIM_FAULT_GONE:
    case SIM_FAULT_COPY:
        return sim_master_keys(master) > 0;
    case SIM_FAULT_NUMBER: /* one, the same each time: a minority */
        return master == 0 && sim_master_keys(master) > 0;
    default:
        return sim_master_up(master);
    }
}

static bool aim_at_master(struct sim_effect *effect)
{
    unsigned n = sim_server_count(), start = (unsigned)sim_below(n);
    for (unsigned i = 0; i < n; i++) {
        effect->master = (start + i) % n;
        if (fits_master(effect->fault, effect->master) && !sim_fault_waits(effect))
            return true;
    }
    return false;
}

/* The process, or the path to the master that was drawn. */
static bool fits_proc(const struct sim_effect *effect, const struct sim_proc *proc)
{
    switch (effect->fault) {
    case SIM_FAULT_RESET:
    case SIM_FAULT_HALF_OPEN:
    case SIM_FAULT_CUT_AFTER:
        return sim_path_open(proc, effect->master) > 0;
    case SIM_FAULT_OWN_UNSEEN:
        return sim_fault_unseen_ns(proc) > 2 * SIM_MS;
    case SIM_FAULT_PROC_CRASH: /* it will have a successor */
        return sim_world.actor_count + sim_fault_successors() < SIM_ACTORS_MAX;
    default:
        return true;
    }
}

static bool aim_at_proc(struct sim_effect *effect)
{
    unsigned n = sim_world.actor_count, start = (unsigned)sim_below(n);
    for (unsigned i = 0; i < n; i++) {
        const struct sim_actor *actor = &sim_world.actor[(start + i) % n];
        if (actor->gone || actor->proc->crashed || !fits_proc(effect, actor->proc))
            continue;
        effect->proc = actor->proc;
        if (!sim_fault_waits(effect))
            return true;
    }
    return false;
}

bool sim_fault_aim(struct sim_effect *effect)
{
    if (sim_fault_is_of_master(effect->fault))
        return aim_at_master(effect);
    effect->master = (unsigned)sim_below(sim_server_count());
    return aim_at_proc(effect);
}
