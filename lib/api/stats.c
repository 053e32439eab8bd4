/* stats.c - redlock_get_stats(): a client's counters and present numbers. */
#include "config_auto.h"

#include "engine/lease/lease.h"
#include "engine/enter.h"

#include "base/struct_abi.h"

#include <stddef.h>

int redlock_get_stats(redlock *client, redlock_stats *ret_stats)
{
    static const struct rl_struct shape =
        RL_STRUCT(redlock_stats, "redlock_stats", "REDLOCK_STATS_INIT", renewing);
    char why[RL_STRUCT_WHY_MAX];
    int cancel_state;
    if (!client)
        return REDLOCK_EINVAL;
    if (!rl_struct_there(&shape, ret_stats, why, sizeof(why)))
        return rl_client_refuse(client, why);
    int result = rl_client_enter(client, &cancel_state);
    if (result)
        return result;
    redlock_stats stats = client->stats;
    stats.waiting = client->wait_queues.waiting;
    stats.pending_releases = rl_leases_unsettled(&client->leases, rl_client_now_ns(client));
    stats.held = 0;
    RL_EACH (const struct redlock_lock, lock, &client->locks.all, all)
        stats.held += lock->lease != NULL;
    stats.reconnects = 0;
    for (unsigned i = 0; i < client->nodes.n; i++) {
        uint64_t connects = client->nodes.all[i].connects;
        stats.reconnects += connects > 0 ? connects - 1 : 0;
    }
    rl_struct_give(&shape, &stats, ret_stats);
    rl_client_leave(client, cancel_state);
    return REDLOCK_OK;
}
