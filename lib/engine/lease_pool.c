/* lease_pool.c - claims made and put away, and the two lists they are in meanwhile. */
#include "config_auto.h"

#include "engine/lease_parts.h"

#include "base/entropy.h"
#include "base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Random bytes are drawn by the pool, since one draw costs about as much as many. */
static int draw(redlock *client, unsigned char ret[RL_TOKEN_RANDOM_BYTES])
{
    if (client->leases.random_left < RL_TOKEN_RANDOM_BYTES) {
        int result = rl_entropy_bytes(client->leases.random, sizeof(client->leases.random));
        if (result)
            return result;
        client->leases.random_left = sizeof(client->leases.random);
    }
    client->leases.random_left -= RL_TOKEN_RANDOM_BYTES;
    unsigned char *from = client->leases.random + client->leases.random_left;
    memcpy(ret, from, RL_TOKEN_RANDOM_BYTES);
    memset(from, 0, RL_TOKEN_RANDOM_BYTES); /* no byte is ever used twice */
    return 0;
}

/* 32 hex digits that are random, a colon, and who we are, for people who look. */
static int make_token(struct rl_claim *claim)
{
    unsigned char bytes[RL_TOKEN_RANDOM_BYTES];
    int result = draw(claim->client, bytes);
    if (result)
        return result;
    char *at = rl_put_hex(claim->token, bytes, sizeof(bytes));
    *at++ = ':';
    size_t holder_len = strlen(claim->client->identity.holder);
    memcpy(at, claim->client->identity.holder, holder_len + 1);
    claim->token_len = (size_t)(at - claim->token) + holder_len;
    return 0;
}

static void put_spare(redlock *client, struct rl_claim *claim)
{
    claim->next = client->leases.spare;
    client->leases.spare = claim;
}

static struct rl_claim *take_spare(redlock *client, size_t size)
{
    struct rl_claim *claim = client->leases.spare;
    if (claim)
        client->leases.spare = claim->next;
    else
        claim = calloc(1, sizeof(*claim));
    if (!claim)
        return NULL;
    if (claim->bytes_size < size) {
        char *bytes = realloc(claim->bytes, size);
        if (!bytes) {
            put_spare(client, claim);
            return NULL;
        }
        claim->bytes = bytes;
        claim->bytes_size = size;
    }
    return claim;
}

/* The target's bytes, kept for as long as the claim is. */
static void keep_target(struct rl_claim *claim, const struct rl_target *target)
{
    char *owner = claim->bytes + target->name_len + 1;
    claim->target = *target;
    memcpy(claim->bytes, target->name, target->name_len);
    claim->bytes[target->name_len] = '\0';
    if (target->owner_len > 0)
        memcpy(owner, target->owner, target->owner_len);
    owner[target->owner_len] = '\0';
    claim->target.name = claim->bytes;
    claim->target.owner = owner;
}

static void list(struct rl_claim *claim, struct rl_claim **head)
{
    claim->prev = NULL;
    claim->next = *head;
    if (claim->next)
        claim->next->prev = claim;
    *head = claim;
}

static void unlist(struct rl_claim *claim)
{
    redlock *client = claim->client;
    rl_claim_unname(claim);
    if (claim->prev)
        claim->prev->next = claim->next;
    else if (claim->ends)
        client->leases.ending = claim->next;
    else
        client->leases.open = claim->next;
    if (claim->next)
        claim->next->prev = claim->prev;
}

/* Its hold has come to its end: what is left is to be rid of its keys. */
void rl_claim_ends(struct rl_claim *claim)
{
    assert(!claim->ends);
    unlist(claim);
    claim->ends = true;
    if (claim->silent && rl_round_verdict(&claim->hold.ask) == RL_WON)
        claim->silent = false; /* it was held: whoever refused it did not have it */
    list(claim, &claim->client->leases.ending);
    claim->client->leases.ending_count++;
}

int rl_claim_take(redlock *client, const struct rl_target *target, const char *token,
                  struct rl_claim **ret_claim)
{
    if (client->leases.ending_count >= RL_PENDING_RELEASES_MAX)
        return REDLOCK_EBUSY;
    struct rl_claim *claim = take_spare(client, target->name_len + target->owner_len + 2);
    if (!claim)
        return REDLOCK_ENOMEM;
    *claim = (struct rl_claim){
        .client = client,
        .clock_epoch = rl_clock_epoch(&client->clock),
        .bytes = claim->bytes,
        .bytes_size = claim->bytes_size,
        .budget_ns = RL_ROUND_MIN_NS,
    };
    keep_target(claim, target);
    int result = rl_claims_reserve_name(client, target->kind);
    if (result == 0)
        result = rl_timers_reserve(&client->loop.timers);
    if (result) {
        put_spare(client, claim);
        return result;
    }
    if (token) {
        claim->token_len = strlen(token);
        memcpy(claim->token, token, claim->token_len + 1);
    } else {
        result = make_token(claim);
    }
    if (result) {
        rl_timers_unreserve(&client->loop.timers);
        put_spare(client, claim);
        return result;
    }
    list(claim, &client->leases.open);
    rl_claim_name(claim);
    *ret_claim = claim;
    return 0;
}

static void put_away(struct rl_claim *claim, int64_t now_ns)
{
    redlock *client = claim->client;
    assert(!claim->spare);
    claim->spare = true;
    if (!claim->query && rl_hold_expired_unreleased(&claim->hold, now_ns))
        client->stats.abandoned_releases++;
    rl_watch_end(claim);
    client->leases.ending_count -= claim->ends;
    unlist(claim);
    rl_timer_set(&client->loop.timers, &claim->timer, INT64_MAX);
    rl_timers_unreserve(&client->loop.timers);
    put_spare(client, claim);
}

void rl_claim_let_go(struct rl_claim *claim, int64_t now_ns)
{
    if (claim->op || claim->lock || claim->owed > 0 || claim->busy > 0)
        return;
    if (claim->query || claim->detached || claim->hold.phase == RL_HOLD_NEW ||
        rl_hold_settled(&claim->hold, now_ns))
        put_away(claim, now_ns);
}

void rl_claim_hear(struct rl_claim *claim, struct rl_node *node, enum rl_verb verb,
                   const struct rl_judged *judged)
{
    if (claim->op && claim->op->heard)
        claim->op->heard(claim->op, node, verb, judged);
}

void rl_claim_enter(struct rl_claim *claim)
{
    claim->busy++;
    if (rl_claim_untimed(claim))
        rl_hold_distrust(&claim->hold);
}

void rl_claim_leave(struct rl_claim *claim, int64_t now_ns)
{
    assert(claim->busy > 0);
    claim->busy--;
    rl_claim_let_go(claim, now_ns);
}

void rl_claims_free(redlock *client)
{
    struct rl_claim *lists[] = {client->leases.open, client->leases.ending,
                                client->leases.spare};
    for (unsigned i = 0; i < 3; i++) {
        while (lists[i]) {
            struct rl_claim *claim = lists[i];
            lists[i] = claim->next;
            free(claim->bytes);
            free(claim);
        }
    }
    client->leases.open = client->leases.ending = client->leases.spare = NULL;
    rl_claims_forget_names(client);
}
