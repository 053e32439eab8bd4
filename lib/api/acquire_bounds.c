/* acquire_bounds.c - the beginning and end of a try: its place in a queue, its last moment, and
 * its result. */
#include "config_auto.h"

#include "api/acquire.h"
#include "api/lock.h"
#include "api/try.h"

#include <assert.h>

int rl_acquire_enqueue(struct rl_acquire *acquire, int64_t now_ns)
{
    struct rl_wait_queues *queues = &acquire->call.client->wait_queues;
    return rl_wait_queue_join(queues, &acquire->waiter, &acquire->target, now_ns);
}

int64_t rl_acquire_yields_until_ns(const struct rl_acquire *acquire)
{
    const struct rl_wait_queues *queues = &acquire->call.client->wait_queues;
    return acquire->waiter.queue ? rl_wait_queue_yields_until_ns(queues, &acquire->target) : 0;
}

/* Join the name's queue before the first round, if there is one or subscribers of a majority
 * work. So a refused first round has entered the nodes' queues already. A try with an owner
 * asks first, because its owner may hold the lock, and waiters may wait for that owner. */
int rl_acquire_join_queue(struct rl_acquire *acquire, int64_t now_ns)
{
    redlock *client = acquire->call.client;
    const struct rl_kind *kind = acquire->target.kind;
    bool joins = kind->queues_at_once;
    assert(acquire->phase == RL_ACQ_CONNECTING && !acquire->waiter.queue);
    if (acquire->try_once)
        return 0;
    if (!rl_kind_owned(kind))
        joins = rl_count(client->subs.listening) >= rl_quorum_needed(client->nodes.n) ||
                rl_wait_queue_find(&client->wait_queues, &acquire->target);
    return joins ? rl_acquire_enqueue(acquire, now_ns) : 0;
}

/* When the try must end. One that asks once must not outlast the others of its group. */
int64_t rl_acquire_last_ns(const struct rl_acquire *acquire, int64_t now_ns)
{
    int64_t wait_ms = acquire->options.wait_ms;
    if (acquire->try_once && acquire->group)
        return acquire->group->left_ns == INT64_MAX ? INT64_MAX
                                                    : now_ns + acquire->group->left_ns;
    if (acquire->try_once || acquire->wait_forever)
        return INT64_MAX;
    assert(wait_ms > 0);
    if (wait_ms > RL_DURATION_MAX_MS)
        return INT64_MAX / 2; /* no overflow when connecting is added */
    return now_ns + wait_ms * RL_NS_PER_MS;
}

size_t rl_group_canceled(const struct rl_group *group)
{
    assert(group && group->count > 0);
    size_t i = 0;
    while (i < group->count && !atomic_load(&group->clients[i]->calls.canceled))
        i++;
    return i;
}

bool rl_acquire_ended(const struct rl_call *call)
{
    const struct rl_acquire *acquire = (const struct rl_acquire *)call;
    assert(acquire->group && !call->done);
    return rl_group_canceled(acquire->group) < acquire->group->count;
}

/* An acquired lock may have expired while the caller's thread did not run. */
int rl_acquire_conclude(struct rl_call *call, redlock_lock **ret_lock)
{
    struct rl_acquire *acquire = rl_acquire_of(call);
    struct redlock_lock *lock = acquire->lock;
    struct rl_lease *lease = call->lease;
    int result = call->result;
    assert(call->done && lock && !lock->lease);
    if (result == REDLOCK_OK) {
        int64_t now_ns = rl_client_now_ns(call->client);
        assert(lease && lease->lock == lock && !lease->call);
        lock->lease = lease;
        if (!rl_lease_over(lease, now_ns)) {
            *ret_lock = lock;
            return REDLOCK_OK;
        }
        result = REDLOCK_ENOQUORUM;
        lease->lock = NULL;
        rl_hold_unkeep(&lease->hold); /* nobody was given it */
        rl_lock_give_up(lease, now_ns);
    }
    rl_lock_recycle(lock);
    return result;
}
