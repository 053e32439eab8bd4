/* model_lock_holds.c - see model_lock.h: what clients do, and what comes of their requests. */
#include "config_auto.h"

#include "model_lock_parts.h"

#include <string.h>

const char *const lock_client[HOLDS] = {"ann", "bob", "cid"};

/* ---- the end of rounds and holds -------------------------------------------------------- */

void lock_end_round(struct state *state, unsigned h, bool comes_late)
{
    for (unsigned m = 0; m < MASTERS; m++) {
        struct link *link = &state->master[m].link[h];
        if (comes_late && link->round == UNDER_WAY)
            link->late = 1;
        link->round = NONE;
    }
    state->hold[h].age = 0;
    state->hold[h].extending = false;
}

/* Nothing is left of it: its place is another hold's, with a token of its own. */
static void settle(struct state *state, unsigned h)
{
    if (state->hold[h].phase != OVER)
        return;
    for (unsigned m = 0; m < MASTERS; m++) {
        const struct master *master = &state->master[m];
        if (master->owner == 1 + h || master->link[h].late || master->link[h].release)
            return;
    }
    state->hold[h] = (struct hold){.phase = FREE};
}

void lock_end_hold(const struct lock_rules *rules, struct state *state, unsigned h)
{
    lock_end_round(state, h, rules->endings);
    state->hold[h] = (struct hold){.phase = OVER, .ttl = state->hold[h].ttl};
    for (unsigned m = 0; m < rules->masters; m++) {
        struct link *link = &state->master[m].link[h];
        link->release = rules->endings;
        if (rules->endings)
            continue;
        link->late = 0;
        if (state->master[m].owner == 1 + h)
            lock_lose_key(state, m);
    }
    settle(state, h);
}

/* ---- asking ----------------------------------------------------------------------------- */

static unsigned counted(const struct state *state, unsigned h)
{
    unsigned count = 0;
    for (unsigned m = 0; m < MASTERS; m++)
        count += state->master[m].link[h].round == COUNTED;
    return count;
}

/* R1: from before the first byte, less the drift. */
static unsigned validity(const struct lock_rules *rules, const struct hold *hold,
                         bool from_reply)
{
    unsigned gone = rules->drift + (from_reply ? 0 : hold->age);
    return hold->ttl > gone ? hold->ttl - gone : 0;
}

static void ask(const struct lock_rules *rules, const struct state *from, unsigned h,
                unsigned ttl, struct explorer *explorer)
{
    struct state state = *from;
    state.hold[h].phase = ASKING;
    state.hold[h].ttl = (uint8_t)ttl;
    for (unsigned m = 0; m < rules->masters; m++)
        state.master[m].link[h].round = UNDER_WAY;
    explore_move(explorer, &state, "%s asks all masters for the lock, for %u ticks%s",
                 lock_client[h], ttl,
                 from->hold[h].phase == OVER ? ", by the token it had" : "");
}

static const char *count_grant(const struct lock_rules *rules, struct state *state, unsigned h)
{
    struct hold *hold = &state->hold[h];
    if (counted(state, h) < rules->needed)
        return "";
    unsigned left = validity(rules, hold, rules->from_reply);
    if (left == 0) {
        lock_end_hold(rules, state, h);
        return ", which came too late";
    }
    lock_end_round(state, h, true);
    hold->phase = HELD;
    hold->left = (uint8_t)left;
    lock_note_validity(state);
    return ", and holds the lock";
}

static void while_asking(const struct lock_rules *rules, const struct state *from, unsigned h,
                         struct explorer *explorer)
{
    for (unsigned m = 0; m < rules->masters; m++) {
        struct state state = *from;
        struct link *link = &state.master[m].link[h];
        if (link->round == UNDER_WAY && lock_votes(rules, from, m, h) &&
            lock_may_be_free(rules, &from->master[m])) {
            lock_set_key(rules, &state, m, h);
            link->round = ANSWERED;
            explore_move(explorer, &state, "%c grants it to %s", NAME(m), lock_client[h]);
        } else if (link->round == ANSWERED) {
            link->round = COUNTED;
            link->heard = from->master[m].spare > 0;
            const char *then = count_grant(rules, &state, h);
            explore_move(explorer, &state, "%s counts the grant of %c%s", lock_client[h],
                         NAME(m), then);
        }
    }
    struct state state = *from;
    lock_end_hold(rules, &state, h);
    explore_move(explorer, &state, "%s gives up", lock_client[h]);
}

/* ---- holding ---------------------------------------------------------------------------- */

static void extend(const struct lock_rules *rules, const struct state *from, unsigned h,
                   struct explorer *explorer)
{
    struct state state = *from;
    if (from->hold[h].extending) {
        if (rules->stale_answers)
            state.hold[h].extending = false;
        else
            lock_end_round(&state, h, false);
        explore_move(explorer, &state, "%s gives up extending", lock_client[h]);
        return;
    }
    state.hold[h].extending = true;
    state.hold[h].age = 0;
    for (unsigned m = 0; m < rules->masters; m++) {
        struct link *link = &state.master[m].link[h];
        if (link->round == NONE || link->round == COUNTED)
            link->round = UNDER_WAY;
    }
    explore_move(explorer, &state, "%s asks to extend", lock_client[h]);
}

static const char *count_extension(const struct lock_rules *rules, struct state *state,
                                   unsigned h)
{
    struct hold *hold = &state->hold[h];
    if (counted(state, h) < rules->needed)
        return "";
    unsigned left = validity(rules, hold, rules->extend_from_reply);
    if (left > hold->left)
        hold->left = (uint8_t)left;
    lock_note_validity(state);
    for (unsigned m = 0; m < rules->masters && rules->fill_in == FILL_AFTER_YES; m++) {
        struct link *link = &state->master[m].link[h];
        if (link->round != COUNTED)
            link->late = 1;
    }
    lock_end_round(state, h, false);
    return ", and has extended";
}

static void while_extending(const struct lock_rules *rules, const struct state *from,
                            unsigned h, struct explorer *explorer)
{
    for (unsigned m = 0; m < rules->masters; m++) {
        struct state state = *from;
        struct link *link = &state.master[m].link[h];
        bool mine = from->master[m].owner == 1 + h;
        bool fills = rules->fill_in == FILL_AND_COUNT &&
                     lock_may_be_free(rules, &from->master[m]) && lock_votes(rules, from, m, h);
        if (link->round == UNDER_WAY && (mine || fills)) {
            lock_set_key(rules, &state, m, h);
            link->round = ANSWERED;
            explore_move(explorer, &state, "%c %s it for %s", NAME(m),
                         mine ? "extends" : "takes", lock_client[h]);
        } else if (link->round == ANSWERED && from->hold[h].extending) {
            link->round = COUNTED;
            link->heard = from->master[m].spare > 0;
            const char *then = count_extension(rules, &state, h);
            explore_move(explorer, &state, "%s counts the yes of %c%s", lock_client[h], NAME(m),
                         then);
        }
    }
}

/* A late request takes the key where there is none, or makes it last. It counts nowhere. */
static void late_requests(const struct lock_rules *rules, const struct state *from, unsigned h,
                          struct explorer *explorer)
{
    for (unsigned m = 0; m < rules->masters; m++) {
        struct state state = *from;
        if (!from->master[m].link[h].late)
            continue;
        state.master[m].link[h].late = 0;
        settle(&state, h);
        if (from->hold[h].phase == OVER)
            explore_move(explorer, &state, "a request of %s to %c is lost", lock_client[h],
                         NAME(m));
        bool takes =
            from->master[m].owner == 1 + h || lock_may_be_free(rules, &from->master[m]);
        state = *from;
        state.master[m].link[h].late = 0;
        lock_set_key(rules, &state, m, h);
        if (takes && lock_votes(rules, from, m, h))
            explore_move(explorer, &state, "%c grants it to %s, by a late request", NAME(m),
                         lock_client[h]);
    }
}

static void while_held(const struct lock_rules *rules, const struct state *from, unsigned h,
                       struct explorer *explorer)
{
    struct state state = *from;
    lock_end_hold(rules, &state, h);
    explore_move(explorer, &state, "%s releases", lock_client[h]);
    if (!rules->extends)
        return;
    extend(rules, from, h, explorer);
    while_extending(rules, from, h, explorer);
}

/* CE16 and CE19 are about releases that are under way. */
static void releases(const struct lock_rules *rules, const struct state *from, unsigned h,
                     struct explorer *explorer)
{
    for (unsigned m = 0; m < rules->masters; m++) {
        struct state state = *from;
        if (!from->master[m].link[h].release)
            continue;
        state.master[m].link[h].release = 0;
        settle(&state, h);
        explore_move(explorer, &state, "%s's release to %c is lost", lock_client[h], NAME(m));
        state = *from;
        state.master[m].link[h].release = 0;
        if (from->master[m].owner == 1 + h || rules->release_any)
            lock_lose_key(&state, m);
        settle(&state, h);
        explore_move(explorer, &state, "%s's release comes to %c", lock_client[h], NAME(m));
    }
}

void lock_hold_moves(const struct lock_rules *rules, const struct state *state, unsigned h,
                     struct explorer *explorer)
{
    enum phase phase = (enum phase)state->hold[h].phase;
    if (phase == FREE || (phase == OVER && rules->token_again)) {
        ask(rules, state, h, rules->ttl, explorer);
        if (rules->brief_ttl > 0)
            ask(rules, state, h, rules->brief_ttl, explorer);
    }
    if (phase == ASKING)
        while_asking(rules, state, h, explorer);
    if (phase == HELD)
        while_held(rules, state, h, explorer);
    if (phase == HELD || phase == OVER)
        late_requests(rules, state, h, explorer);
    releases(rules, state, h, explorer);
}
