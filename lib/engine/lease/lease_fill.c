/* lease_fill.c - masters that come back get the keys of the locks that are held, behind the
 * callers' backs. core/hold_back.c says why that is safe.
 *
 * All leases are gone through once, newest first, a few in each millisecond. So callers and
 * masters have time for other requests, and a client with many locks needs no more memory.
 * Leases that end meanwhile are passed over. A lease that is made later asks the node itself.
 */
#include "config_auto.h"

#include "engine/lease/lease_parts.h"

#include <assert.h>

#define PAUSE_NS RL_NS_PER_MS
#define SEEN_A_TURN 1024u /* leases that are looked at between two pauses */

/* R8: Never after a release or a detach. True: something was sent. */
static bool fill_in_lease(struct rl_lease *lease, int64_t now_ns)
{
    const struct rl_fill_in *fill_in = &lease->voters->fill_in;
    assert(!lease->releasing && !lease->spare);
    if (lease->query || lease->detached)
        return false;
    rl_lease_ref(lease);
    bool over = lease->hold.phase == RL_HOLD_HELD && rl_lease_over(lease, now_ns);
    uint64_t forgot = fill_in->back & fill_in->forgot;
    unsigned events =
        over ? 0 : rl_hold_came_back(&lease->hold, fill_in->back, forgot, now_ns);
    if (events) {
        int64_t left_ns = rl_validity_left_ns(lease->hold.deadline_ns, now_ns);
        int64_t budget_ns = rl_voters_budget_ns(lease->voters, fill_in->back, left_ns);
        lease->budget_ns = budget_ns < 0 ? left_ns : budget_ns;
        rl_lease_on_hold_events(lease, events, now_ns);
    }
    rl_lease_unref(lease, now_ns);
    return events != 0;
}

/* R8: A few leases in a turn, so that callers and masters go on. */
static void go_on(redlock *client, int64_t now_ns)
{
    struct rl_fill_in *fill_in = &client->voters.fill_in;
    unsigned sent = 0;
    for (unsigned seen = 0; seen < SEEN_A_TURN && sent < rl_limits.fill_in_a_turn; seen++) {
        struct rl_lease *lease = fill_in->next;
        if (!rl_fill_in_has_room(&client->voters, &client->leases, now_ns) || !lease)
            break;
        rl_fill_in_pass_over(lease);
        sent += fill_in_lease(lease, now_ns);
    }
    bool more = fill_in->next && fill_in->back;
    if (!more) {
        fill_in->forgot &= ~fill_in->back;
        fill_in->back = 0;
    }
    fill_in->due_ns = more ? now_ns + PAUSE_NS : INT64_MAX;
}

void rl_fill_in_tick(redlock *client, int64_t now_ns)
{
    struct rl_fill_in *fill_in = &client->voters.fill_in;
    assert(rl_fill_in_busy(fill_in));
    rl_fill_in_begin(&client->voters, &client->leases, now_ns);
    if (now_ns >= fill_in->due_ns)
        go_on(client, now_ns);
}
