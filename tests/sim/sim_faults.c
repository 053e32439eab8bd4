/* sim_faults.c - which faults a world has, and when (a swarm: each seed draws some of them, and
 * for each how often and for how long). */
#include "config_auto.h"

#include "sim_effect.h"

struct source {
    struct sim_event event; /* first */
    int64_t mean_ns, longest_ns;
};

static struct source sources[SIM_FAULT_KINDS];
static int64_t until_ns;

static const enum sim_assumption breaks[SIM_FAULT_KINDS] = {
#define SIM_FAULT_BREAKS(name, word, broken) [SIM_FAULT_##name] = (broken),
    SIM_FAULTS(SIM_FAULT_BREAKS)
#undef SIM_FAULT_BREAKS
};

const char *sim_fault_word(enum sim_fault fault)
{
    static const char *const words[SIM_FAULT_KINDS] = {
#define SIM_FAULT_WORD(name, word, broken) [SIM_FAULT_##name] = (word),
        SIM_FAULTS(SIM_FAULT_WORD)
#undef SIM_FAULT_WORD
    };
    return words[fault];
}

static void schedule(struct source *source)
{
    int64_t at_ns = sim_now_ns() + sim_scale(source->mean_ns / 16 + 1, source->mean_ns * 4);
    if (at_ns < until_ns)
        sim_at(&source->event, at_ns);
}

static void on_due(struct sim_event *event)
{
    struct source *source = (struct source *)event;
    enum sim_fault fault = (enum sim_fault)(source - sources);
    if (sim_fault_do(fault, sim_scale(100 * SIM_US, source->longest_ns))) {
        sim_world.tally->faults[fault]++;
        if (breaks[fault] != SIM_ASSUMPTIONS)
            sim_broke(breaks[fault]);
    }
    schedule(source);
}

/* Without a draw, so that worlds without markers and the like are what they were. */
static bool is_of_world(enum sim_fault fault)
{
    const struct sim_plan *plan = &sim_world.plan;
    if (fault == SIM_FAULT_WALL)
        return plan->watching;
    if (fault == SIM_FAULT_RESTART_SOME)
        return plan->partial;
    if (fault == SIM_FAULT_NUMBER)
        return plan->set_numbers;
    if (fault > SIM_FAULT_NUMBER)
        return plan->failover;
    if (fault >= SIM_FAULT_GONE) /* only there somebody sees it at once */
        return plan->strict;
    return fault < SIM_FAULT_EMPTY || plan->marked;
}

void sim_faults_begin(int64_t end_ns)
{
    const struct sim_plan *plan = &sim_world.plan;
    /* Few kinds in one world and many in another; none at all in some. */
    unsigned part = (unsigned)(sim_below(10) * sim_below(10) * 6000);
    until_ns = end_ns;
    sim_fault_do_begin();
    for (unsigned i = 0; i < SIM_FAULT_KINDS; i++) {
        struct source *source = &sources[i];
        *source = (struct source){.event.fire = on_due};
        if (!is_of_world((enum sim_fault)i))
            continue;
        bool on = i == SIM_FAULT_NUMBER                ? true
                  : breaks[i] == SIM_ASSUMPTIONS ? sim_chance(part)
                                                       : breaks[i] == plan->breaks;
        source->mean_ns = sim_scale(plan->work_ns / 64 + SIM_MS, plan->work_ns);
        source->longest_ns = sim_scale(2 * SIM_MS, 2 * SIM_S);
        if (i > SIM_FAULT_NUMBER && breaks[i] == SIM_ASSUMPTIONS) { /* small ones, and often */
            on = sim_below(4) > 0;
            source->mean_ns = sim_scale(100 * SIM_MS, 4 * SIM_S);
        }
        if (on && sim_fault_means_something((enum sim_fault)i))
            schedule(source);
    }
}

void sim_faults_end(void)
{
    for (unsigned i = 0; i < SIM_FAULT_KINDS; i++)
        sim_not(&sources[i].event);
    sim_fault_undo_all();
    if (sim_world.plan.set_numbers)
        sim_master_forget_numbers(0);
}
