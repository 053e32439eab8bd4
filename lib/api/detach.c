/* detach.c - hands a lock to another process of this host, as text (handle_text.h). */
#include "config_auto.h"

#include "api/try.h"
#include "api/lock.h"
#include "config/list_mark.h"
#include "engine/engine.h"
#include "engine/lease/lease.h"
#include "engine/enter.h"
#include "kinds/handle_text.h"
#include "kinds/key_rules.h"
#include "kinds/name_set.h"

#include <assert.h>
#include <string.h>

/* Why a text can't be attached. */
#define GIVE_WHOLE "give the whole text of a lock that was handed out"
#define NO_HANDLE                                                                              \
    "the text is no handle, or not all of one, or of another version: " GIVE_WHOLE
#define NOT_TIMED                                                                              \
    "the handle is of another boot or clock, or lasts beyond max-ttl: attach it where the "    \
    "lock was taken, with its node list"
#define TOO_LONG                                                                               \
    "the handle's lock has a longer ttl than this node list allows (max-ttl): attach it with " \
    "the node list that it was taken with"

static void marks_of(const redlock *client, uint32_t ret_marks[REDLOCK_NODES_MAX])
{
    for (unsigned i = 0; i < client->nodes.n; i++)
        ret_marks[i] = rl_node_mark(client->nodes.all[i].config);
}

/* A text has times of the kernel's clock, because other processes do not know the client's. */
static int encode(redlock *client, const redlock_lock *lock, int64_t deadline_ns,
                  char *ret_text, size_t size)
{
    const struct rl_lease *lease = lock->lease;
    struct rl_handle handle = {
        .kind = (int)rl_kind_row(lease->target.kind),
        .n = client->nodes.n,
        .clock_offset = client->identity.clock_offset,
        .written_ns = rl_clock_kernel_ns(rl_client_now_ns(client), lease->clock_epoch),
        .deadline_ns = rl_clock_kernel_ns(deadline_ns, lease->clock_epoch),
        .keep_until_ns = lease->hold.keep_until_ns > 0
                             ? rl_clock_kernel_ns(lease->hold.keep_until_ns, lease->clock_epoch)
                             : 0,
        .ttl_ms = lease->hold.ttl_ns / RL_NS_PER_MS,
        .fencing_token = redlock_fencing_token(lock),
        .token_len = lease->token_len,
        .name_len = lease->target.name_len,
        .owner_len = rl_kind_owned(lease->target.kind) ? lease->target.owner_len : 0,
    };
    assert(lease->token_len < sizeof(handle.token) && handle.owner_len < sizeof(handle.owner));
    assert(lease->target.name_len < sizeof(handle.name));
    memcpy(handle.boot_id, client->identity.boot_id, sizeof(handle.boot_id));
    memcpy(handle.token, lease->token, lease->token_len + 1);
    memcpy(handle.name, lease->target.name, lease->target.name_len);
    if (handle.owner_len > 0)
        memcpy(handle.owner, lease->target.owner, handle.owner_len);
    marks_of(client, handle.mark);
    return rl_handle_encode(&handle, ret_text, size);
}

/* Write the text of a valid handle, or return why it is not valid. After redlock_handle() the
 * lock is still renewed and watched here, and may be given up before its keys expire. */
static int handle_text(redlock *client, const redlock_lock *lock, bool detaches, char *ret_text,
                       size_t size)
{
    const struct rl_lease *lease = lock->lease;
    if (!lease)
        return REDLOCK_ENOTHELD;
    assert(lease->lock == lock && !lease->detached);
    if (redlock_validity_ms(lock) == 0)
        return REDLOCK_EEXPIRED;
    int result =
        encode(client, lock, detaches ? lease->hold.deadline_ns : rl_lease_deadline_ns(lease),
               ret_text, size);
    if (result == REDLOCK_EINVAL)
        rl_client_log(client, REDLOCK_LOG_ERROR,
                      "the handle does not fit into %zu bytes: give ret_text "
                      "REDLOCK_HANDLE_MAX (%d)",
                      size, REDLOCK_HANDLE_MAX);
    return result;
}

static void detach(redlock_lock *lock, int64_t now_ns)
{
    struct rl_lease *lease = lock->lease;
    assert(lease->lock == lock && !lease->releasing);
    lease->detached = true;
    lease->lock = NULL;
    rl_renewal_end(lease);
    rl_lock_recycle(lock);
    rl_lease_free_if_settled(lease, now_ns);
}

static int hand_out(redlock_lock *lock, bool detaches, char *ret_text, size_t size)
{
    int cancel_state;
    if (!lock)
        return REDLOCK_EINVAL;
    redlock *client = lock->client;
    if (!ret_text)
        return rl_client_refuse(client, "there is no place for the handle: ret_text is NULL");
    int result = rl_client_enter(client, &cancel_state);
    if (result)
        return result;
    if (detaches)
        result = rl_lock_check(lock);
    if (result == REDLOCK_OK)
        result = handle_text(client, lock, detaches, ret_text, size);
    if (result == REDLOCK_OK && detaches)
        detach(lock, rl_client_now_ns(client));
    rl_client_leave(client, cancel_state);
    return result;
}

int redlock_handle(const redlock_lock *lock, char *ret_text, size_t size)
{
    return hand_out((redlock_lock *)(uintptr_t)lock, false, ret_text, size);
}

int redlock_detach(redlock_lock *lock, char *ret_text, size_t size)
{
    return hand_out(lock, true, ret_text, size);
}

/* May a lock that was written then have a time that ends there? */
static bool may_end(const redlock *client, const struct rl_handle *handle, int64_t end_ns,
                    int64_t kernel_ns)
{
    return rl_validity_credible(handle->written_ns, end_ns,
                                client->config.max_ttl_ms * RL_NS_PER_MS, kernel_ns,
                                client->identity.texts_since_ns);
}

/* Are the handle's times of this client's clock, and can they be true? */
static bool is_timed(const redlock *client, const struct rl_handle *handle, int64_t kernel_ns)
{
    return strcmp(handle->boot_id, client->identity.boot_id) == 0 &&
           handle->clock_offset == client->identity.clock_offset &&
           may_end(client, handle, handle->deadline_ns, kernel_ns) &&
           may_end(client, handle, handle->keep_until_ns, kernel_ns);
}

/* Is the handle of this client's masters? A majority must have the same names in both lists; a
 * minority may be listed under other names. */
static bool is_of_masters(redlock *client, const struct rl_handle *handle)
{
    uint32_t marks[REDLOCK_NODES_MAX];
    unsigned shared;
    marks_of(client, marks);
    if (handle->n != client->nodes.n)
        rl_client_log(
            client, REDLOCK_LOG_ERROR,
            "the handle is of a lock on %u masters, and this node list has %u: attach "
            "it with the node list that the lock was taken with",
            handle->n, client->nodes.n);
    else if ((shared = rl_handle_shared(handle, marks, client->nodes.n)) <
             rl_quorum_needed(client->nodes.n))
        rl_client_log(client, REDLOCK_LOG_ERROR,
                      "the handle is of a lock on other masters, only %u of its %u are in this "
                      "node list: attach it with the node list that the lock was taken with",
                      shared, handle->n);
    else
        return true;
    return false;
}

/* The log says why; the text itself is a secret, and not shown. */
static int no_handle(redlock *client, const char *why)
{
    rl_client_wrong(client, why);
    return REDLOCK_EHANDLE;
}

/* May a lock have the names and the owner of this target? */
static bool may_be_held(redlock *client, const struct rl_target *target)
{
    char why[RL_NAME_WHY_MAX];
    const char *clash =
        rl_names_allowed(target, why, sizeof(why)) ? rl_key_owner_clash(target) : why;
    if (!clash)
        clash = rl_key_format_clash(target->kind, client->nodes.n, target->name,
                                    target->name_len);
    if (clash)
        rl_client_log(client, REDLOCK_LOG_ERROR, "%s", clash);
    return !clash;
}

/* R21: With the time until which others are kept out. */
static int attach(redlock *client, const struct rl_handle *handle, redlock_lock **ret_lock)
{
    struct rl_lease *lease;
    struct rl_target target = {
        .kind = rl_kind(handle->kind),
        .name = handle->name,
        .name_len = handle->name_len,
        .owner = handle->owner,
        .owner_len = handle->owner_len,
    };
    int64_t epoch = rl_clock_epoch(&client->clock);
    int64_t now_ns = rl_client_now_ns(client);
    rl_engine_see_to_clock(client, now_ns);
    if (!is_of_masters(client, handle))
        return REDLOCK_EHANDLE;
    if (!is_timed(client, handle, rl_clock_kernel_ns(now_ns, epoch)))
        return no_handle(client, NOT_TIMED);
    if (handle->ttl_ms > rl_client_max_ttl_ms(&client->config, target.kind))
        return no_handle(client, TOO_LONG);
    if (!may_be_held(client, &target))
        return REDLOCK_EINVAL;
    int64_t deadline_ns = rl_clock_own_ns(handle->deadline_ns, epoch);
    if (rl_validity_over(deadline_ns, now_ns))
        return REDLOCK_EEXPIRED;
    struct redlock_lock *lock = rl_lock_new(client);
    if (!lock)
        return REDLOCK_ENOMEM;
    int result = rl_lease_new(client, &target, handle->token, &lease);
    if (result) {
        rl_lock_recycle(lock);
        return result;
    }
    rl_hold_init_attached(&lease->hold, client->nodes.n, handle->ttl_ms * RL_NS_PER_MS,
                          client->config.drift_factor, deadline_ns);
    rl_hold_set_lock_delay(&lease->hold, client->config.lock_delay_ms * RL_NS_PER_MS);
    if (handle->keep_until_ns > 0)
        rl_hold_set_keep_until(&lease->hold, rl_clock_own_ns(handle->keep_until_ns, epoch));
    lease->hold.fence.wanted = handle->fencing_token > 0;
    lease->hold.fence.token = handle->fencing_token;
    lease->clock_epoch = epoch;
    lease->hold.several = target.kind->several;
    lease->lock = lock;
    lock->lease = lease;
    atomic_store(&lock->fencing_token, handle->fencing_token);
    rl_shown_begin(&lock->shown, deadline_ns, epoch);
    rl_account_begin(lease, false, now_ns);
    *ret_lock = lock;
    return REDLOCK_OK;
}

int redlock_attach(redlock *client, const char *text, redlock_lock **ret_lock)
{
    struct rl_handle handle;
    int cancel_state;
    if (!text || !ret_lock)
        return rl_client_refuse(client, text ? RL_NO_RET_LOCK : "text is NULL: " GIVE_WHOLE);
    int result = rl_client_enter(client, &cancel_state);
    if (result)
        return result;
    if (rl_handle_decode(text, &handle) == REDLOCK_OK)
        result = attach(client, &handle, ret_lock);
    else
        result = no_handle(client, NO_HANDLE);
    rl_client_leave(client, cancel_state);
    return result;
}
