/* force_release.c - redlock_force_release(): delete a lock, held or not. */
#include "config_auto.h"

#include "api/query.h"

int redlock_force_release(redlock *client, const void *name, size_t name_len, int endless,
                          redlock_report *report)
{
    const struct rl_question question = {
        .verb = RL_FORCE,
        .endless = endless == REDLOCK_ON,
        .name = name,
        .name_len = name_len,
        .owner = "",
    };
    if (!client)
        return REDLOCK_EINVAL;
    if (endless < REDLOCK_DEFAULT || endless > REDLOCK_OFF)
        return rl_client_refuse(client, "endless must be REDLOCK_ON, REDLOCK_OFF or "
                                        "REDLOCK_DEFAULT (off)");
    return rl_query(client, &question, report, NULL);
}
