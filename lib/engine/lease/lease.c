/* lease.c - see lease.h: the life of a lease, and what the core decides carried out. */
#include "config_auto.h"

#include "engine/lease/lease_parts.h"

#include <assert.h>
#include <string.h>

#define ROOM_NS RL_NS_PER_MS /* until a node without room may have room again */

/* ---- what the hold wants done --------------------------------------------------------- */

uint64_t rl_lease_idle_nodes(const struct rl_lease *lease, uint64_t nodes)
{
    assert((nodes & ~rl_all(lease->voters->n)) == 0);
    for (uint64_t rest = nodes; rest; rest &= rest - 1) {
        unsigned i = rl_first(rest);
        if (lease->hold.acquire_inflight[lease->voters->node[i]->current] & rl_bit(i))
            nodes &= ~rl_bit(i);
    }
    return nodes;
}

static void count(struct rl_lease *lease, unsigned events, int64_t now_ns)
{
    redlock *client = lease->client;
    assert(!(events & (RL_EV_REFUSED | RL_EV_LOST)) || lease->releasing);
    if (events & RL_EV_ACQUIRED)
        client->stats.acquired++;
    if (events & RL_EV_EXTENDED)
        client->stats.extended++;
    if (events & RL_EV_LOST)
        client->stats.lost++;
    if (events & RL_EV_RELEASED) {
        int result = rl_hold_release_result(&lease->hold);
        client->stats.released += result == REDLOCK_OK && !lease->hold.kept;
        client->stats.unconfirmed += result == REDLOCK_EUNCONFIRMED;
        if (!lease->call && result &&
            rl_tally_count(&client->tallies, RL_TOLD_UNCONFIRMED, now_ns))
            rl_tally_text(client, RL_TOLD_UNCONFIRMED, &lease->target, redlock_strerror(result),
                          now_ns);
    }
}

static uint64_t nodes_up(const struct rl_nodes *nodes)
{
    uint64_t found = 0;
    for (unsigned i = 0; i < nodes->n; i++) {
        if (nodes->all[i].mode == RL_UP)
            found |= rl_bit(i);
    }
    return found;
}

/* When to look again at a lease whose release is due. A refused release may then be repeated,
 * a node may have room, or the lease's keys have expired. */
static int64_t look_again_ns(const struct rl_lease *lease, uint64_t up, int64_t now_ns)
{
    assert(lease->releasing && (up & ~rl_all(lease->voters->n)) == 0);
    if (!lease->hold.release_due || now_ns >= lease->hold.release_due_until_ns)
        return INT64_MAX;
    if (lease->retry_ns > now_ns)
        return lease->retry_ns;
    return lease->hold.release_due & up ? now_ns + ROOM_NS : lease->hold.release_due_until_ns;
}

/* R7: No release before the time that the user was shown, and the lock-delay. */
void rl_lease_keep_keys(struct rl_lease *lease, int64_t until_ns)
{
    assert(until_ns > 0 && !lease->query);
    lease->retry_ns = until_ns + lease->hold.lock_delay_ns;
}

/* Update the deadline that the user is shown after events of the hold. A hold that was extended
 * after its user saw 0 must die. Returns the events that remain. */
static unsigned show_deadline(struct rl_lease *lease, unsigned events, int64_t now_ns)
{
    struct rl_hold *hold = &lease->hold;
    struct rl_shown *shown = &lease->lock->shown;
    assert(!(events & RL_EV_LOST) || hold->phase == RL_HOLD_ENDING);
    assert(!(events & RL_EV_EXTENDED) || hold->phase == RL_HOLD_HELD);
    if (events & RL_EV_ACQUIRED) {
        rl_shown_begin(shown, hold->deadline_ns, lease->clock_epoch);
    } else if (hold->deadline_ns == 0) {
        int64_t shown_ns = rl_shown_end(shown);
        if (events & RL_EV_LOST)
            rl_lease_keep_keys(lease, rl_shown_keys_until_ns(shown_ns, now_ns));
    }
    if (!(events & RL_EV_EXTENDED) || rl_shown_extend(shown, rl_lease_deadline_ns(lease)))
        return events;
    rl_lease_keep_keys(lease, rl_shown_keys_until_ns(0, now_ns));
    rl_hold_release(hold, now_ns, 0);
    return (events & ~(unsigned)(RL_EV_EXTENDED | RL_DO_RETAKE)) | RL_EV_LOST;
}

/* Ask the rest of the nodes, or tell those that are behind the fencing token. If no node is
 * left, that is decided without a reply: returns the hold's events. */
static unsigned ask_more(struct rl_lease *lease, unsigned events, int64_t now_ns)
{
    struct rl_hold *hold = &lease->hold;
    uint64_t voting = rl_voters_to_ask(lease->voters, now_ns);
    int64_t deadline_ns = now_ns + lease->budget_ns;
    bool rest = events & RL_DO_ASK_REST;
    assert(lease->budget_ns > 0 && !lease->releasing);
    uint64_t nodes = rest
                         ? rl_hold_ask_rest(hold, voting, deadline_ns)
                         : rl_hold_fence(hold, rl_lease_idle_nodes(lease, voting), deadline_ns);
    unsigned more = rl_lease_send_taking(lease, rest ? RL_ACQUIRE : RL_EXTEND, nodes, now_ns);
    return more | rl_hold_tick(hold, now_ns);
}

void rl_lease_on_hold_events(struct rl_lease *lease, unsigned events, int64_t now_ns)
{
    struct rl_hold *hold = &lease->hold;
    redlock *client = lease->client;
    assert(lease->refs > 0); /* a handler may drop it */
    assert(!lease->query && !lease->spare);
    assert(!(events & RL_EV_ACQUIRED) || (lease->call && lease->lock)); /* somebody gets it */
    if (lease->detached)
        return; /* answers that were still to come: the keys are another process's business */
    if (lease->lock)
        events = show_deadline(lease, events, now_ns);
    if (events)
        rl_account_note(lease, events, now_ns);
    if (events & (RL_EV_REFUSED | RL_EV_LOST))
        rl_lease_start_release(lease);
    if (events & (RL_DO_ASK_REST | RL_DO_FENCE)) {
        unsigned more = ask_more(lease, events, now_ns);
        events &= ~(unsigned)(RL_DO_ASK_REST | RL_DO_FENCE);
        if (more)
            rl_lease_on_hold_events(lease, more, now_ns);
    }
    if (events & RL_DO_RETAKE)
        rl_lease_send_taking(
            lease, RL_RETAKE,
            rl_lease_idle_nodes(lease, hold->retake & rl_voters_to_ask(lease->voters, now_ns)),
            now_ns);
    rl_lease_send_releases(lease, now_ns);
    if (hold->release_due) {
        int64_t again_ns = look_again_ns(lease, nodes_up(&client->nodes), now_ns);
        if (again_ns < client->leases.release_retry_ns)
            client->leases.release_retry_ns = again_ns;
    }
    if (events) {
        count(lease, events, now_ns);
        if (lease->renewal.on)
            lease->renewal.ops->on_hold_event(lease, events, now_ns);
        if (lease->call && lease->call->on_hold_event)
            lease->call->on_hold_event(lease->call, events, now_ns);
    }
}

void rl_lease_acquire(struct rl_lease *lease, uint64_t voting, int first, int64_t t0_ns,
                      int64_t node_deadline_ns)
{
    assert(lease->call && !lease->query && lease->hold.phase == RL_HOLD_NEW);
    assert(node_deadline_ns > t0_ns && !lease->releasing);
    assert(lease->hold.n == lease->voters->n); /* a majority is one of all masters */
    rl_lease_ref(lease);
    lease->client->stats.rounds++;
    lease->voters->warm = true;
    rl_fill_in_left_out(lease->voters, rl_all(lease->hold.n) & ~voting, t0_ns);
    lease->certificates = lease->client->certifying.changes;
    unsigned events = rl_hold_ask(&lease->hold, t0_ns, node_deadline_ns, voting, first);
    events |= rl_lease_send_taking(lease, RL_ACQUIRE, rl_hold_to_ask(&lease->hold), t0_ns);
    if (events)
        rl_lease_on_hold_events(lease, events, t0_ns);
    rl_lease_unref(lease, t0_ns);
}

void rl_lease_extend(struct rl_lease *lease, uint64_t voting, int64_t ttl_ns, int64_t t0_ns,
                     int64_t node_deadline_ns)
{
    assert(!lease->query && !lease->detached);
    assert(!lease->releasing); /* no extension is queued once release was called */
    assert(node_deadline_ns > t0_ns);
    rl_lease_ref(lease);
    rl_fill_in_left_out(lease->voters, rl_all(lease->hold.n) & ~voting, t0_ns);
    rl_account_asks(lease);
    unsigned events = rl_hold_extend(&lease->hold, t0_ns, ttl_ns, node_deadline_ns,
                                     rl_lease_idle_nodes(lease, voting));
    events |= rl_lease_send_taking(lease, RL_EXTEND, rl_hold_to_extend(&lease->hold), t0_ns);
    if (events)
        rl_lease_on_hold_events(lease, events, t0_ns);
    rl_lease_unref(lease, t0_ns);
}

void rl_lease_orphan(struct rl_lease *lease, int64_t now_ns)
{
    assert(!lease->lock && !lease->call);
    assert(lease->hold.phase == RL_HOLD_ENDING && lease->releasing);
    lease->retry_ns = 0;
    rl_lease_ref(lease);
    rl_lease_send_releases(lease, now_ns);
    rl_lease_unref(lease, now_ns);
}

/* If a node with a release due can't be reached soon, it fails at once. */
static unsigned fail_unreachable(struct rl_lease *lease, int64_t now_ns)
{
    struct rl_hold *hold = &lease->hold;
    unsigned events = 0;
    assert(lease->releasing && hold->phase == RL_HOLD_ENDING);
    for (uint64_t rest = hold->release_due; rest && hold->releasing; rest &= rest - 1) {
        unsigned i = rl_first(rest);
        struct rl_node *node = lease->voters->node[i];
        if (rl_node_standing(node, now_ns) == RL_STANDING_DOWN) /* UP: there is no room yet */
            events |= rl_hold_unsent(hold, i, RL_RELEASE, now_ns);
    }
    return events;
}

void rl_lease_release(struct rl_lease *lease, int64_t now_ns, int64_t node_deadline_ns)
{
    struct rl_hold *hold = &lease->hold;
    assert(!lease->query && !lease->detached);
    assert(!lease->releasing);
    rl_lease_ref(lease);
    unsigned events = rl_hold_release(hold, now_ns, node_deadline_ns);
    rl_renewal_end(lease);
    rl_lease_start_release(lease);
    if (!lease->call)
        rl_timer_set(&lease->client->loop.timers, &lease->timer, rl_hold_next_ns(hold));
    rl_lease_send_releases(lease, now_ns);
    events |= fail_unreachable(lease, now_ns);
    rl_lease_on_hold_events(lease, events, now_ns);
    rl_lease_unref(lease, now_ns);
}

static void apply(struct rl_lease *lease, int64_t now_ns,
                  unsigned (*happens)(struct rl_hold *hold, int64_t now_ns))
{
    assert(!lease->query);
    rl_lease_ref(lease);
    unsigned events = happens(&lease->hold, now_ns);
    if (events)
        rl_lease_on_hold_events(lease, events, now_ns);
    rl_lease_unref(lease, now_ns);
}

void rl_lease_tick(struct rl_lease *lease, int64_t now_ns)
{
    apply(lease, now_ns, rl_hold_tick);
}

void rl_lease_cut(struct rl_lease *lease, int64_t now_ns)
{
    assert(lease->call && lease->hold.phase == RL_HOLD_ASKING);
    apply(lease, now_ns, rl_hold_cut);
}

/* The timer of a lease that is renewed, or of a release without a call. If a call works on the
 * lease, the call has the timer. */
static void fire(struct rl_timer *timer, int64_t now_ns)
{
    struct rl_lease *lease = (struct rl_lease *)timer;
    assert(!lease->spare);
    assert(timer->at == 0 && !lease->query);
    if (lease->renewal.on)
        lease->renewal.ops->fire(lease, now_ns);
    else if (!lease->call)
        rl_lease_tick(lease, now_ns);
}

int rl_lease_new(redlock *client, const struct rl_target *target, const char *token,
                 struct rl_lease **ret_lease)
{
    int result = rl_lease_take(client, target, token, ret_lease);
    if (result == 0)
        (*ret_lease)->timer.fire = fire;
    return result;
}

/* ---- all of them ---------------------------------------------------------------------- */

void rl_leases_retry_releases(redlock *client, int64_t now_ns)
{
    uint64_t up = nodes_up(&client->nodes);
    assert((client->leases.releasing_count > 0) == (client->leases.releasing.first != NULL));
    client->leases.release_retry_ns = INT64_MAX;
    RL_EACH_FREED (struct rl_lease, lease, &client->leases.releasing, entry) {
        rl_lease_ref(lease);
        assert(lease->releasing && lease->hold.phase == RL_HOLD_ENDING);
        rl_lease_send_releases(lease, now_ns);
        unsigned events = fail_unreachable(lease, now_ns);
        if (events)
            rl_lease_on_hold_events(lease, events, now_ns);
        int64_t again_ns = look_again_ns(lease, up, now_ns);
        if (again_ns < client->leases.release_retry_ns)
            client->leases.release_retry_ns = again_ns;
        rl_lease_unref(lease, now_ns);
    }
}

uint64_t rl_leases_unsettled(const struct rl_leases *leases, int64_t now_ns)
{
    uint64_t count = leases->releasing_count;
    RL_EACH (const struct rl_lease, lease, &leases->releasing, entry)
        count -= lease->lock && rl_hold_settled(&lease->hold, now_ns);
    assert(count <= leases->releasing_count); /* the list and its count go together */
    return count;
}

/* Nodes that answer, and nodes that are connecting. A node that is down or silent has got all
 * that we can send: the kernel keeps the order of the bytes that it took. */
static uint64_t hopeful(struct rl_nodes *nodes, int64_t now_ns)
{
    uint64_t found = 0;
    for (unsigned i = 0; i < nodes->n; i++) {
        struct rl_node *node = &nodes->all[i];
        if (rl_node_pending(node) ||
            (node->mode == RL_UP && (!rl_node_stalled(node, now_ns) || rl_node_unsent(node))))
            found |= rl_bit(i);
    }
    return found;
}

bool rl_leases_pending(redlock *client, int64_t now_ns)
{
    uint64_t nodes = hopeful(&client->nodes, now_ns);
    RL_EACH (struct rl_lease, lease, &client->leases.releasing, entry) {
        if ((lease->hold.release_due | lease->hold.release_inflight[0] |
             lease->hold.release_inflight[1]) &
            nodes)
            return true;
    }
    for (; nodes; nodes &= nodes - 1) {
        if (rl_node_has_oneway_pending(&client->nodes.all[rl_first(nodes)]))
            return true;
    }
    return false;
}
