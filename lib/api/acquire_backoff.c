/* acquire_backoff.c - how long to sleep after a refused round, until asking again can be worth
 * it.
 *
 * A try that is queued at a majority of the nodes is woken. The rest covers failures: the
 * holder's TTL runs out; a message gets lost (a probe); a peer's release wakes nobody (a
 * growing backoff, as for all events without a message).
 */
#include "config_auto.h"

#include "api/acquire.h"

#include "base/clock.h"

#include <assert.h>

#define WAKE_GRACE_NS RL_NS_PER_MS /* between a first wake-up and a majority's */
#define HEARD_NS                                                                               \
    ((RL_PING_AFTER_MS + RL_PROBE_MS / 2) * RL_NS_PER_MS) /* a subscriber that is alive */
#define PLACE_NS (2 * RL_NS_PER_MS) /* between waiters that check for an expired TTL */

/* When a majority of keys will have expired by themselves; or 0. */
static int64_t free_at_ns(const struct rl_acquire *acquire, unsigned n)
{
    assert(acquire->held_count <= n);
    unsigned needed = rl_quorum_needed(n);
    unsigned not_held = n - acquire->held_count;
    /* The first node refused, and no other was asked: its TTL stands for all. */
    if (acquire->ordered && acquire->held_count == 1)
        return acquire->held_ns[0];
    if (not_held >= needed || acquire->held_count == 0)
        return 0;
    return acquire->held_ns[needed - not_held - 1];
}

/* Probe period while queued: it grows with the number of waiters ahead of us. For fair locks it
 * stays below a third of RL_FAIR_WAITER_MS, because a master drops a waiter that it has not
 * heard from for that long. */
static int64_t probe_ns(const struct rl_acquire *acquire, redlock *client)
{
    assert(acquire->place >= 0);
    bool fair = acquire->target.kind->wakeup == RL_WAKEUP_FAIR;
    int64_t most_ms = fair ? RL_FAIR_WAITER_MS / 4 : RL_PROBE_MAX_MS;
    int64_t ms = acquire->place < 4 * RL_PROBE_MAX_MS / RL_PROBE_MS
                     ? RL_PROBE_MS * (4 + acquire->place) / 4
                     : RL_PROBE_MAX_MS;
    if (ms > most_ms)
        ms = most_ms;
    return (ms + (int64_t)rl_prng_below(&client->prng, (uint64_t)ms / 4)) * RL_NS_PER_MS;
}

/* Has it been next after the same holder for a probe's time? Enough nodes must say so to deny
 * it a majority. Then that holder's release wakes it, or its key expires. */
static bool is_next(const struct rl_acquire *acquire, unsigned n, int64_t now_ns)
{
    return acquire->behind_count > n - rl_quorum_needed(n) &&
           now_ns - acquire->behind_since_ns >= RL_PROBE_MS * RL_NS_PER_MS;
}

bool rl_acquire_subscribers_alive(struct rl_acquire *acquire, int64_t now_ns)
{
    redlock *client = acquire->call.client;
    const struct rl_wait_queue *queue = acquire->waiter.queue;
    assert(acquire->phase == RL_ACQ_BACKOFF && !acquire->call.lease);
    if (now_ns < acquire->look_ns)
        return true;
    uint64_t heard =
        rl_subs_alive(client, now_ns - HEARD_NS) & rl_wait_queue_listening(client, queue);
    acquire->look_ns = now_ns + probe_ns(acquire, client);
    return queue && rl_count(heard & queue->queued) >= rl_quorum_needed(client->nodes.n);
}

/* Wake-ups of a majority prove the release on a majority. Fewer may be stray, or all that will
 * come. */
static int64_t grace_ns(redlock *client)
{
    int64_t trips = 2 * rl_nodes_round_trip_ns(&client->nodes, rl_all(client->nodes.n));
    return WAKE_GRACE_NS + trips +
           (int64_t)rl_prng_below(&client->prng, (uint64_t)(WAKE_GRACE_NS + trips));
}

int64_t rl_acquire_minority_wake_ns(const struct rl_acquire *acquire)
{
    const struct rl_wait_queue *queue = acquire->waiter.queue;
    assert(queue && queue->wakes);
    return rl_wait_queue_hint_ns(queue, queue->woken_ns + grace_ns(acquire->call.client));
}

bool rl_acquire_woken(const struct rl_acquire *acquire)
{
    assert(rl_wait_queue_is_first(&acquire->waiter));
    return rl_count(acquire->waiter.queue->wakes) >=
           rl_quorum_needed(acquire->call.client->nodes.n);
}

bool rl_acquire_will_be_woken(const struct rl_acquire *acquire, uint64_t silent)
{
    const redlock *client = acquire->call.client;
    const struct rl_wait_queue *queue = acquire->waiter.queue;
    assert((silent & ~rl_all(client->nodes.n)) == 0);
    uint64_t known = queue ? queue->queued | queue->wakes | silent : 0;
    uint64_t nodes = known & rl_wait_queue_listening(client, queue);
    return rl_count(nodes) >= rl_quorum_needed(client->nodes.n);
}

/* Would a majority of the nodes tell of a release? */
bool rl_acquire_majority_listening(const struct rl_acquire *acquire)
{
    const redlock *client = acquire->call.client;
    uint64_t nodes = rl_wait_queue_listening(client, acquire->waiter.queue);
    return rl_count(nodes) >= rl_quorum_needed(client->nodes.n);
}

/* Will a majority that has queued it wake it, even if one node fails? */
bool rl_acquire_others_will_wake(const struct rl_acquire *acquire)
{
    return acquire->probes && rl_acquire_will_be_woken(acquire, 0);
}

/* Others were refused by such a round, and its release wakes them. If their rounds are in vain
 * as well, they wake this one. So none of them may be begun by a wake-up alone. */
static int64_t calm_down_ns(struct rl_acquire *acquire, int64_t now_ns)
{
    acquire->probes = false;
    acquire->look_ns = INT64_MAX;
    acquire->calm_ns =
        now_ns + rl_backoff_calm_ns(&acquire->backoff, &acquire->call.client->prng);
    return acquire->calm_ns;
}

int64_t rl_acquire_sleep_until_ns(struct rl_acquire *acquire, const struct rl_defeat *defeat,
                                  int64_t now_ns)
{
    redlock *client = acquire->call.client;
    const struct rl_wait_queue *queue = acquire->waiter.queue;
    assert(acquire->phase == RL_ACQ_ROUND && !acquire->call.lease); /* it is lost */
    if (defeat->in_vain)
        return calm_down_ns(acquire, now_ns);
    int64_t free_at = free_at_ns(acquire, client->nodes.n);
    if (free_at != 0 && free_at <= now_ns) /* it was about to run out, or has done so since */
        free_at = now_ns + 1;
    bool queued = !defeat->split && !acquire->foreign_holder &&
                  acquire->loss == REDLOCK_EHELD &&
                  rl_acquire_will_be_woken(acquire, defeat->silent);
    if (queued && rl_acquire_woken(acquire))
        return now_ns;
    int64_t until = now_ns + (queued ? probe_ns(acquire, client)
                                     : rl_backoff_next_ns(&acquire->backoff, &client->prng));
    acquire->look_ns = INT64_MAX;
    if (queued && is_next(acquire, client->nodes.n, now_ns)) {
        acquire->look_ns = until;
        until = now_ns +
                (RL_PROBE_MAX_MS + (int64_t)rl_prng_below(&client->prng, RL_PROBE_MAX_MS / 4)) *
                    RL_NS_PER_MS;
    }
    if (queued && queue->wakes)
        until = rl_earlier_ns(until, rl_acquire_minority_wake_ns(acquire));
    if (queued && free_at > now_ns && acquire->place < INT64_MAX)
        free_at += acquire->place * PLACE_NS;
    acquire->probes = queued;
    if (free_at > now_ns && free_at < until)
        until = free_at + (int64_t)rl_prng_below(&client->prng, RL_RETRY_MIN_MS * RL_NS_PER_MS);
    return until;
}
