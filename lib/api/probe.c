/* probe.c - redlock_probe(): the report of redlock_get_status(), and each master's proofs. */
#include "config_auto.h"

#include "api/status.h"
#include "engine/probe.h"

#include "base/entropy.h"
#include "kinds/name_set.h"

#include <stdio.h>

int redlock_probe(redlock *client, const char *prefix, redlock_status_report *ret_status)
{
    char name[REDLOCK_NAME_MAX + 1], uuid[RL_UUID_LEN + 1], why[160];
    struct rl_status status;
    int cancel_state;
    if (!client)
        return REDLOCK_EINVAL;
    rl_entropy_uuid(uuid);
    int len = snprintf(name, sizeof(name), "%s%s", prefix ? prefix : RL_PROBE_PREFIX, uuid);
    if (!rl_name_allowed(name, (size_t)len, why, sizeof(why)))
        return rl_client_refuse(client, why);
    int result = rl_client_enter_blocking(client, &cancel_state);
    if (result)
        return result;
    struct rl_target target = {
        .kind = rl_kind_on(REDLOCK_PLAIN, client->nodes.n),
        .name = name,
        .name_len = (size_t)len,
        .owner = "",
    };
    result = rl_status_check(client, ret_status, &status);
    if (result == REDLOCK_OK || result == REDLOCK_ENOQUORUM)
        result = rl_probe_run(client, &target, &status);
    rl_client_leave_blocking(client, cancel_state);
    return result;
}
