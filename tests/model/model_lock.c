/* model_lock.c - see model_lock.h: masters, time, and what must not be. */
#include "config_auto.h"

#include "model_lock_parts.h"

#include "symmetry.h"

#include <assert.h>
#include <string.h>

static void begin(const void *context, void *ret_state)
{
    const struct lock_rules *rules = context;
    struct state *state = ret_state;
    assert(rules->masters <= MASTERS && rules->holds <= HOLDS);
    assert(2 * rules->skew < rules->ttl && sizeof(*state) <= EXPLORE_STATE_MAX);
    memset(state, 0, sizeof(*state));
    state->losses = (uint8_t)rules->restarts;
}

/* ---- masters ---------------------------------------------------------------------------- */

/* May the key be gone already, by the master's clock? */
bool lock_may_be_free(const struct lock_rules *rules, const struct master *master)
{
    return master->owner == 0 || master->left <= 2 * rules->skew;
}

/* Two clocks that are each `skew` off the master's measure the guard's window. */
static unsigned mute_for(const struct lock_rules *rules, unsigned up)
{
    unsigned measured = up + 2 * rules->skew;
    return rules->window > measured ? rules->window - measured : 0;
}

bool lock_votes(const struct lock_rules *rules, const struct state *state, unsigned m,
                unsigned h)
{
    const struct master *master = &state->master[m];
    unsigned mute = master->link[h].mute;
    if (master->link[h].apart)
        return false;
    if (rules->marker == MARKED_STRICT && (master->unmarked || master->quarantine > 0))
        return false;
    if (rules->guard_by_own_ttl)
        return mute <= rules->ttl - state->hold[h].ttl;
    return mute == 0;
}

void lock_set_key(const struct lock_rules *rules, struct state *state, unsigned m, unsigned h)
{
    state->master[m].owner = (uint8_t)(1 + h);
    state->master[m].left = (uint8_t)(state->hold[h].ttl + rules->skew);
}

void lock_lose_key(struct state *state, unsigned m)
{
    state->master[m].owner = 0;
    state->master[m].left = 0;
}

/* ---- time ------------------------------------------------------------------------------- */

static void count_down(uint8_t *time)
{
    if (*time > 0)
        (*time)--;
}

static void count_up(uint8_t *time, unsigned most)
{
    if (*time < most)
        (*time)++;
}

static void pass_at_master(const struct lock_rules *rules, struct state *state, unsigned m)
{
    struct master *master = &state->master[m];
    count_down(&master->left);
    if (master->left == 0)
        master->owner = 0;
    count_down(&master->quarantine);
    if (master->spare > 0)
        count_up(&master->spare, rules->window + 1);
    for (unsigned h = 0; h < rules->holds; h++)
        count_down(&master->link[h].mute);
}

static void pass_at_hold(const struct lock_rules *rules, struct state *state, unsigned h)
{
    struct hold *hold = &state->hold[h];
    if (hold->phase == ASKING || hold->extending)
        count_up(&hold->age, rules->ttl);
    /* What a round could still give is known to be nothing. */
    bool vain = hold->age + rules->drift >= hold->ttl;
    if (hold->phase == ASKING && vain && !rules->from_reply)
        lock_end_hold(rules, state, h);
    else if (hold->extending && vain && !rules->extend_from_reply && !rules->stale_answers)
        lock_end_round(state, h, false);
    if (hold->phase != HELD)
        return;
    count_down(&hold->left);
    if (hold->left == 0 && !rules->extend_late)
        lock_end_hold(rules, state, h);
}

void lock_note_validity(struct state *state)
{
    for (unsigned h = 0; h < HOLDS; h++) {
        for (unsigned other = 0; other < HOLDS; other++) {
            if (state->hold[h].phase == HELD && state->hold[h].left == 0 &&
                state->hold[other].left > 0)
                state->hold[h].passed = true;
        }
    }
}

static void tick(const struct lock_rules *rules, const struct state *from,
                 struct explorer *explorer)
{
    struct state state = *from;
    for (unsigned m = 0; m < rules->masters; m++)
        pass_at_master(rules, &state, m);
    for (unsigned h = 0; h < rules->holds; h++)
        pass_at_hold(rules, &state, h);
    lock_note_validity(&state);
    explore_move(explorer, &state, "a tick passes");
}

/* ---- masters that lose their keys ------------------------------------------------------- */

/* For how long no client, or this one, counts the votes of the server that is there now. */
static unsigned mute_after_loss(const struct lock_rules *rules, const struct master *master,
                                unsigned h)
{
    bool met = !rules->stranger || h + 1 < rules->holds;
    if (!rules->replaced)
        return mute_for(rules, 0);
    if (rules->unknown_server || !met)
        return 0;
    /* Its uptime is believed where it began after the last word from the former server. */
    bool believed = rules->silent && !master->link[h].heard;
    return mute_for(rules, believed ? master->spare : 0);
}

static void lose_marker(const struct lock_rules *rules, struct master *master)
{
    master->unmarked = !rules->marker_survives;
    master->quarantine = 0;
    for (unsigned h = 0; h < rules->holds && !rules->flushed; h++) {
        master->link[h].apart = 1;
        master->link[h].mute = 0;
    }
}

/* One script: the marker is read, and the quarantine; both are set where the marker is gone. */
static void look(const struct lock_rules *rules, const struct state *from, unsigned m,
                 unsigned h, struct explorer *explorer)
{
    struct state state = *from;
    struct master *master = &state.master[m];
    bool sets = master->unmarked;
    if (sets)
        master->quarantine = (uint8_t)(rules->new_votes_at_once ? 0 : mute_for(rules, 0));
    master->unmarked = 0;
    master->link[h].apart = 0;
    master->link[h].mute = rules->quarantine_alone && !sets ? 0 : master->quarantine;
    explore_move(explorer, &state, "%s looks at %c, %s", lock_client[h], NAME(m),
                 sets                   ? "and marks it"
                 : master->quarantine ? "which is quarantined"
                                        : "which is marked");
}

static void lose(const struct lock_rules *rules, const struct state *from, unsigned m,
                 struct explorer *explorer)
{
    struct state state = *from;
    lock_lose_key(&state, m);
    if (!rules->silent)
        state.losses--;
    state.master[m].spare = 0;
    if (rules->marker)
        lose_marker(rules, &state.master[m]);
    for (unsigned h = 0; h < rules->holds && !rules->marker && !rules->keys_vanish; h++) {
        state.master[m].link[h].mute = (uint8_t)mute_after_loss(rules, &from->master[m], h);
        state.master[m].link[h].heard = 0;
    }
    explore_move(explorer, &state,
                 rules->keys_vanish ? "the key is deleted at %c"
                 : rules->flushed   ? "%c loses its keys, and stays connected"
                 : rules->replaced  ? "%c's name leads to another server"
                                    : "%c restarts without its keys",
                 NAME(m));
}

static void master_moves(const struct lock_rules *rules, const struct state *from, unsigned m,
                         struct explorer *explorer)
{
    for (unsigned h = 0; h < rules->holds; h++) {
        bool finds_out = rules->marker == MARKED_STRICT && from->master[m].unmarked;
        if (from->master[m].link[h].apart || finds_out)
            look(rules, from, m, h, explorer);
    }
    bool may_lose = rules->silent ? from->master[m].spare > 0 : from->losses > 0;
    if (may_lose)
        lose(rules, from, m, explorer);
    if (rules->silent && from->losses > 0) {
        struct state state = *from;
        state.losses--;
        state.master[m].spare = 1;
        explore_move(explorer, &state, "a server starts that will have %c's name", NAME(m));
    }
}

/* ---- the model -------------------------------------------------------------------------- */

static void moves(const void *context, const void *from, struct explorer *explorer)
{
    const struct lock_rules *rules = context;
    struct state state;
    memcpy(&state, from, sizeof(state));
    tick(rules, &state, explorer);
    for (unsigned h = 0; h < rules->holds; h++)
        lock_hold_moves(rules, &state, h, explorer);
    for (unsigned m = 0; m < rules->masters; m++)
        master_moves(rules, &state, m, explorer);
}

static void renamed(const struct state *from, const unsigned place[SYMMETRY_MAX],
                    struct state *ret_state)
{
    *ret_state = *from;
    for (unsigned h = 0; h < HOLDS; h++) {
        ret_state->hold[place[h]] = from->hold[h];
        for (unsigned m = 0; m < MASTERS; m++) {
            ret_state->master[m].link[place[h]] = from->master[m].link[h];
            if (from->master[m].owner == 1 + h)
                ret_state->master[m].owner = (uint8_t)(1 + place[h]);
        }
    }
}

/* Do holds stand in the order of what they are without their names? It leaves few orders. */
static bool in_order(const struct state *from, const unsigned place[SYMMETRY_MAX],
                     unsigned alike)
{
    for (unsigned a = 0; a < alike; a++) {
        for (unsigned b = 0; b < alike; b++) {
            if (place[a] < place[b] &&
                memcmp(&from->hold[a], &from->hold[b], sizeof(from->hold[a])) > 0)
                return false;
        }
    }
    return true;
}

static void canonical(const void *context, void *ret_state)
{
    const struct lock_rules *rules = context;
    struct state from, state;
    unsigned place[SYMMETRY_MAX], alike = rules->holds - (rules->stranger ? 1 : 0);
    bool any = false; /* a form so far */
    memcpy(&from, ret_state, sizeof(from));
    for (unsigned number = 0; order_of(number, alike, place); number++) {
        if (!in_order(&from, place, alike))
            continue;
        renamed(&from, place, &state);
        sort_records(state.master, rules->masters, sizeof(state.master[0]));
        if (!any || memcmp(&state, ret_state, sizeof(state)) < 0)
            memcpy(ret_state, &state, sizeof(state));
        any = true;
    }
}

static const char *wrong(const void *context, const void *from)
{
    const struct lock_rules *rules = context;
    struct state state;
    unsigned valid = 0;
    memcpy(&state, from, sizeof(state));
    for (unsigned h = 0; h < rules->holds; h++) {
        if (state.hold[h].left == 0)
            continue;
        valid++;
        if (state.hold[h].passed)
            return "a hold is valid again, and another one was valid in between";
    }
    return valid > 1 ? "two holds are valid at once" : NULL;
}

const struct model lock_model = {sizeof(struct state), begin, moves, canonical, wrong};
