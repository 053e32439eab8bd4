/* lock.c - users' locks, and what is known of a lock without asking the masters. */
#include "config_auto.h"

#include "api/lock.h"

#include "engine/lease/lease.h"
#include "engine/enter.h"
#include "kinds/name_set.h"

#include <assert.h>
#include <stdlib.h>

struct redlock_lock *rl_lock_new(redlock *client)
{
    /* Reuse the lock that was freed first, so that stale pointers are detected for as long as
     * possible. */
    if (client->locks.free_count > RL_HANDLES_RESTING) {
        client->locks.free_count--;
        struct redlock_lock *spare =
            RL_ITEM(rl_list_pop(&client->locks.free), struct redlock_lock, free);
        assert(spare && !spare->lease && !spare->on_lost);
        return spare;
    }
    struct redlock_lock *lock = calloc(1, sizeof(*lock));
    if (lock) {
        lock->client = client;
        rl_list_push(&client->locks.all, &lock->all);
    }
    return lock;
}

void rl_lock_recycle(struct redlock_lock *lock)
{
    redlock *client = lock->client;
    assert(!lock->lease || lock->lease->lock != lock); /* the lease has let go of it */
    rl_shown_end(&lock->shown);
    lock->lease = NULL;
    rl_callback_remove(&client->callbacks, &lock->lost);
    lock->on_lost = NULL;
    atomic_store(&lock->lazy, false);
    atomic_store(&lock->fencing_token, 0);
    rl_list_append(&client->locks.free, &lock->free);
    client->locks.free_count++;
}

void rl_lock_give_up(struct rl_lease *lease, int64_t now_ns)
{
    assert(!lease->lock && !lease->call);
    if (lease->hold.phase == RL_HOLD_HELD)
        rl_lease_release(lease, now_ns, 0);
    else
        rl_lease_orphan(lease, now_ns);
}

static void unkeep(struct rl_lease *lease)
{
    if (lease->hold.kept)
        lease->wakes_nobody = false;
    rl_hold_unkeep(&lease->hold);
}

void rl_lock_unkeep(redlock_lock *lock)
{
    int cancel_state;
    if (!lock || rl_client_enter(lock->client, &cancel_state) != REDLOCK_OK)
        return;
    if (lock->lease)
        unkeep(lock->lease);
    rl_client_leave(lock->client, cancel_state);
}

int rl_lock_undo(redlock_lock *lock)
{
    rl_lock_unkeep(lock);
    return redlock_release(lock);
}

/* R10: The order matters (struct rl_shown): the deadline first, then the clock, then its
 * epoch. */
int64_t redlock_validity_ms(const redlock_lock *lock)
{
    if (!lock)
        return 0;
    struct rl_shown *shown = &((redlock_lock *)(uintptr_t)lock)->shown;
    int64_t deadline_ns = rl_shown_deadline_ns(shown);
    while (deadline_ns != 0 && !rl_forked(&lock->client->identity.fork_check)) {
        int64_t left_ms = rl_validity_left_ms(deadline_ns, rl_client_now_ns(lock->client));
        bool timed = rl_shown_timed(shown, rl_clock_epoch(&lock->client->clock));
        if (timed && left_ms > 0)
            return left_ms;
        if (rl_shown_expire(shown, &deadline_ns))
            break;
    }
    return 0;
}

const char *redlock_token(const redlock_lock *lock)
{
    return lock && lock->lease ? lock->lease->token : "";
}

uint64_t redlock_fencing_token(const redlock_lock *lock)
{
    return lock ? atomic_load(&((redlock_lock *)(uintptr_t)lock)->fencing_token) : 0;
}

const char *redlock_name_at(const redlock_lock *lock, size_t index, size_t *ret_len)
{
    redlock_bytes name = {.bytes = "", .len = 0};
    size_t at = 0;
    for (size_t i = 0; lock && lock->lease && i <= index; i++) {
        if (!rl_names_next(&lock->lease->target, &at, &name)) {
            name = (redlock_bytes){.bytes = "", .len = 0};
            break;
        }
    }
    if (ret_len)
        *ret_len = name.len;
    return name.bytes;
}

size_t redlock_name_count(const redlock_lock *lock)
{
    return lock && lock->lease ? rl_names_count(&lock->lease->target) : 0;
}

int rl_lock_check(const struct redlock_lock *lock)
{
    if (!lock->lease)
        return REDLOCK_ENOTHELD;
    assert(lock->lease->lock == lock && !lock->lease->detached);
    return lock->lease->call ? REDLOCK_EBUSY : 0;
}
