/* renewal_state.c - the state of a lease's renewal: its setters and its end. renewal.c does the
 * renewing, renewal_queue.c says whose turn it is. */
#include "config_auto.h"

#include "engine/lease/lease_parts.h"

#include <assert.h>

/* Its extension has ended, with success or without. */
void rl_renewal_extension_over(struct rl_lease *lease)
{
    assert(lease->client->leases.renewing >= lease->renewal.extending);
    assert(lease->client->leases.renewing <= lease->client->leases.renewals);
    lease->client->leases.renewing -= lease->renewal.extending;
    lease->renewal.extending = false;
}

/* The only setter: does the renewal wait for masters? */
void rl_renewal_set_lacks_quorum(struct rl_lease *lease, bool lacks_quorum)
{
    assert(lease->renewal.on);
    assert(lease->client->leases.starving >= lease->renewal.lacks_quorum);
    lease->client->leases.starving += lacks_quorum - lease->renewal.lacks_quorum;
    lease->renewal.lacks_quorum = lacks_quorum;
}

int64_t rl_renewal_lost_ns(const struct rl_lease *lease)
{
    assert(lease->renewal.on); /* else there is no margin */
    return rl_validity_over_ns(rl_lease_deadline_ns(lease));
}

void rl_renewal_queue(struct rl_lease *lease)
{
    struct rl_renewal *renewal = &lease->renewal;
    assert(renewal->on && renewal->renews && !renewal->extending);
    rl_timer_set(&lease->client->loop.timers, &lease->timer, INT64_MAX);
    renewal->waits = true;
    rl_timer_set(&lease->client->leases.waiting, &lease->timer, rl_renewal_lost_ns(lease));
}

void rl_renewal_unqueue(struct rl_lease *lease)
{
    if (!lease->renewal.waits)
        return;
    rl_timer_set(&lease->client->leases.waiting, &lease->timer, INT64_MAX);
    lease->renewal.waits = false;
}

void rl_renewal_end(struct rl_lease *lease)
{
    struct rl_renewal *renewal = &lease->renewal;
    if (!renewal->on)
        return;
    rl_renewal_unqueue(lease);
    rl_renewal_extension_over(lease);
    rl_renewal_set_lacks_quorum(lease, false);
    assert(lease->client->leases.renewals > 0);
    assert(lease->client->stats.renewing >= renewal->renews);
    renewal->on = false;
    lease->client->leases.renewals--;
    lease->client->stats.renewing -= renewal->renews;
    rl_timer_set(&lease->client->loop.timers, &lease->timer, INT64_MAX);
}
