/* lease_watch.c - what a watched lease is to all who see it: until when its user may rely on
 * it, and the end of the watch. What is done meanwhile is renewal.c. */
#include "config_auto.h"

#include "engine/lease_parts.h"

int64_t rl_watch_deadline_ns(const struct rl_lease *lease)
{
    if (!lease->watch.on)
        return lease->hold.deadline_ns;
    return rl_earlier_ns(lease->hold.deadline_ns - lease->watch.margin_ns,
                         lease->watch.until_ns);
}

/* Its extension is over, whatever came of it. */
void rl_watch_asked_no_more(struct rl_lease *lease)
{
    lease->client->leases.renewing -= lease->watch.asked;
    lease->watch.asked = false;
}

/* The one place that says whether its renewal waits for masters. */
void rl_watch_set_starved(struct rl_lease *lease, bool starved)
{
    lease->client->leases.starving += starved - lease->watch.starved;
    lease->watch.starved = starved;
}

void rl_watch_end(struct rl_lease *lease)
{
    struct rl_watch *watch = &lease->watch;
    if (!watch->on)
        return;
    rl_watch_asked_no_more(lease);
    rl_watch_set_starved(lease, false);
    watch->on = false;
    lease->client->leases.watched--;
    lease->client->stats.renewing -= watch->renews;
    rl_timer_set(&lease->client->loop.timers, &lease->timer, INT64_MAX);
}
