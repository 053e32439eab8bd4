/* lease_void.c - a master may have lost what it granted: every lease that is open is recounted,
 * and what is lost is told. */
#include "config_auto.h"

#include "engine/lease/lease_parts.h"

#include <assert.h>

/* What was lost: how many, and which for example. */
struct lost {
    unsigned count;
    char name[160];
};

/* Recount one lease. */
static void recount(struct rl_lease *lease, struct lost *lost, int64_t now_ns)
{
    uint64_t nodes = lease->void_due;
    lease->account.voided |= nodes;
    unsigned events = 0;
    assert(nodes != 0 && (nodes & ~rl_all(lease->voters->n)) == 0);
    lease->void_due = 0;
    if (lease->releasing || lease->spare)
        return;
    rl_lease_ref(lease);
    for (; nodes; nodes &= nodes - 1)
        events |= rl_hold_void(&lease->hold, rl_first(nodes), now_ns);
    if ((events & RL_EV_LOST) && lost->count++ == 0)
        rl_target_text(&lease->target, lost->name, sizeof(lost->name));
    if (events)
        rl_lease_on_hold_events(lease, events, now_ns);
    rl_lease_unref(lease, now_ns);
}

/* A handler may end or begin other leases, so that one is passed over: ask again then. */
static bool recount_marked(struct rl_leases *leases, struct lost *lost, int64_t now_ns)
{
    bool found = false;
    RL_EACH_FREED (struct rl_lease, lease, &leases->open, entry) {
        if (!lease->void_due)
            continue;
        found = true;
        recount(lease, lost, now_ns);
    }
    return found;
}

/* R9: What this node granted before counts no more, in any hold. */
void rl_leases_void(redlock *client, unsigned node, int64_t now_ns)
{
    struct lost lost = {0};
    assert(node < client->nodes.n);
    RL_EACH (struct rl_lease, lease, &client->leases.open, entry) {
        if (!lease->query && !lease->detached) /* a query has no hold */
            lease->void_due |= rl_bit(node);
    }
    while (recount_marked(&client->leases, &lost, now_ns))
        ;
    if (lost.count > 0)
        rl_client_log(client, REDLOCK_LOG_WARNING,
                      "%s: may have lost its keys: %u locks that stood on it are lost, "
                      "for example %s",
                      client->nodes.all[node].config->label, lost.count, lost.name);
}
