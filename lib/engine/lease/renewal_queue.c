/* renewal_queue.c - renewals that are due wait for their turn: whose lock would be lost first is
 * first.
 *
 * So many are under way at once as the masters can answer within a round trip, and no more:
 * what is sent beyond that waits at the masters, where the order can't be changed. While some
 * wait here, no try begins and nothing is filled in (rl_renewals_wait).
 *
 * A lease that waits has its timer in this heap, and not among the loop's: all that can happen
 * to it is that its time is over, and that is its place in the queue.
 */
#include "config_auto.h"

#include "engine/lease/lease_parts.h"

#include <assert.h>

/* What masters take in a round trip. On a far master that is many; on a near one the least. */
static unsigned at_once(struct rl_voters *voters)
{
    int64_t trip_ms = rl_voters_round_trip_ns(voters, rl_all(voters->n)) / RL_NS_PER_MS;
    int64_t most = rl_limits.renewals_max, least = rl_limits.renewals_min;
    assert(least > 0 && least <= most);
    if (trip_ms > most / rl_limits.renewals_a_ms)
        return (unsigned)most;
    int64_t taken = trip_ms * rl_limits.renewals_a_ms;
    return (unsigned)(taken > least ? taken : least);
}

/* Its answers would come too late, and others wait for whom they would not. To ask for each that
 * is lost anyway would be to lose all that come after it as well. */
static bool is_hopeless(const struct rl_lease *lease, int64_t trip_ns, int64_t now_ns)
{
    const struct rl_leases *leases = &lease->client->leases;
    return leases->waiting.count > leases->at_once - leases->renewing &&
           rl_validity_left_ns(rl_renewal_lost_ns(lease), now_ns) < trip_ns;
}

void rl_renewals_go_on(struct rl_leases *leases, struct rl_voters *voters, int64_t now_ns)
{
    struct rl_timers *waiting = &leases->waiting;
    if (waiting->count == 0)
        return;
    rl_timers_run(waiting, now_ns); /* those whose time is over */
    int64_t trip_ns = rl_voters_round_trip_ns(voters, rl_all(voters->n));
    leases->at_once = at_once(voters);
    for (size_t left = waiting->count; left > 0 && waiting->count > 0; left--) {
        struct rl_lease *lease = (struct rl_lease *)rl_timers_first(waiting);
        if (leases->renewing >= leases->at_once)
            break;
        if (is_hopeless(lease, trip_ns, now_ns))
            rl_renewal_wait_for_loss(lease);
        else
            rl_renewal_extend(lease, now_ns);
    }
}

int64_t rl_renewals_due_ns(const struct rl_leases *leases)
{
    bool room = leases->waiting.count > 0 && leases->renewing < leases->at_once;
    return room ? 0 : rl_timers_due_ns(&leases->waiting);
}
