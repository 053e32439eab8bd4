/* hold_report.c - redlock_get_hold(): why was a lock lost, or what threatens it? */
#include "config_auto.h"

#include "engine/engine.h"

#include "base/struct_abi.h"
#include "engine/lease/lease.h"
#include "engine/enter.h"

#include <assert.h>
#include <stddef.h>

static const struct rl_struct shape =
    RL_STRUCT(redlock_hold_report, "redlock_hold_report", "REDLOCK_HOLD_REPORT_INIT", text);
static const struct rl_struct node_shape = RL_STRUCT(
    redlock_node_hold, "redlock_hold_report.node_size", "REDLOCK_HOLD_REPORT_INIT", text);

/* Its time may be over without anybody having noticed so far. */
static void see_if_over(struct rl_lease *lease, int64_t now_ns)
{
    if (lease->hold.phase == RL_HOLD_HELD && rl_lease_over(lease, now_ns))
        rl_account_lost(lease, now_ns);
}

static void report(struct rl_lease *lease, redlock_hold_report *to, int64_t now_ns)
{
    redlock_hold_report whole;
    rl_struct_copy(&whole, sizeof(whole), to, to->size);
    see_if_over(lease, now_ns);
    rl_account_report(lease, &whole, now_ns);
    whole.node_count = rl_struct_room(to->node, to->node_max, lease->hold.n);
    for (unsigned i = 0; i < whole.node_count; i++) {
        redlock_node_hold entry;
        rl_account_node(lease, i, &entry, now_ns);
        void *at = rl_struct_entry(to->node, to->node_size, whole.node_count, i);
        rl_struct_copy(at, to->node_size, &entry, sizeof(entry));
    }
    rl_struct_give(&shape, &whole, to);
}

int redlock_get_hold(redlock_lock *lock, redlock_hold_report *ret_report)
{
    char why[RL_STRUCT_WHY_MAX];
    int cancel_state;
    if (!lock)
        return REDLOCK_EINVAL;
    if (!rl_struct_there(&shape, ret_report, why, sizeof(why)) ||
        (ret_report->node &&
         !rl_struct_sized(&node_shape, ret_report->node_size, why, sizeof(why))))
        return rl_client_refuse(lock->client, why);
    redlock *client = lock->client;
    int result = rl_client_enter(client, &cancel_state);
    if (result)
        return result;
    int64_t now_ns = rl_client_now_ns(client);
    rl_engine_see_to_clock(client, now_ns);
    if (lock->lease)
        report(lock->lease, ret_report, now_ns);
    else
        result = REDLOCK_ENOTHELD;
    rl_client_leave(client, cancel_state);
    return result;
}
