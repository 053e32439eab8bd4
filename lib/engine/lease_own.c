/* lease_own.c - has an owner a lock of that name by this client? Asked at each refusal, so
 * those that are asked for or held are found by their names, however many there are. */
#include "config_auto.h"

#include "engine/lease_parts.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define SIZE_MIN 16

static struct rl_claim **bucket_of(struct rl_claim **named, size_t size,
                                   const struct rl_target *target)
{
    return &named[rl_hash(target->name, target->name_len) & (size - 1)];
}

int rl_claims_reserve_name(redlock *client, const struct rl_kind *kind)
{
    if (!rl_kind_owned(kind) || client->leases.named_count < client->leases.named_size)
        return 0;
    size_t size = client->leases.named_size ? 2 * client->leases.named_size : SIZE_MIN;
    struct rl_claim **named = calloc(size, sizeof(struct rl_claim *));
    if (!named)
        return REDLOCK_ENOMEM;
    for (size_t i = 0; i < client->leases.named_size; i++) {
        for (struct rl_claim *claim = client->leases.named[i], *next; claim; claim = next) {
            struct rl_claim **at = bucket_of(named, size, &claim->target);
            next = claim->named_next;
            claim->named_next = *at;
            *at = claim;
        }
    }
    free(client->leases.named);
    client->leases.named = named;
    client->leases.named_size = size;
    return 0;
}

void rl_claim_name(struct rl_claim *claim)
{
    redlock *client = claim->client;
    if (!rl_kind_owned(claim->target.kind))
        return;
    struct rl_claim **at =
        bucket_of(client->leases.named, client->leases.named_size, &claim->target);
    claim->named_next = *at;
    *at = claim;
    claim->named = true;
    client->leases.named_count++;
}

void rl_claim_unname(struct rl_claim *claim)
{
    redlock *client = claim->client;
    if (!claim->named)
        return;
    struct rl_claim **at =
        bucket_of(client->leases.named, client->leases.named_size, &claim->target);
    while (*at != claim)
        at = &(*at)->named_next;
    *at = claim->named_next;
    claim->named = false;
    client->leases.named_count--;
}

void rl_claims_forget_names(redlock *client)
{
    free(client->leases.named);
    client->leases.named = NULL;
    client->leases.named_size = client->leases.named_count = 0;
}

/* Is it held, under the target's name and for its owner? */
static bool is_own(const struct rl_claim *claim, const struct rl_target *target, int64_t now_ns)
{
    const struct rl_target *has = &claim->target;
    return claim->hold.phase == RL_HOLD_HELD && !rl_hold_over(&claim->hold, now_ns) &&
           has->name_len == target->name_len && has->owner_len == target->owner_len &&
           memcmp(has->name, target->name, target->name_len) == 0 &&
           memcmp(has->owner, target->owner, target->owner_len) == 0;
}

/* The first one from `claim` on in its bucket; NULL: there is none. */
static const struct rl_claim *next_own(const struct rl_claim *claim,
                                       const struct rl_target *target, int64_t now_ns)
{
    while (claim && !is_own(claim, target, now_ns))
        claim = claim->named_next;
    return claim;
}

static const struct rl_claim *first_own(const redlock *client, const struct rl_target *target,
                                        int64_t now_ns)
{
    if (!rl_kind_owned(target->kind) || client->leases.named_count == 0)
        return NULL;
    return next_own(*bucket_of(client->leases.named, client->leases.named_size, target), target,
                    now_ns);
}

bool rl_claims_read(const redlock *client, const struct rl_target *target, int64_t now_ns)
{
    const struct rl_claim *claim = first_own(client, target, now_ns);
    for (; claim; claim = next_own(claim->named_next, target, now_ns)) {
        unsigned row = rl_kind_row(claim->target.kind);
        if (row == RL_ROW_READ || row == RL_ROW_QREAD)
            return true;
    }
    return false;
}

bool rl_claims_own(const redlock *client, const struct rl_target *target, int64_t now_ns)
{
    return first_own(client, target, now_ns) != NULL;
}
