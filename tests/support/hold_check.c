/* hold_check.c - what must be true of the model world after every step. See hold_world.h. */
#include "config_auto.h"

#include "hold_world.h"

#include "core/trust.h"

/* Every outcome comes once, in its time, and never with one that excludes it. */
void check_did(struct world *world, struct attempt *attempt, unsigned did)
{
    const unsigned once =
        RL_EV_ACQUIRED | RL_EV_REFUSED | RL_EV_LOST | RL_EV_RELEASED | RL_DO_ASK_REST;
    const unsigned extension = did & (RL_EV_EXTENDED | RL_EV_NOT_EXTENDED | RL_EV_LOST);
    enum rl_phase phase = attempt->hold.phase;
    CHECK(world, !(attempt->seen & did & once));
    CHECK(world, !(did & RL_EV_ACQUIRED) || phase == RL_HOLD_HELD);
    CHECK(world, !(did & (RL_EV_REFUSED | RL_EV_LOST)) || phase == RL_HOLD_ENDING);
    attempt->seen |= did;
    CHECK(world, !((attempt->seen & RL_EV_ACQUIRED) && (attempt->seen & RL_EV_REFUSED)));
    if (extension) {
        CHECK(world, attempt->waits_extend);
        CHECK(world, (extension & (extension - 1)) == 0);
        CHECK(world, (did & RL_EV_LOST) || phase == RL_HOLD_HELD);
        attempt->waits_extend = false;
    }
    if (did & RL_EV_RELEASED) {
        CHECK(world, attempt->waits_finish);
        attempt->waits_finish = false;
        int result = rl_hold_release_result(&attempt->hold);
        CHECK(world, result == REDLOCK_OK || result == REDLOCK_EEXPIRED ||
                         result == REDLOCK_EUNCONFIRMED);
        tally.released[result == REDLOCK_OK ? 0 : result == REDLOCK_EEXPIRED ? 1 : 2]++;
    }
    tally.wins += (did & RL_EV_ACQUIRED) != 0;
    tally.losses += (did & RL_EV_REFUSED) != 0;
    tally.extends += (did & RL_EV_EXTENDED) != 0;
    tally.not_extends += (did & RL_EV_NOT_EXTENDED) != 0;
    tally.dies += (did & RL_EV_LOST) != 0;
    tally.finishes += (did & RL_EV_RELEASED) != 0;
}

static bool has_key(const struct world *world, unsigned node, uint64_t token)
{
    const struct master *master = &world->master[node];
    return master->token == token && world->now_ns <= master->expires_ns;
}

/* Nothing is owed, nothing is on its way, and no master has the key. */
void check_settled(struct world *world, struct attempt *attempt, int64_t now_ns)
{
    bool by_time = rl_hold_expired_unreleased(&attempt->hold, now_ns);
    tally.settled++;
    tally.abandoned += by_time;
    CHECK(world, attempt->owed == 0);
    CHECK(world, !attempt->waits_finish && !attempt->waits_extend);
    CHECK(world, attempt->hold.phase == RL_HOLD_ENDING);
    for (unsigned node = 0; node < world->n; node++) {
        bool excused = world->master[node].stray || (by_time && attempt->excused);
        CHECK(world, excused || !has_key(world, node, attempt->token));
    }
}

/* What the hold thinks is owed to it is what is in the queues. */
static void check_owed(struct world *world, struct client *client, struct attempt *attempt)
{
    uint64_t carry[RL_SLOTS] = {0}, undo[RL_SLOTS] = {0};
    unsigned owed = 0;
    if (attempt->owed == 0) {
        CHECK(world, !(attempt->hold.acquire_inflight[0] | attempt->hold.acquire_inflight[1] |
                       attempt->hold.release_inflight[0] | attempt->hold.release_inflight[1]));
        return;
    }
    for (unsigned node = 0; node < world->n; node++) {
        for (unsigned slot = 0; slot < RL_SLOTS; slot++) {
            const struct link *link = &client->link[node][slot];
            for (unsigned i = 0; i < link->count; i++) {
                if (link->queue[i].attempt != attempt)
                    continue;
                owed++;
                if (link->queue[i].verb == RL_RELEASE)
                    undo[slot] |= rl_bit(node);
                else
                    carry[slot] |= rl_bit(node);
            }
        }
    }
    CHECK(world, owed == attempt->owed);
    for (unsigned slot = 0; slot < RL_SLOTS; slot++) {
        CHECK(world, carry[slot] == attempt->hold.acquire_inflight[slot]);
        CHECK(world, undo[slot] == attempt->hold.release_inflight[slot]);
    }
}

static void check_life(struct world *world, struct attempt *attempt)
{
    const struct rl_hold *hold = &attempt->hold;
    CHECK(world, hold->phase >= attempt->phase_before); /* no way back */
    if (hold->phase == RL_HOLD_HELD)
        CHECK(world, hold->deadline_ns >= attempt->deadline_before_ns && hold->deadline_ns > 0);
    else
        CHECK(world, hold->deadline_ns == 0);
    CHECK(world, hold->release_due == 0 || hold->phase == RL_HOLD_ENDING);
    CHECK(world, (hold->release_inflight[0] | hold->release_inflight[1]) == 0 ||
                     hold->phase == RL_HOLD_ENDING);
    attempt->phase_before = hold->phase;
    attempt->deadline_before_ns = hold->deadline_ns;
}

/* Of a hold that is valid, a majority of the masters have the key, or may not vote yet. */
static void check_majority(struct world *world, const struct attempt *attempt)
{
    int64_t window_ns = rl_guard_window_ns(MAX_TTL_NS, 0.0);
    unsigned safe = 0;
    for (unsigned node = 0; node < world->n; node++)
        safe += has_key(world, node, attempt->token) ||
                world->now_ns - world->master[node].began_ns < window_ns;
    CHECK(world, safe >= rl_quorum_needed(world->n));
}

void check_world(struct world *world)
{
    unsigned valid = 0;
    tally.steps++;
    for (unsigned c = 0; c < world->clients; c++) {
        struct client *client = &world->client[c];
        for (unsigned i = 0; i < ATTEMPTS_MAX; i++) {
            struct attempt *attempt = &client->attempt[i];
            if (!attempt->used)
                continue;
            check_life(world, attempt);
            check_owed(world, client, attempt);
            if (attempt->hold.phase != RL_HOLD_HELD ||
                client_now_ns(world, client) >= attempt->hold.deadline_ns)
                continue;
            valid++;
            if (!world->vanishes)
                check_majority(world, attempt);
        }
    }
    CHECK(world, world->vanishes || valid <= 1);
}
