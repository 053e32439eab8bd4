/* sim_blame.c - the oracle of what clients log of masters' clocks. A clock that has kept time
 * must not be blamed for running ahead, which costs locks. */
#include "config_auto.h"

#include "sim_judge.h"

#include <string.h>

void sim_look_at_blame(const struct sim_proc *proc, const char *text)
{
    unsigned excuses =
        1u << SIM_NO_STEP | 1u << SIM_RATES | 1u << SIM_TIME_COUNTS | 1u << SIM_STEADY;
    const char *blame = strstr(text, "warning: its clock");
    if (blame && strstr(blame, "ahead") && !(sim_assumptions_broken() & excuses))
        sim_found(SIM_WRONG_RESULT, "%s blames a clock that has kept time: %s", proc->name,
                  text);
}
