/* lease_pool.c - makes and frees leases, and keeps the two lists of them. */
#include "config_auto.h"

#include "engine/lease/lease_parts.h"

#include "base/entropy.h"
#include "base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Random bytes are drawn by the pool, since one draw costs about as much as many. */
static int draw(struct rl_leases *leases, unsigned char ret[RL_TOKEN_RANDOM_BYTES])
{
    assert(leases->random_left <= sizeof(leases->random));
    if (leases->random_left < RL_TOKEN_RANDOM_BYTES) {
        int result = rl_entropy_bytes(leases->random, sizeof(leases->random));
        if (result)
            return result;
        leases->random_left = sizeof(leases->random);
    }
    leases->random_left -= RL_TOKEN_RANDOM_BYTES;
    unsigned char *from = leases->random + leases->random_left;
    memcpy(ret, from, RL_TOKEN_RANDOM_BYTES);
    memset(from, 0, RL_TOKEN_RANDOM_BYTES); /* no byte is ever used twice */
    return 0;
}

/* R3: 32 random hex digits, a colon, and the holder's name, for users who look at the key. */
static int make_token(struct rl_lease *lease)
{
    unsigned char bytes[RL_TOKEN_RANDOM_BYTES];
    assert(lease->token_len == 0); /* a lease keeps the token that it has */
    int result = draw(&lease->client->leases, bytes);
    if (result)
        return result;
    char *at = rl_put_hex(lease->token, bytes, sizeof(bytes));
    *at++ = ':';
    size_t holder_len = strlen(lease->client->identity.holder);
    memcpy(at, lease->client->identity.holder, holder_len + 1);
    lease->token_len = (size_t)(at - lease->token) + holder_len;
    assert(lease->token_len <= RL_TOKEN_MAX);
    return 0;
}

static void unlist(struct rl_lease *lease)
{
    redlock *client = lease->client;
    rl_fill_in_pass_over(lease);
    if (!lease->releasing)
        rl_lease_remove_name(lease);
    rl_list_remove(lease->releasing ? &client->leases.releasing : &client->leases.open,
                   &lease->entry);
}

/* The hold has ended: its keys must be deleted. */
void rl_lease_start_release(struct rl_lease *lease)
{
    assert(!lease->releasing && !lease->query);
    assert(lease->hold.phase == RL_HOLD_ENDING);
    assert(lease->refs > 0);
    unlist(lease);
    lease->releasing = true;
    if (lease->wakes_nobody && rl_round_verdict(&lease->hold.ask) == RL_WON)
        lease->wakes_nobody = false; /* it was held: its release must wake the next waiter */
    if (lease->hold.kept)
        lease->wakes_nobody = true; /* nobody can have it yet */
    rl_list_push(&lease->client->leases.releasing, &lease->entry);
    lease->client->leases.releasing_count++;
}

/* R14: Its timer is among the loop's, or among those of renewals that wait. */
static int reserve_timer(struct rl_leases *leases, struct rl_timers *timers)
{
    int result = rl_timers_reserve(timers);
    if (result)
        return result;
    result = rl_timers_reserve(&leases->waiting);
    if (result)
        rl_timers_unreserve(timers);
    return result;
}

static void unreserve_timer(struct rl_leases *leases, struct rl_timers *timers)
{
    rl_timers_unreserve(timers);
    rl_timers_unreserve(&leases->waiting);
}

int rl_lease_take(redlock *client, const struct rl_target *target, const char *token,
                  struct rl_lease **ret_lease)
{
    assert(target->kind && target->name_len > 0);
    if (client->leases.releasing_count >= rl_limits.releases)
        return REDLOCK_EBUSY;
    struct rl_lease *lease =
        RL_ITEM(rl_list_pop(&client->leases.spare), struct rl_lease, entry);
    if (!lease)
        lease = calloc(1, sizeof(*lease));
    if (!lease)
        return REDLOCK_ENOMEM;
    *lease = (struct rl_lease){
        .client = client,
        .voters = &client->voters,
        .clock_epoch = rl_clock_epoch(&client->clock),
        .bytes = lease->bytes,
        .budget_ns = RL_ROUND_MIN_NS,
    };
    int result = rl_target_keep(&lease->target, &lease->bytes, target);
    if (result == 0)
        result = rl_leases_reserve_name(&client->leases, target->kind);
    if (result == 0)
        result = reserve_timer(&client->leases, &client->loop.timers);
    if (result) {
        rl_list_push(&client->leases.spare, &lease->entry);
        return result;
    }
    if (token) {
        lease->token_len = strlen(token);
        assert(lease->token_len > 0 && lease->token_len <= RL_TOKEN_MAX);
        memcpy(lease->token, token, lease->token_len + 1);
    } else {
        result = make_token(lease);
    }
    if (result) {
        unreserve_timer(&client->leases, &client->loop.timers);
        rl_list_push(&client->leases.spare, &lease->entry);
        return result;
    }
    rl_list_push(&client->leases.open, &lease->entry);
    rl_lease_add_name(lease);
    *ret_lease = lease;
    return 0;
}

static void put_away(struct rl_lease *lease, int64_t now_ns)
{
    redlock *client = lease->client;
    assert(!lease->spare);
    assert(!lease->call && !lease->lock && lease->owed == 0 && lease->refs == 0);
    assert(!lease->releasing || client->leases.releasing_count > 0);
    lease->spare = true;
    if (!lease->query && rl_hold_expired_unreleased(&lease->hold, now_ns))
        client->stats.abandoned_releases++;
    rl_renewal_end(lease);
    client->leases.releasing_count -= lease->releasing;
    unlist(lease);
    rl_timer_set(&client->loop.timers, &lease->timer, INT64_MAX);
    unreserve_timer(&client->leases, &client->loop.timers);
    rl_list_push(&client->leases.spare, &lease->entry);
}

void rl_lease_free_if_settled(struct rl_lease *lease, int64_t now_ns)
{
    assert(!lease->spare);
    if (lease->call || lease->lock || lease->owed > 0 || lease->refs > 0)
        return;
    if (lease->query || lease->detached || lease->hold.phase == RL_HOLD_NEW ||
        rl_hold_settled(&lease->hold, now_ns))
        put_away(lease, now_ns);
}

void rl_lease_on_vote(struct rl_lease *lease, struct rl_node *node, enum rl_verb verb,
                      const struct rl_vote_reply *vote_reply)
{
    bool grant = vote_reply->vote == RL_VOTE_YES && lease->hold.phase == RL_HOLD_ASKING;
    assert(lease->refs > 0);
    /* A call is not touched for a vote that it ignores, because that would be a cache miss. */
    if (!lease->query && (verb == RL_RELEASE || (grant && lease->quiet)))
        return;
    if (lease->call && lease->call->on_vote)
        lease->call->on_vote(lease->call, node, verb, vote_reply);
}

void rl_lease_ref(struct rl_lease *lease)
{
    assert(!lease->spare);
    lease->refs++;
    if (rl_lease_clock_went_back(lease))
        rl_hold_distrust(&lease->hold);
}

void rl_lease_unref(struct rl_lease *lease, int64_t now_ns)
{
    assert(lease->refs > 0);
    lease->refs--;
    rl_lease_free_if_settled(lease, now_ns);
}

void rl_leases_free(struct rl_leases *leases)
{
    struct rl_list *lists[] = {&leases->open, &leases->releasing, &leases->spare};
    for (unsigned i = 0; i < 3; i++) {
        RL_EACH_FREED (struct rl_lease, lease, lists[i], entry) {
            free(lease->bytes.at);
            free(lease);
        }
    }
    leases->open = leases->releasing = leases->spare = (struct rl_list){0};
    rl_hash_free(&leases->named);
    rl_timers_free(&leases->waiting);
}

void rl_call_finish_without_lease(struct rl_call *call, int result)
{
    struct rl_lease *lease = call->lease;
    assert(lease->call == call);
    call->lease = NULL;
    lease->call = NULL;
    rl_call_finish(call, result);
}

void rl_call_abort(struct rl_call *call, int64_t now_ns)
{
    assert(call->client->calls.closing && !call->done);
    if (call->cancel)
        call->cancel(call, now_ns);
    else if (call->lease)
        rl_call_finish_without_lease(call, REDLOCK_ECANCELED);
    else
        rl_call_finish(call, REDLOCK_ECANCELED);
}
