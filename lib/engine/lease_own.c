/* lease_own.c - has an owner a lock of that name by this client? Asked at each refusal, so
 * those that are asked for or held are found by their names, however many there are. */
#include "config_auto.h"

#include "engine/lease_parts.h"

#include "base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MIN 16

static struct rl_lease **bucket_of(struct rl_lease **named, size_t size,
                                   const struct rl_target *target)
{
    assert(size > 0 && (size & (size - 1)) == 0);
    return &named[rl_hash(target->name, target->name_len) & (size - 1)];
}

int rl_leases_reserve_name(redlock *client, const struct rl_kind *kind)
{
    if (!rl_kind_owned(kind) || client->leases.named_count < client->leases.named_size)
        return 0;
    size_t size = client->leases.named_size ? 2 * client->leases.named_size : SIZE_MIN;
    struct rl_lease **named = calloc(size, sizeof(struct rl_lease *));
    if (!named)
        return REDLOCK_ENOMEM;
    for (size_t i = 0; i < client->leases.named_size; i++) {
        for (struct rl_lease *lease = client->leases.named[i], *next; lease; lease = next) {
            struct rl_lease **at = bucket_of(named, size, &lease->target);
            next = lease->named_next;
            lease->named_next = *at;
            *at = lease;
        }
    }
    free(client->leases.named);
    client->leases.named = named;
    client->leases.named_size = size;
    return 0;
}

void rl_lease_add_name(struct rl_lease *lease)
{
    redlock *client = lease->client;
    if (!rl_kind_owned(lease->target.kind))
        return;
    assert(!lease->named && client->leases.named_count < client->leases.named_size);
    struct rl_lease **at =
        bucket_of(client->leases.named, client->leases.named_size, &lease->target);
    lease->named_next = *at;
    *at = lease;
    lease->named = true;
    client->leases.named_count++;
}

void rl_lease_remove_name(struct rl_lease *lease)
{
    redlock *client = lease->client;
    if (!lease->named)
        return;
    struct rl_lease **at =
        bucket_of(client->leases.named, client->leases.named_size, &lease->target);
    assert(client->leases.named_count > 0);
    while (*at != lease)
        at = &(*at)->named_next;
    *at = lease->named_next;
    lease->named = false;
    client->leases.named_count--;
}

void rl_leases_free_names(redlock *client)
{
    free(client->leases.named);
    client->leases.named = NULL;
    client->leases.named_size = client->leases.named_count = 0;
}

/* Is it held, under the target's name and for its owner? */
static bool is_own(const struct rl_lease *lease, const struct rl_target *target, int64_t now_ns)
{
    const struct rl_target *has = &lease->target;
    return lease->hold.phase == RL_HOLD_HELD && !rl_hold_over(&lease->hold, now_ns) &&
           has->name_len == target->name_len && has->owner_len == target->owner_len &&
           memcmp(has->name, target->name, target->name_len) == 0 &&
           memcmp(has->owner, target->owner, target->owner_len) == 0;
}

/* The first one from `lease` on in its bucket; NULL: there is none. */
static const struct rl_lease *next_own(const struct rl_lease *lease,
                                       const struct rl_target *target, int64_t now_ns)
{
    while (lease && !is_own(lease, target, now_ns))
        lease = lease->named_next;
    return lease;
}

static const struct rl_lease *first_own(const redlock *client, const struct rl_target *target,
                                        int64_t now_ns)
{
    if (!rl_kind_owned(target->kind) || client->leases.named_count == 0)
        return NULL;
    return next_own(*bucket_of(client->leases.named, client->leases.named_size, target), target,
                    now_ns);
}

bool rl_leases_owner_reads(const redlock *client, const struct rl_target *target,
                           int64_t now_ns)
{
    const struct rl_lease *lease = first_own(client, target, now_ns);
    for (; lease; lease = next_own(lease->named_next, target, now_ns)) {
        unsigned row = rl_kind_row(lease->target.kind);
        if (row == RL_ROW_READ || row == RL_ROW_QREAD)
            return true;
    }
    return false;
}

bool rl_leases_owner_holds(const redlock *client, const struct rl_target *target,
                           int64_t now_ns)
{
    return first_own(client, target, now_ns) != NULL;
}
