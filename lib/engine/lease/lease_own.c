/* lease_own.c - finds leases of an owner by name: does the owner already have a lock of that
 * name through this client? Each refusal asks this, so it must be fast with many leases. */
#include "config_auto.h"

#include "engine/lease/lease_parts.h"

#include <assert.h>
#include <string.h>

int rl_leases_reserve_name(struct rl_leases *leases, const struct rl_kind *kind)
{
    return rl_kind_owned(kind) ? rl_hash_reserve(&leases->named) : 0;
}

static uint64_t hash_of(const struct rl_leases *leases, const struct rl_target *target)
{
    return rl_hash_of(&leases->named, target->name, target->name_len);
}

void rl_lease_add_name(struct rl_lease *lease)
{
    assert(!lease->releasing && !lease->spare); /* only open ones are found */
    if (rl_kind_owned(lease->target.kind))
        rl_hash_add(&lease->client->leases.named, &lease->named,
                    hash_of(&lease->client->leases, &lease->target));
}

void rl_lease_remove_name(struct rl_lease *lease)
{
    assert(!lease->releasing); /* else it was removed before */
    if (rl_kind_owned(lease->target.kind))
        rl_hash_remove(&lease->client->leases.named, &lease->named);
}

static bool has_name(const struct rl_lease *lease, const struct rl_target *target,
                     int64_t now_ns)
{
    const struct rl_target *has = &lease->target;
    return lease->hold.phase == RL_HOLD_HELD && !rl_lease_over(lease, now_ns) &&
           has->name_len == target->name_len &&
           memcmp(has->name, target->name, target->name_len) == 0;
}

static bool has_owner(const struct rl_lease *lease, const struct rl_target *target)
{
    const struct rl_target *has = &lease->target;
    return has->owner_len == target->owner_len &&
           memcmp(has->owner, target->owner, target->owner_len) == 0;
}

/* Is it held, under the target's name and for its owner? */
static bool is_own(const struct rl_lease *lease, const struct rl_target *target, int64_t now_ns)
{
    return has_name(lease, target, now_ns) && has_owner(lease, target);
}

bool rl_leases_exclude(const struct rl_leases *leases, const struct rl_target *target,
                       int64_t now_ns)
{
    unsigned row = rl_kind_row(target->kind);
    if (row == RL_ROW_READ || row == RL_ROW_QREAD)
        return false;
    RL_EACH (const struct rl_lease, lease, &leases->open, entry) {
        if (lease->target.kind == target->kind && !lease->detached &&
            has_name(lease, target, now_ns) &&
            !(rl_kind_owned(target->kind) && has_owner(lease, target)))
            return true;
    }
    return false;
}

/* The first one from this entry on; NULL: there is none. */
static const struct rl_lease *own_from(struct rl_hashed *entry, const struct rl_target *target,
                                       int64_t now_ns)
{
    for (; entry; entry = rl_hash_next(entry)) {
        const struct rl_lease *lease = RL_ITEM(entry, struct rl_lease, named);
        if (is_own(lease, target, now_ns))
            return lease;
    }
    return NULL;
}

static const struct rl_lease *first_own(const struct rl_leases *leases,
                                        const struct rl_target *target, int64_t now_ns)
{
    assert(target->kind && target->name_len > 0);
    if (!rl_kind_owned(target->kind))
        return NULL;
    return own_from(rl_hash_find(&leases->named, hash_of(leases, target)), target, now_ns);
}

bool rl_leases_owner_reads(const struct rl_leases *leases, const struct rl_target *target,
                           int64_t now_ns)
{
    const struct rl_lease *lease = first_own(leases, target, now_ns);
    for (; lease; lease = own_from(rl_hash_next(&lease->named), target, now_ns)) {
        unsigned row = rl_kind_row(lease->target.kind);
        if (row == RL_ROW_READ || row == RL_ROW_QREAD)
            return true;
    }
    return false;
}

uint64_t rl_lease_fencing_token(const struct rl_lease *lease, int64_t now_ns)
{
    uint64_t token = lease->hold.fence.token;
    assert(lease->hold.phase == RL_HOLD_HELD && lease->lock);
    assert(!lease->hold.fence.wanted || token > 0);
    const struct rl_lease *own = first_own(&lease->client->leases, &lease->target, now_ns);
    for (; token && own; own = own_from(rl_hash_next(&own->named), &lease->target, now_ns)) {
        uint64_t before = own->lock ? atomic_load(&own->lock->fencing_token) : 0;
        if (before > 0 && before < token)
            token = before;
    }
    return token;
}

bool rl_leases_owner_holds(const struct rl_leases *leases, const struct rl_target *target,
                           int64_t now_ns)
{
    return first_own(leases, target, now_ns) != NULL;
}
