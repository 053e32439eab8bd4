/* sim_fault_disk.c - faults of masters' disks: settings that change at work, and what a restart
 * can leave of the keys by what was written. */
#include "config_auto.h"

#include "sim_effect.h"

bool sim_fault_is_of_disk(enum sim_fault fault)
{
    return fault >= SIM_FAULT_FSYNC && fault <= SIM_FAULT_POWER;
}

/* `done`: and not undone. */
static void change(const struct sim_effect *effect, bool done)
{
    const struct sim_disk *file = sim_master_disk_file(effect->master);
    struct sim_disk disk = *sim_master_disk_now(effect->master);
    if (effect->fault == SIM_FAULT_NO_FILE)
        disk.appendonly = file->appendonly && !done;
    else if (effect->fault == SIM_FAULT_FSYNC)
        disk.everysec = file->everysec != done;
    else
        disk.everysec = true;
    sim_master_config(effect->master, &disk);
}

void sim_fault_do_to_disk(struct sim_effect *effect)
{
    if (effect->fault == SIM_FAULT_POWER) /* it waits for a look, or does not */
        effect->felt =
            sim_world.plan.breaks == SIM_SYNCED || !sim_master_vouched(effect->master);
    if (effect->fault == SIM_FAULT_REWRITE)
        sim_master_rewrite(effect->master, true);
    else
        change(effect, true);
}

void sim_fault_undo_to_disk(const struct sim_effect *effect)
{
    if (effect->fault == SIM_FAULT_REWRITE) {
        sim_master_rewrite(effect->master, false);
    } else if (effect->fault == SIM_FAULT_POWER) {
        sim_master_kill(effect->master);
        sim_master_start(effect->master, sim_fault_left(effect->master, SIM_LATE));
    } else {
        change(effect, false);
    }
}

/* A master that has written all to its disk first has all of it. For what another one loses
 * nobody must vouch. Where a stamp may do so, and the world keeps to that, the process alone has
 * ended, or nobody starts it from an old file. */
enum sim_restart sim_fault_left(unsigned master, enum sim_restart how)
{
    bool old = sim_master_file_is_old(master);
    if (!sim_world.plan.durable)
        return how;
    if (sim_master_keeps_all(master))
        return SIM_WHOLE;
    if (how == SIM_EMPTY || (how == SIM_WHOLE && !old))
        return how;
    if (!sim_master_vouched(master))
        return SIM_LATE;
    if (sim_world.plan.breaks != SIM_SYNCED)
        return old ? SIM_EMPTY : SIM_WHOLE;
    sim_broke(SIM_SYNCED);
    return SIM_LATE;
}
