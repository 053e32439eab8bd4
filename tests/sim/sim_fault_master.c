/* sim_fault_master.c - faults of masters. */
#include "config_auto.h"

#include "sim_effect.h"
#include "sim_sentinel.h"

/* ---- done ----------------------------------------------------------------------------- */

static void restart(struct sim_effect *effect)
{
    effect->how = effect->fault == SIM_FAULT_RESTART_WHOLE  ? SIM_WHOLE
                  : effect->fault == SIM_FAULT_RESTART_LATE ? SIM_LATE
                  : effect->fault == SIM_FAULT_RESTART_SOME ? SIM_SOME
                                                            : SIM_EMPTY;
    sim_master_kill(effect->master);
}

static void kill_at(struct sim_effect *effect)
{
    static const char *const scripts[] = {"acquire", "release", "extend",
                                          "wait",    "retake",  "get"};
    effect->how = (enum sim_restart)sim_below(sim_world.plan.partial ? 4 : 3);
    bool executed = sim_below(2);
    sim_master_kill_at(effect->master, scripts[sim_below(6)], executed);
}

/* The same name and the same age, and nothing of what the other one knew. */
static void replace(unsigned master)
{
    char run_id[41];
    for (unsigned i = 0; i < 40; i++)
        run_id[i] = (char)('a' + master);
    run_id[40] = '\0';
    sim_master_run_id(master, run_id);
    sim_master_kill(master);
    sim_master_start(master, SIM_EMPTY);
    sim_master_run_id(master, run_id);
    sim_master_uptime(master, 1000000);
}

/* One of them, for so many of its requests. */
static void trouble(unsigned master, enum sim_trouble first, enum sim_trouble last,
                    unsigned least_ppm, unsigned most_ppm)
{
    unsigned ppm = (unsigned)sim_scale(least_ppm, most_ppm);
    sim_master_trouble(master, (enum sim_trouble)sim_between(first, last), ppm);
}

/* What is timed by it now ends at another time. */
static void step(struct sim_effect *effect, int64_t by_ns)
{
    if (by_ns < 0)
        sim_world.back_ns -= by_ns;
    effect->felt = true;
    sim_master_step_clock(effect->master, by_ns);
}

static void do_to_clock(struct sim_effect *effect)
{
    int64_t most = sim_world.plan.master_rate_ppb;
    switch (effect->fault) {
    case SIM_FAULT_CLOCK_BACK:
        step(effect, -sim_scale(SIM_MS, SIM_S));
        break;
    case SIM_FAULT_STEP:
        step(effect, sim_scale(SIM_MS, 20 * SIM_S));
        break;
    case SIM_FAULT_FAST:
        sim_master_clock_rate(effect->master, sim_between(SIM_S / 20, SIM_S));
        break;
    default:
        sim_master_clock_rate(effect->master, sim_between(-most, most));
        break;
    }
}

void sim_fault_do_to_master(struct sim_effect *effect, int64_t for_ns)
{
    unsigned master = effect->master;
    switch (effect->fault) {
    case SIM_FAULT_PAUSE:
        sim_master_pause(master, for_ns);
        break;
    case SIM_FAULT_SLOW:
        sim_master_slow(master, 50 * SIM_US, sim_scale(100 * SIM_US, 20 * SIM_MS));
        break;
    case SIM_FAULT_TROUBLE:
        trouble(master, SIM_LOADING, SIM_NOSCRIPT, SIM_ALL / 20, SIM_ALL);
        break;
    case SIM_FAULT_LIES:
        trouble(master, SIM_GARBAGE, SIM_WRONG, SIM_ALL / 200, SIM_ALL / 5);
        break;
    case SIM_FAULT_SCRIPT_FLUSH:
        sim_master_script_flush(master);
        break;
    case SIM_FAULT_CLOCK_BACK:
    case SIM_FAULT_CLOCK_RATE:
    case SIM_FAULT_STEP:
    case SIM_FAULT_FAST:
        do_to_clock(effect);
        break;
    case SIM_FAULT_COPY:
        effect->felt = true;
        sim_master_copy(master);
        break;
    case SIM_FAULT_GONE:
        effect->felt = true;
        sim_master_lose(master);
        break;
    case SIM_FAULT_FLUSHALL:
        effect->felt = true;
        sim_master_flushall(master);
        break;
    case SIM_FAULT_EVICT:
        effect->felt = sim_master_evict(master);
        break;
    case SIM_FAULT_REPLACE:
    case SIM_FAULT_WARM:
        effect->felt = true;
        replace(master);
        break;
    case SIM_FAULT_NUMBER:
        effect->felt = sim_master_set_number(master, sim_world.plan.set_down);
        break;
    case SIM_FAULT_EMPTY:
        effect->felt = true;
        sim_master_empty(master);
        break;
    case SIM_FAULT_KILL_AT:
        kill_at(effect);
        break;
    case SIM_FAULT_FAILOVER:
    case SIM_FAULT_FAILOVER_BY_HAND:
    case SIM_FAULT_PROMOTED:
    case SIM_FAULT_DEAF:
    case SIM_FAULT_FORGETS:
    case SIM_FAULT_ALL_FORGET:
    case SIM_FAULT_DEMOTED:
        effect->felt = sim_failover_do(effect->fault, master);
        break;
    default:
        restart(effect);
        break;
    }
}

/* ---- undone --------------------------------------------------------------------------- */

static void start_master(unsigned master, enum sim_restart how)
{
    if (sim_master_up(master))
        return;
    if (how != SIM_WHOLE && sim_world.plan.options.guard == REDLOCK_OFF)
        sim_broke(SIM_GUARD_ON);
    sim_tell("n%u is started again", master + 1);
    sim_master_start(master, how);
}

void sim_fault_undo_to_master(const struct sim_effect *effect)
{
    switch (effect->fault) {
    case SIM_FAULT_KILL_AT:
        sim_master_kill_at(effect->master, NULL, false);
        if (sim_fault_felt(effect) != effect->before)
            start_master(effect->master, effect->how);
        break;
    case SIM_FAULT_RESTART_EMPTY:
    case SIM_FAULT_RESTART_WHOLE:
    case SIM_FAULT_RESTART_LATE:
    case SIM_FAULT_RESTART_SOME:
    case SIM_FAULT_UNGUARDED:
        start_master(effect->master, effect->how);
        break;
    case SIM_FAULT_SLOW:
        sim_master_slow(effect->master, SIM_US, 20 * SIM_US);
        break;
    case SIM_FAULT_TROUBLE:
    case SIM_FAULT_LIES:
        sim_master_trouble(effect->master, SIM_NO_TROUBLE, 0);
        break;
    case SIM_FAULT_FAST:
        sim_master_clock_rate(effect->master, 0);
        break;
    case SIM_FAULT_DEAF:
        sim_sentinel_deaf(effect->master, false);
        break;
    default: /* it is over by itself */
        break;
    }
}
