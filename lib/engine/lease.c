/* lease.c - see lease.h: the life of a claim, and what the core decides carried out. */
#include "config_auto.h"

#include "engine/lease_parts.h"

#include <assert.h>
#include <string.h>

#define ROOM_NS RL_NS_PER_MS /* until a node that took no more may take more */

/* ---- what the hold wants done --------------------------------------------------------- */

uint64_t rl_claim_free_of_debt(const struct rl_claim *claim, uint64_t nodes)
{
    for (uint64_t rest = nodes; rest; rest &= rest - 1) {
        unsigned i = rl_first(rest);
        if (claim->hold.carry[claim->client->nodes.all[i].active] & rl_bit(i))
            nodes &= ~rl_bit(i);
    }
    return nodes;
}

static void count(struct rl_claim *claim, unsigned did)
{
    redlock *client = claim->client;
    if (did & RL_DID_WIN)
        client->stats.acquired++;
    if (did & RL_DID_EXTEND)
        client->stats.extended++;
    if (did & RL_DID_DIE)
        client->stats.lost++;
    if (did & RL_DID_FINISH) {
        int result = rl_hold_release_result(&claim->hold);
        client->stats.released += result == REDLOCK_OK;
        client->stats.unconfirmed += result == REDLOCK_EUNCONFIRMED;
        if (!claim->op)
            rl_client_log(client, result ? REDLOCK_LOG_WARNING : REDLOCK_LOG_DEBUG,
                          "a release that nobody waited for: %s",
                          result ? redlock_strerror(result) : "confirmed");
    }
}

static uint64_t nodes_up(const redlock *client)
{
    uint64_t nodes = 0;
    for (unsigned i = 0; i < client->nodes.n; i++) {
        if (client->nodes.all[i].mode == RL_UP)
            nodes |= rl_bit(i);
    }
    return nodes;
}

/* When a claim that is still due a release must be looked at again: when a refused one may be
 * said again, when there may be room for one, or when its keys have run out. */
static int64_t look_again_ns(const struct rl_claim *claim, uint64_t up, int64_t now_ns)
{
    if (!claim->hold.due || now_ns >= claim->hold.due_until_ns)
        return INT64_MAX;
    if (claim->retry_ns > now_ns)
        return claim->retry_ns;
    return claim->hold.due & up ? now_ns + ROOM_NS : claim->hold.due_until_ns;
}

/* The deadline that the handle shows, when the hold did something. Two things are promised
 * (redlock_validity_ms):
 *
 * What was told holds. A hold that dies before the deadline that was shown keeps what keys it
 * has until then, lest whoever relies on it meets another; unless the user gives it up first.
 *
 * 0 is the end. Who was told 0 has made the shown deadline 0: an extension that was confirmed
 * in time, but is looked at only now, must not bring it back, and the hold is dead. Another
 * thread may have been told of the last millisecond, which is not over yet.
 *
 * Returns what the hold did after all. */
static unsigned show_deadline(struct rl_claim *claim, unsigned did, int64_t now_ns)
{
    struct rl_hold *hold = &claim->hold;
    _Atomic int64_t *deadline_ns = &claim->lock->deadline_ns;
    int64_t shown_ns = atomic_load(deadline_ns);
    if (did & RL_DID_WIN)
        atomic_store(&claim->lock->clock_epoch, claim->clock_epoch);
    if ((did & RL_DID_WIN) || hold->deadline_ns == 0)
        atomic_store(deadline_ns, hold->deadline_ns);
    if (did & RL_DID_DIE)
        claim->retry_ns = shown_ns != 0 ? shown_ns : now_ns + RL_VALIDITY_GRAIN_NS;
    if (!(did & RL_DID_EXTEND))
        return did;
    while (shown_ns != 0) {
        if (atomic_compare_exchange_weak(deadline_ns, &shown_ns, rl_watch_deadline_ns(claim)))
            return did;
    }
    claim->retry_ns = now_ns + RL_VALIDITY_GRAIN_NS;
    rl_hold_release(hold, now_ns, 0);
    return (did & ~(unsigned)(RL_DID_EXTEND | RL_WANTS_RETAKE)) | RL_DID_DIE;
}

void rl_claim_react(struct rl_claim *claim, unsigned did, int64_t now_ns)
{
    struct rl_hold *hold = &claim->hold;
    redlock *client = claim->client;
    if (claim->lock)
        did = show_deadline(claim, did, now_ns);
    if (did & (RL_DID_LOSE | RL_DID_DIE))
        rl_claim_ends(claim);
    if (did & RL_WANTS_REST) {
        uint64_t rest = rl_hold_ask_rest(hold, rl_nodes_able(&client->nodes, now_ns),
                                         now_ns + claim->budget_ns);
        unsigned more = rl_claim_send_taking(claim, RL_ACQUIRE, rest, now_ns);
        /* Nobody left to ask: the round must be judged without an answer. */
        more |= rl_hold_tick(hold, now_ns);
        did &= ~(unsigned)RL_WANTS_REST;
        if (more)
            rl_claim_react(claim, more, now_ns);
    }
    if ((did & RL_WANTS_RETAKE) && !claim->detached)
        rl_claim_send_taking(
            claim, RL_RETAKE,
            rl_claim_free_of_debt(claim, hold->retake & rl_nodes_able(&client->nodes, now_ns)),
            now_ns);
    rl_claim_send_releases(claim, now_ns);
    if (hold->due) {
        int64_t again_ns = look_again_ns(claim, nodes_up(client), now_ns);
        if (again_ns < client->leases.sweep_ns)
            client->leases.sweep_ns = again_ns;
    }
    if (did) {
        count(claim, did);
        if (claim->watch.on)
            claim->watch.ops->did(claim, did, now_ns);
        if (claim->op && claim->op->did)
            claim->op->did(claim->op, did, now_ns);
    }
}

void rl_claim_ask(struct rl_claim *claim, uint64_t able, int first, int64_t t0_ns,
                  int64_t node_deadline_ns)
{
    rl_claim_enter(claim);
    claim->client->stats.rounds++;
    claim->client->nodes.warm = true;
    unsigned did = rl_hold_ask(&claim->hold, t0_ns, node_deadline_ns, able, first);
    did |= rl_claim_send_taking(claim, RL_ACQUIRE, rl_hold_to_ask(&claim->hold), t0_ns);
    if (did)
        rl_claim_react(claim, did, t0_ns);
    rl_claim_leave(claim, t0_ns);
}

void rl_claim_extend(struct rl_claim *claim, uint64_t able, int64_t ttl_ns, int64_t t0_ns,
                     int64_t node_deadline_ns)
{
    rl_claim_enter(claim);
    unsigned did = rl_hold_extend(&claim->hold, t0_ns, ttl_ns, node_deadline_ns,
                                  rl_claim_free_of_debt(claim, able));
    did |= rl_claim_send_taking(claim, RL_EXTEND, rl_hold_to_extend(&claim->hold), t0_ns);
    if (did)
        rl_claim_react(claim, did, t0_ns);
    rl_claim_leave(claim, t0_ns);
}

void rl_claim_disown(struct rl_claim *claim, int64_t now_ns)
{
    claim->retry_ns = 0;
    rl_claim_enter(claim);
    rl_claim_send_releases(claim, now_ns);
    rl_claim_leave(claim, now_ns);
}

/* Who is due a release, is out of reach and not on its way has failed at once. */
static unsigned fail_unreachable(struct rl_claim *claim, int64_t now_ns)
{
    struct rl_hold *hold = &claim->hold;
    unsigned did = 0;
    for (uint64_t rest = hold->due; rest && hold->releasing; rest &= rest - 1) {
        unsigned i = rl_first(rest);
        struct rl_node *node = &claim->client->nodes.all[i];
        if (!rl_node_pending(node) && node->mode != RL_UP) /* UP: there is no room yet */
            did |= rl_hold_unsent(hold, i, RL_RELEASE, now_ns);
    }
    return did;
}

void rl_claim_release(struct rl_claim *claim, int64_t now_ns, int64_t node_deadline_ns)
{
    struct rl_hold *hold = &claim->hold;
    rl_claim_enter(claim);
    unsigned did = rl_hold_release(hold, now_ns, node_deadline_ns);
    rl_watch_end(claim);
    rl_claim_ends(claim);
    if (!claim->op)
        rl_timer_set(&claim->client->loop.timers, &claim->timer, rl_hold_next_ns(hold));
    rl_claim_send_releases(claim, now_ns);
    did |= fail_unreachable(claim, now_ns);
    rl_claim_react(claim, did, now_ns);
    rl_claim_leave(claim, now_ns);
}

static void apply(struct rl_claim *claim, int64_t now_ns,
                  unsigned (*happens)(struct rl_hold *hold, int64_t now_ns))
{
    rl_claim_enter(claim);
    unsigned did = happens(&claim->hold, now_ns);
    if (did)
        rl_claim_react(claim, did, now_ns);
    rl_claim_leave(claim, now_ns);
}

void rl_claim_tick(struct rl_claim *claim, int64_t now_ns)
{
    apply(claim, now_ns, rl_hold_tick);
}

void rl_claim_cut(struct rl_claim *claim, int64_t now_ns)
{
    apply(claim, now_ns, rl_hold_cut);
}

/* Its time has come: of a release that nobody waits for, or of a watched lock. A claim that
 * an op is about is seen to by the op. */
static void fire(struct rl_timer *timer, int64_t now_ns)
{
    struct rl_claim *claim = (struct rl_claim *)timer;
    if (claim->watch.on)
        claim->watch.ops->fire(claim, now_ns);
    else if (!claim->op)
        rl_claim_tick(claim, now_ns);
}

int rl_claim_new(redlock *client, const struct rl_target *target, const char *token,
                 struct rl_claim **ret_claim)
{
    int result = rl_claim_take(client, target, token, ret_claim);
    if (result == 0)
        (*ret_claim)->timer.fire = fire;
    return result;
}

/* ---- all of them ---------------------------------------------------------------------- */

void rl_claims_sweep(redlock *client, int64_t now_ns)
{
    struct rl_claim *next;
    uint64_t up = nodes_up(client);
    client->leases.sweep_ns = INT64_MAX;
    for (struct rl_claim *claim = client->leases.ending; claim; claim = next) {
        next = claim->next;
        rl_claim_enter(claim);
        rl_claim_send_releases(claim, now_ns);
        unsigned did = fail_unreachable(claim, now_ns);
        if (did)
            rl_claim_react(claim, did, now_ns);
        int64_t again_ns = look_again_ns(claim, up, now_ns);
        if (again_ns < client->leases.sweep_ns)
            client->leases.sweep_ns = again_ns;
        rl_claim_leave(claim, now_ns);
    }
}

uint64_t rl_claims_unsettled(const redlock *client, int64_t now_ns)
{
    uint64_t count = client->leases.ending_count;
    for (const struct rl_claim *claim = client->leases.ending; claim; claim = claim->next)
        count -= claim->lock && rl_hold_settled(&claim->hold, now_ns);
    return count;
}

/* Nodes that answer, and nodes that are on their way to do so. A node that is down or does
 * not answer has all that we could give it: what the kernel has taken stays in order. */
static uint64_t hopeful(redlock *client, int64_t now_ns)
{
    uint64_t nodes = 0;
    for (unsigned i = 0; i < client->nodes.n; i++) {
        struct rl_node *node = &client->nodes.all[i];
        if (rl_node_pending(node) ||
            (node->mode == RL_UP && (!rl_node_stalled(node, now_ns) || rl_node_unsent(node))))
            nodes |= rl_bit(i);
    }
    return nodes;
}

bool rl_claims_pending(redlock *client, int64_t now_ns)
{
    uint64_t nodes = hopeful(client, now_ns);
    for (struct rl_claim *claim = client->leases.ending; claim; claim = claim->next) {
        if ((claim->hold.due | claim->hold.undo[0] | claim->hold.undo[1]) & nodes)
            return true;
    }
    for (; nodes; nodes &= nodes - 1) {
        if (rl_node_owes_note(&client->nodes.all[rl_first(nodes)]))
            return true;
    }
    return false;
}
