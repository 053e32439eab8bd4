/* lease_watch.c - what a watched lease is to all who see it: until when its user may rely on
 * it, and the end of the watch. What is done meanwhile is renewal.c. */
#include "config_auto.h"

#include "engine/lease_parts.h"

int64_t rl_watch_deadline_ns(const struct rl_claim *claim)
{
    if (!claim->watch.on)
        return claim->hold.deadline_ns;
    return rl_earlier_ns(claim->hold.deadline_ns - claim->watch.margin_ns,
                         claim->watch.until_ns);
}

/* Its extension is over, whatever came of it. */
void rl_watch_asked_no_more(struct rl_claim *claim)
{
    claim->client->leases.renewing -= claim->watch.asked;
    claim->watch.asked = false;
}

/* The one place that says whether its renewal waits for masters. */
void rl_watch_set_starved(struct rl_claim *claim, bool starved)
{
    claim->client->leases.starving += starved - claim->watch.starved;
    claim->watch.starved = starved;
}

void rl_watch_end(struct rl_claim *claim)
{
    struct rl_watch *watch = &claim->watch;
    if (!watch->on)
        return;
    rl_watch_asked_no_more(claim);
    rl_watch_set_starved(claim, false);
    watch->on = false;
    claim->client->leases.watched--;
    claim->client->stats.renewing -= watch->renews;
    rl_timer_set(&claim->client->loop.timers, &claim->timer, INT64_MAX);
}
