/* sim_fault_do.c - each kind of fault done, and undone when its time is over. */
#include "config_auto.h"

#include "sim_effect.h"

#include <assert.h>

enum { EFFECTS_MAX = 256, MARK_FAULT = 0x341 };

static struct sim_effect effects[EFFECTS_MAX];
static int64_t over_ns;

void sim_fault_lasts_until(int64_t at_ns)
{
    if (at_ns > over_ns)
        over_ns = at_ns;
}

/* ---- to whom -------------------------------------------------------------------------- */

static unsigned any_master(void)
{
    return (unsigned)sim_below(sim_world.plan.masters);
}

static struct sim_actor *any_actor(void)
{
    unsigned start = (unsigned)sim_below(sim_world.actor_count);
    for (unsigned i = 0; i < sim_world.actor_count; i++) {
        struct sim_actor *actor = &sim_world.actor[(start + i) % sim_world.actor_count];
        if (!actor->gone && !actor->proc->crashed)
            return actor;
    }
    return NULL;
}

/* ---- undone --------------------------------------------------------------------------- */

static void start_master(unsigned master, enum sim_restart how)
{
    sim_master_kill_at(master, NULL, false);
    if (sim_master_up(master))
        return;
    if (how != SIM_WHOLE && sim_world.plan.options.guard < 0)
        sim_broke(SIM_GUARD_ON);
    sim_tell("n%u is started again", master + 1);
    sim_master_start(master, how);
}

static void undo(struct sim_effect *effect)
{
    effect->used = false;
    switch (effect->fault) {
    case SIM_FAULT_RESTART_EMPTY:
    case SIM_FAULT_RESTART_WHOLE:
    case SIM_FAULT_RESTART_LATE:
    case SIM_FAULT_UNGUARDED:
    case SIM_FAULT_KILL_AT:
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
    case SIM_FAULT_DELAY:
        sim_fault_slow_path(effect->proc, effect->master, false);
        break;
    case SIM_FAULT_PROC_STUTTER:
    case SIM_FAULT_ALLOC:
    case SIM_FAULT_NO_FDS:
    case SIM_FAULT_LOOKUP:
    case SIM_FAULT_PROC_CRASH:
        sim_fault_undo_to_proc(effect);
        break;
    default:
        sim_fault_hole(effect, false);
        break;
    }
}

static void on_over(struct sim_event *event)
{
    struct sim_effect *effect = (struct sim_effect *)event;
    sim_tell("over: %s", sim_fault_word(effect->fault));
    undo(effect);
}

/* ---- done ----------------------------------------------------------------------------- */

static bool restart(struct sim_effect *effect)
{
    if (!sim_master_up(effect->master))
        return false;
    effect->how = effect->fault == SIM_FAULT_RESTART_WHOLE  ? SIM_WHOLE
                  : effect->fault == SIM_FAULT_RESTART_LATE ? SIM_LATE
                                                            : SIM_EMPTY;
    sim_master_kill(effect->master);
    return true;
}

static bool kill_at(struct sim_effect *effect)
{
    static const char *const scripts[] = {"acquire", "release", "extend", "wait", "retake"};
    if (!sim_master_up(effect->master))
        return false;
    effect->how = (enum sim_restart)sim_below(3);
    bool executed = sim_below(2);
    sim_master_kill_at(effect->master, scripts[sim_below(5)], executed);
    return true;
}

/* The same name and the same age, and nothing of what the other one knew. */
static bool replace(unsigned master)
{
    char run_id[41];
    if (!sim_master_up(master))
        return false;
    for (unsigned i = 0; i < 40; i++)
        run_id[i] = (char)('a' + master);
    run_id[40] = '\0';
    sim_master_run_id(master, run_id);
    sim_master_kill(master);
    sim_master_start(master, SIM_EMPTY);
    sim_master_run_id(master, run_id);
    sim_master_uptime(master, 1000000);
    return true;
}

/* One of them, for so many of its requests. */
static void trouble(unsigned master, enum sim_trouble first, enum sim_trouble last,
                    unsigned least_ppm, unsigned most_ppm)
{
    unsigned ppm = (unsigned)sim_scale(least_ppm, most_ppm);
    sim_master_trouble(master, (enum sim_trouble)sim_between(first, last), ppm);
}

static bool do_to_master(struct sim_effect *effect, int64_t for_ns)
{
    unsigned master = effect->master;
    switch (effect->fault) {
    case SIM_FAULT_PAUSE:
        sim_master_pause(master, for_ns);
        return true;
    case SIM_FAULT_SLOW:
        sim_master_slow(master, 50 * SIM_US, sim_scale(100 * SIM_US, 20 * SIM_MS));
        return true;
    case SIM_FAULT_TROUBLE:
        trouble(master, SIM_LOADING, SIM_MASTERDOWN, SIM_ALL / 1000, SIM_ALL);
        return true;
    case SIM_FAULT_LIES:
        trouble(master, SIM_GARBAGE, SIM_WRONG, SIM_ALL / 10000, SIM_ALL / 5);
        return true;
    case SIM_FAULT_SCRIPT_FLUSH:
        sim_master_script_flush(master);
        return true;
    case SIM_FAULT_CLOCK_BACK: {
        int64_t by_ns = sim_scale(SIM_MS, SIM_S);
        sim_world.back_ns += by_ns;
        sim_master_step_clock(master, -by_ns);
        return true;
    }
    case SIM_FAULT_CLOCK_RATE: {
        int64_t most = (int64_t)(sim_world.plan.rate_spread * 1e9);
        sim_master_clock_rate(master, sim_between(-most, most));
        return true;
    }
    case SIM_FAULT_FLUSHALL:
        sim_master_flushall(master);
        return true;
    case SIM_FAULT_EVICT:
        return sim_master_evict(master);
    case SIM_FAULT_STEP:
        sim_master_step_clock(master, sim_scale(SIM_MS, 20 * SIM_S));
        return true;
    case SIM_FAULT_FAST:
        sim_master_clock_rate(master, sim_between(SIM_S / 20, SIM_S));
        return true;
    case SIM_FAULT_REPLACE:
        return replace(master);
    case SIM_FAULT_KILL_AT:
        return kill_at(effect);
    default:
        return restart(effect);
    }
}

unsigned sim_fault_successors(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < EFFECTS_MAX; i++)
        count += effects[i].used && effects[i].fault == SIM_FAULT_PROC_CRASH;
    return count;
}

/* What is over at once, or by itself. */
static bool passes(enum sim_fault fault)
{
    switch (fault) {
    case SIM_FAULT_PAUSE:
    case SIM_FAULT_SCRIPT_FLUSH:
    case SIM_FAULT_CLOCK_BACK:
    case SIM_FAULT_CLOCK_RATE:
    case SIM_FAULT_RESET:
    case SIM_FAULT_HALF_OPEN:
    case SIM_FAULT_CUT_AFTER:
    case SIM_FAULT_PROC_PAUSE:
    case SIM_FAULT_PROC_SUSPEND:
    case SIM_FAULT_FREEZE:
    case SIM_FAULT_FLUSHALL:
    case SIM_FAULT_EVICT:
    case SIM_FAULT_STEP:
    case SIM_FAULT_REPLACE:
        return true;
    default:
        return false;
    }
}

static bool is_of_master(enum sim_fault fault)
{
    return fault <= SIM_FAULT_CLOCK_RATE || fault == SIM_FAULT_FLUSHALL ||
           fault == SIM_FAULT_EVICT || fault == SIM_FAULT_UNGUARDED ||
           fault == SIM_FAULT_STEP || fault == SIM_FAULT_FAST || fault == SIM_FAULT_REPLACE;
}

static bool is_of_path(enum sim_fault fault)
{
    return fault >= SIM_FAULT_HOLE && fault <= SIM_FAULT_DELAY;
}

static struct sim_effect *free_effect(void)
{
    for (unsigned i = 0; i < EFFECTS_MAX; i++) {
        if (!effects[i].used)
            return &effects[i];
    }
    return NULL;
}

bool sim_fault_do(enum sim_fault fault, int64_t for_ns)
{
    struct sim_effect *effect = free_effect();
    struct sim_actor *actor = any_actor();
    if (!effect || !actor)
        return false;
    *effect = (struct sim_effect){
        .event.fire = on_over,
        .fault = fault,
        .master = any_master(),
    };
    if (sim_tells())
        sim_tell("fault: %s (n%u, %s) for %.3f ms", sim_fault_word(fault), effect->master + 1,
                 actor->proc->name, (double)for_ns / (double)SIM_MS);
    sim_mark(MARK_FAULT, fault, (uint64_t)for_ns);
    bool done = is_of_master(fault) ? do_to_master(effect, for_ns)
                : is_of_path(fault) ? (sim_fault_do_to_path(effect, actor), true)
                                    : sim_fault_do_to_proc(effect, actor->proc, for_ns);
    if (!done)
        return false;
    sim_fault_lasts_until(sim_now_ns() + for_ns);
    if (passes(fault))
        return true;
    effect->used = true;
    sim_at(&effect->event, sim_now_ns() + for_ns);
    return true;
}

int64_t sim_fault_over_ns(void)
{
    return over_ns;
}

void sim_fault_do_begin(void)
{
    for (unsigned i = 0; i < EFFECTS_MAX; i++)
        effects[i].used = false;
    over_ns = 0;
}

void sim_fault_undo_all(void)
{
    for (unsigned i = 0; i < EFFECTS_MAX; i++) {
        if (!effects[i].used)
            continue;
        sim_not(&effects[i].event);
        undo(&effects[i]);
    }
}
