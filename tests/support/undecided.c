/* undecided.c - linked with all of redlock(1): its tries end undecided. That masters have too
 * little time is a matter of how busy the machine is, so no test can make them so. */
#include "config_auto.h"

#include <redlock.h>

/* By ld --wrap=redlock_try. */
int __wrap_redlock_try(redlock *client, const char *name, const redlock_options *options,
                       redlock_lock **ret_lock);

int __wrap_redlock_try(redlock *client, const char *name, const redlock_options *options,
                       redlock_lock **ret_lock)
{
    (void)client, (void)name;
    *ret_lock = NULL;
    options->report->nodes = 5;
    options->report->needed = 3;
    options->report->granted = 2;
    return REDLOCK_EUNDECIDED;
}
