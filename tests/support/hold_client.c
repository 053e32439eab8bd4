/* hold_client.c - the clients of the model world: what lib/engine/lease/lease.c does with a hold, on
 * queues instead of connections. See hold_world.h. */
#include "config_auto.h"

#include "hold_world.h"

static void react(struct world *world, struct client *client, struct attempt *attempt,
                  unsigned did);

/* Queue a request on a slot. False: no room, or no link. */
static bool put(struct world *world, struct client *client, struct attempt *attempt,
                unsigned node, unsigned slot, enum rl_verb verb, bool by_body)
{
    struct link *link = &client->link[node][slot];
    if (!link->open || link->count == QUEUE_MAX || (world->full && world_chance(world, 10)))
        return false;
    /* R3: nothing that takes the key follows a release of it, on whichever link. */
    CHECK(world, verb == RL_RELEASE || !(attempt->released & rl_bit(node)));
    if (verb == RL_RELEASE)
        attempt->released |= rl_bit(node);
    struct rl_hold *hold = &attempt->hold;
    link->queue[link->count++] = (struct request){
        .attempt = attempt,
        .token = attempt->token,
        .verb = verb,
        .ttl_ns = verb == RL_ACQUIRE ? hold->ttl_ns : hold->extend_ttl_ns,
        .by_body = by_body,
    };
    attempt->owed++;
    return true;
}

static unsigned send_taking(struct world *world, struct client *client,
                            struct attempt *attempt, enum rl_verb verb, uint64_t nodes,
                            bool by_body)
{
    unsigned did = 0;
    for (; nodes; nodes &= nodes - 1) {
        unsigned node = rl_first(nodes), slot = client->current_slot[node];
        if (attempt->hold.phase == RL_HOLD_ENDING)
            break;
        if (put(world, client, attempt, node, slot, verb, by_body))
            rl_hold_sent(&attempt->hold, node, slot, verb, true);
        else
            did |= rl_hold_unsent(&attempt->hold, node, verb, client_now_ns(world, client));
    }
    return did;
}

static void send_releases(struct world *world, struct client *client, struct attempt *attempt)
{
    struct rl_hold *hold = &attempt->hold;
    if (hold->phase != RL_HOLD_ENDING || client_now_ns(world, client) < attempt->retry_ns)
        return;
    for (uint64_t nodes =
             hold->release_due | hold->acquire_inflight[0] | hold->acquire_inflight[1];
         nodes; nodes &= nodes - 1) {
        unsigned node = rl_first(nodes);
        for (unsigned slot = 0; slot < RL_SLOTS; slot++) {
            bool current = slot == client->current_slot[node];
            if (rl_hold_wants_release(hold, node, slot, current) &&
                put(world, client, attempt, node, slot, RL_RELEASE, false))
                rl_hold_sent(hold, node, slot, RL_RELEASE, current);
        }
    }
}

static uint64_t carried_in_use(struct world *world, struct client *client,
                               const struct rl_hold *hold)
{
    uint64_t nodes = 0;
    for (unsigned i = 0; i < world->n; i++)
        nodes |= hold->acquire_inflight[client->current_slot[i]] & rl_bit(i);
    return nodes;
}

static void react(struct world *world, struct client *client, struct attempt *attempt,
                  unsigned did)
{
    struct rl_hold *hold = &attempt->hold;
    int64_t now_ns = client_now_ns(world, client);
    check_did(world, attempt, did);
    if (did & RL_DO_ASK_REST) {
        tally.rests++;
        uint64_t rest = rl_hold_ask_rest(hold, client_able(world, client),
                                         now_ns + attempt->budget_ns);
        unsigned more = send_taking(world, client, attempt, RL_ACQUIRE, rest, false);
        more |= rl_hold_tick(hold, now_ns);
        CHECK(world, !(more & RL_DO_ASK_REST));
        if (more)
            react(world, client, attempt, more);
    }
    if (did & RL_DO_RETAKE) {
        uint64_t nodes = hold->retake & client_able(world, client) &
                         ~carried_in_use(world, client, hold);
        CHECK(world, hold->phase == RL_HOLD_HELD && !rl_hold_over(hold, now_ns)); /* R8 */
        tally.retakes += nodes != 0;
        send_taking(world, client, attempt, RL_RETAKE, nodes, false);
    }
    send_releases(world, client, attempt);
    if (client->current == attempt && hold->phase == RL_HOLD_ENDING)
        client->current = NULL;
}

static void let_go(struct world *world, struct client *client, struct attempt *attempt)
{
    int64_t now_ns = client_now_ns(world, client);
    bool settled = rl_hold_settled(&attempt->hold, now_ns);
    CHECK(world, settled || !rl_hold_expired_unreleased(&attempt->hold, now_ns));
    if (!settled || client->current == attempt)
        return;
    check_settled(world, attempt, now_ns);
    attempt->used = false;
}

/* ---- calls ----------------------------------------------------------------------------- */

static struct attempt *new_attempt(struct client *client)
{
    for (unsigned i = 0; i < ATTEMPTS_MAX; i++) {
        if (!client->attempt[i].used)
            return &client->attempt[i];
    }
    return NULL;
}

static int64_t some_ttl(struct world *world)
{
    return (int64_t)(1 + world_draw(world, 30)) * (MAX_TTL_NS / 30);
}

void client_ask(struct world *world, struct client *client)
{
    struct attempt *attempt = new_attempt(client);
    int64_t t0_ns = client_now_ns(world, client);
    uint64_t able = client_able(world, client);
    int first = -1;
    if (!attempt)
        return;
    *attempt = (struct attempt){.used = true, .token = ++world->tokens};
    attempt->budget_ns = (int64_t)(1 + world_draw(world, 400)) * MS;
    rl_hold_init(&attempt->hold, world->n, some_ttl(world), world->drift_factor);
    client->current = attempt;
    if (able && world_chance(world, 30)) {
        do
            first = (int)world_draw(world, world->n);
        while (!(able & rl_bit((unsigned)first)));
    }
    unsigned did = rl_hold_ask(&attempt->hold, t0_ns, t0_ns + attempt->budget_ns, able, first);
    did |= send_taking(world, client, attempt, RL_ACQUIRE, rl_hold_to_ask(&attempt->hold),
                       false);
    react(world, client, attempt, did);
    let_go(world, client, attempt);
}

void client_extend(struct world *world, struct client *client)
{
    struct attempt *attempt = client->current;
    struct rl_hold *hold = &attempt->hold;
    int64_t t0_ns = client_now_ns(world, client);
    uint64_t able = client_able(world, client) & ~carried_in_use(world, client, hold);
    attempt->waits_extend = true;
    unsigned did = rl_hold_extend(hold, t0_ns, some_ttl(world),
                                  t0_ns + (int64_t)(1 + world_draw(world, 400)) * MS, able);
    did |= send_taking(world, client, attempt, RL_EXTEND, rl_hold_to_extend(hold), false);
    react(world, client, attempt, did);
    let_go(world, client, attempt);
}

void client_release(struct world *world, struct client *client)
{
    struct attempt *attempt = client->current;
    struct rl_hold *hold = &attempt->hold;
    int64_t now_ns = client_now_ns(world, client);
    bool waits = hold->phase == RL_HOLD_HELD && world_chance(world, 70);
    client->current = NULL;
    attempt->waits_extend = false; /* whoever waited for that is told otherwise */
    attempt->waits_finish = waits;
    unsigned did =
        rl_hold_release(hold, now_ns, waits ? now_ns + attempt->budget_ns : 0);
    send_releases(world, client, attempt);
    for (uint64_t rest = hold->release_due; rest && hold->releasing; rest &= rest - 1) {
        if (!link_in_use(client, rl_first(rest)) && world_chance(world, 50))
            did |= rl_hold_unsent(hold, rl_first(rest), RL_RELEASE, now_ns);
    }
    react(world, client, attempt, did);
    let_go(world, client, attempt);
}

/* Time has passed. */
void client_look(struct world *world, struct client *client)
{
    int64_t now_ns = client_now_ns(world, client);
    for (unsigned i = 0; i < ATTEMPTS_MAX; i++) {
        struct attempt *attempt = &client->attempt[i];
        if (!attempt->used)
            continue;
        unsigned did = 0;
        bool due = now_ns >= rl_hold_next_ns(&attempt->hold);
        struct rl_hold before = attempt->hold;
        did = rl_hold_tick(&attempt->hold, now_ns);
        CHECK(world, due || (did == 0 && before.phase == attempt->hold.phase));
        react(world, client, attempt, did);
        let_go(world, client, attempt);
    }
}

/* ---- what comes back ------------------------------------------------------------------- */

static bool still_wanted(struct world *world, struct client *client,
                         const struct attempt *attempt, unsigned node, enum rl_verb verb)
{
    const struct rl_hold *hold = &attempt->hold;
    switch (verb) {
    case RL_ACQUIRE:
        if (rl_hold_to_ask(hold) & rl_bit(node))
            return true;
        break;
    case RL_EXTEND:
        return rl_hold_to_extend(hold) & rl_bit(node);
    case RL_RETAKE:
        break;
    default:
        return false;
    }
    return hold->phase == RL_HOLD_HELD && !rl_hold_over(hold, client_now_ns(world, client));
}

void client_answered(struct world *world, struct client *client, unsigned node, unsigned slot,
                     const struct request *request)
{
    struct attempt *attempt = request->attempt;
    struct rl_hold *hold = &attempt->hold;
    int64_t now_ns = client_now_ns(world, client);
    unsigned did;
    attempt->owed--;
    if (request->unexecuted) {
        rl_hold_unexecuted(hold, node, slot, request->verb);
        did = rl_hold_tick(hold, now_ns);
        if (slot == client->current_slot[node] &&
            still_wanted(world, client, attempt, node, request->verb))
            did |= send_taking(world, client, attempt, request->verb, rl_bit(node), true);
    } else {
        if (request->verb == RL_RELEASE && request->vote == RL_VOTE_FAILED)
            attempt->retry_ns = now_ns + 100 * MS;
        tally.late_yes += request->verb != RL_RELEASE && request->vote == RL_VOTE_YES &&
                          hold->phase == RL_HOLD_ENDING;
        did = rl_hold_answer(hold, node, slot, request->verb, request->vote, 0, now_ns);
    }
    react(world, client, attempt, did);
    let_go(world, client, attempt);
}

void client_lost(struct world *world, struct client *client, unsigned node, unsigned slot,
                 const struct request *request)
{
    struct attempt *attempt = request->attempt;
    attempt->owed--;
    react(world, client, attempt,
          rl_hold_link_lost(&attempt->hold, node, slot, client_now_ns(world, client)));
    let_go(world, client, attempt);
}
