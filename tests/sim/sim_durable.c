/* sim_durable.c - worlds whose masters write all to their disks before they answer, or most of
 * them, and whose clients go by that. Nothing is drawn in others. */
#include "config_auto.h"

#include "sim_world.h"

void sim_durable_draw(struct sim_plan *plan, uint64_t seed)
{
    plan->durable = plan->marked && sim_durable_of(seed);
    if (plan->durable && plan->breaks == SIM_ASSUMPTIONS && sim_below(8) == 0)
        plan->breaks = SIM_SYNCED;
}

/* A client that has it off looks at no disk, and makes restarted masters wait. */
int sim_durable_setting(void)
{
    if (!sim_world.plan.durable)
        return REDLOCK_DEFAULT;
    return sim_below(8) ? REDLOCK_ON : REDLOCK_OFF;
}

void sim_durable_begin(unsigned master)
{
    static const struct sim_disk durable = {.appendonly = true};
    static const struct sim_disk others[] = {
        {.appendonly = true, .everysec = true},
        {.appendonly = true, .unsynced = true},
        {.appendonly = false},
    };
    unsigned which = sim_world.plan.durable ? (unsigned)sim_below(12) : 0;
    if (sim_world.plan.durable)
        sim_master_disk(master, which < 3 ? &others[which] : &durable);
}
