/* model_fencing.c - see model_fencing.h: grants, tokens, and what must not be. */
#include "config_auto.h"

#include "model_fencing_parts.h"

#include "symmetry.h"

#include <assert.h>
#include <string.h>

static const char *const client[HOLDS] = {"ann", "bob", "cid"};
#define NAME(master) ((int)('A' + (int)(master)))

static void begin(const void *context, void *ret_state)
{
    const struct fencing_rules *rules = context;
    struct state *state = ret_state;
    assert(rules->masters <= MASTERS && rules->holds <= HOLDS);
    assert(sizeof(*state) <= EXPLORE_STATE_MAX);
    memset(state, 0, sizeof(*state));
    state->losses = (uint8_t)rules->restarts;
}

/* ---- what holds do ---------------------------------------------------------------------- */

static unsigned having(const struct state *state, unsigned h)
{
    unsigned count = 0;
    for (unsigned m = 0; m < MASTERS; m++)
        count += state->master[m].grant[h].part == HAS;
    return count;
}

/* The caller is told as early as can be: later would ask less of the order of holds. */
static const char *tell_if_done(const struct fencing_rules *rules, struct state *state,
                                unsigned h)
{
    if (having(state, h) < rules->needed && !rules->not_written)
        return "";
    state->hold[h].phase = TOLD;
    return ", and is told the token";
}

static void begin_hold(struct state *state, unsigned h)
{
    for (unsigned m = 0; m < MASTERS; m++) {
        if (state->master[m].grant[h].part != ASKED)
            return;
    }
    for (unsigned other = 0; other < HOLDS; other++) {
        if (state->hold[other].phase == TOLD)
            state->hold[h].after |= (uint8_t)(1u << other);
    }
}

/* Does this master take part in this hold, by what their certificates say? */
static bool takes_part(const struct fencing_rules *rules, const struct master *master,
                       unsigned h)
{
    return !(master->lost && !rules->lost_vote) && !(master->refuses & (1u << h));
}

static void raise_floor(const struct fencing_rules *rules, struct master *master,
                        uint8_t number)
{
    if (rules->strict && master->floor < number)
        master->floor = number;
}

static void grant(const struct fencing_rules *rules, const struct state *from, unsigned m,
                  unsigned h, struct explorer *explorer)
{
    uint8_t number = from->master[m].counter;
    bool more = rules->not_above && number > 0;
    if (from->master[m].grant[h].part != ASKED || !takes_part(rules, &from->master[m], h))
        return;
    for (more = more || fencing_next_number(from, &number); more;
         more = fencing_next_number(from, &number)) {
        struct state state = *from;
        struct master *master = &state.master[m];
        bool late = from->hold[h].phase == TOLD;
        begin_hold(&state, h);
        master->owner = (uint8_t)(1 + h);
        master->counter = number;
        raise_floor(rules, master, number);
        if (rules->seed == SEED_ABOVE_NAMED && number > master->named)
            master->named = number;
        master->grant[h].part = late ? LATE : GRANTED;
        master->grant[h].number = late ? 0 : number;
        explore_move(explorer, &state, "%c grants the lock to %s, and names %u%s", NAME(m),
                     client[h], number, late ? ": too late" : "");
    }
}

/* What a master of a majority is to it. */
static uint8_t part_in(const struct grant *grant, uint8_t token)
{
    return grant->number == token ? HAS : grant->number < token ? BEHIND : GRANTED;
}

static bool may_decide(const struct grant *grant)
{
    return grant->part == GRANTED || grant->part == BEHIND || grant->part == HAS;
}

/* This majority decides: the token is the greatest number of its grants. */
static void win(const struct fencing_rules *rules, const struct state *from, unsigned h,
                unsigned set, struct explorer *explorer)
{
    struct state state = *from;
    struct hold *hold = &state.hold[h];
    char names[MASTERS + 1] = "";
    unsigned count = 0;
    hold->token = 0;
    for (unsigned m = 0; m < rules->masters; m++) {
        const struct grant *grant = &from->master[m].grant[h];
        if (!(set & (1u << m)))
            continue;
        if (!may_decide(grant))
            return;
        names[count++] = (char)NAME(m);
        if (grant->number > hold->token)
            hold->token = grant->number;
    }
    if (count != rules->needed)
        return;
    for (unsigned m = 0; m < rules->masters; m++) {
        struct grant *grant = &state.master[m].grant[h];
        if (!may_decide(grant))
            continue;
        bool counts =
            (set & (1u << m)) || (rules->ahead_counts && grant->number >= hold->token);
        grant->part = !counts ? GRANTED : grant->number >= hold->token ? HAS : BEHIND;
    }
    if (hold->phase == ASKING)
        hold->written = hold->token;
    hold->phase = WON;
    const char *then = tell_if_done(rules, &state, h);
    /* More grants never raise the token; one that stays is decided anew only by its end. */
    if (from->hold[h].phase == WON && hold->token >= from->hold[h].token &&
        !(hold->phase == TOLD && hold->token == from->hold[h].token))
        return;
    explore_move(explorer, &state, "%s wins by %s with %u%s", client[h], names, hold->token,
                 then);
}

/* A master takes a token while it has the key of this hold: the one that it was told before
 * the hold had it, which another majority may have lowered since, or that of the hold. */
static void write_number(const struct fencing_rules *rules, const struct state *from,
                         unsigned m, unsigned h, uint8_t token, struct explorer *explorer)
{
    struct state state = *from;
    struct master *master = &state.master[m];
    struct grant *grant = &master->grant[h];
    if (master->owner != 1 + h && !rules->unconditional)
        return;
    if (from->hold[h].phase == WON && !takes_part(rules, master, h))
        return;
    if (master->counter < token || rules->unconditional)
        master->counter = token;
    if (!rules->floor_stays)
        raise_floor(rules, master, token);
    const char *then = "";
    if (from->hold[h].phase == WON && grant->number < token) {
        grant->number = token;
        if (grant->part == BEHIND)
            grant->part = part_in(grant, from->hold[h].token);
        then = tell_if_done(rules, &state, h);
    }
    explore_move(explorer, &state, "%c takes %s's token %u%s", NAME(m), client[h], token, then);
}

static void write_token(const struct fencing_rules *rules, const struct state *from, unsigned m,
                        unsigned h, struct explorer *explorer)
{
    const struct hold *hold = &from->hold[h];
    const struct grant *grant = &from->master[m].grant[h];
    if (hold->phase == TOLD)
        write_number(rules, from, m, h, hold->token, explorer);
    if (hold->phase == TOLD || (hold->phase == WON && may_decide(grant)))
        write_number(rules, from, m, h, hold->written, explorer);
}

/* A master without the key gets it again, and the token. */
static void fill_in(const struct fencing_rules *rules, const struct state *from, unsigned m,
                    unsigned h, struct explorer *explorer)
{
    struct state state = *from;
    struct master *master = &state.master[m];
    unsigned phase = from->hold[h].phase;
    uint8_t token = from->hold[h].token;
    if (master->owner == 1 + h || (phase != TOLD && !(phase == WON && rules->filled_counts)))
        return;
    master->owner = (uint8_t)(1 + h);
    if (master->counter < token || rules->lowered)
        master->counter = token;
    const char *then = "";
    if (phase == WON) {
        master->grant[h].part = HAS;
        master->grant[h].number = token;
        then = tell_if_done(rules, &state, h);
    }
    explore_move(explorer, &state, "%c is filled in by %s, with its token %u%s", NAME(m),
                 client[h], token, then);
}

/* ---- masters that forget ---------------------------------------------------------------- */

static bool ids_decide(const struct fencing_rules *rules)
{
    return rules->ids_count || rules->twins_count;
}

/* A master gets another id, because it is read for a loss (1 + its master), or for one that
 * counts no more (0). */
static void new_id(struct state *state, unsigned m, unsigned of)
{
    state->master[m].of = (uint8_t)of;
    for (unsigned lost = 0; lost < MASTERS; lost++)
        state->master[lost].ids &= (uint8_t)~(1u << m);
}

/* What was read for it before is of an earlier loss. */
static void begin_loss(const struct fencing_rules *rules, struct state *state, unsigned m)
{
    struct master *master = &state->master[m];
    master->counter = master->floor = master->refuses = 0;
    master->lost = 1;
    new_id(state, m, 0);
    master->ids = master->count = 0;
    for (unsigned other = 0; other < MASTERS; other++) {
        if (state->master[other].of == 1 + m)
            state->master[other].of = 0;
    }
    if (!rules->late_counts)
        master->read = master->found = 0;
}

static void forget(const struct fencing_rules *rules, const struct state *from, unsigned m,
                   struct explorer *explorer)
{
    struct state state = *from;
    uint8_t seed = rules->seed == SEED_ABOVE_ALL     ? fencing_greatest(from)
                   : rules->seed == SEED_ABOVE_HAD   ? from->master[m].counter
                   : rules->seed == SEED_ABOVE_NAMED ? from->master[m].named
                                                     : 0;
    if (from->master[m].twin)
        return;
    state.losses--;
    state.master[m].owner = 0;
    if (rules->strict) {
        begin_loss(rules, &state, m);
        explore_move(explorer, &state, "%c restarts empty", NAME(m));
        return;
    }
    state.master[m].counter = seed;
    explore_move(explorer, &state, "%c restarts empty, and will name numbers above %u", NAME(m),
                 seed);
}

/* Its own server is gone. It has no vote from now on. */
static void lead_elsewhere(const struct fencing_rules *rules, const struct state *from,
                           unsigned m, unsigned to, struct explorer *explorer)
{
    struct state state = *from;
    if (m == to || from->master[m].twin || from->master[to].twin)
        return;
    for (unsigned other = 0; other < MASTERS; other++) {
        if (from->master[other].twin == 1 + m)
            return;
    }
    state.losses--;
    state.master[m].owner = 0;
    begin_loss(rules, &state, m);
    state.master[m].twin = (uint8_t)(1 + to);
    explore_move(explorer, &state, "%c's name leads to %c's server", NAME(m), NAME(to));
}

/* ---- certificates ----------------------------------------------------------------------- */

static uint8_t begun(const struct state *state)
{
    uint8_t holds = 0;
    for (unsigned h = 0; h < HOLDS; h++) {
        for (unsigned m = 0; m < MASTERS; m++) {
            if (state->master[m].grant[h].part != ASKED)
                holds |= (uint8_t)(1u << h);
        }
    }
    return holds;
}

/* Does what is read here count for the loss? `server`: the one that the name leads to. */
static bool counts(const struct fencing_rules *rules, const struct master *lost, unsigned name,
                   unsigned server)
{
    if (rules->ids_count)
        return !(lost->ids & (1u << server)) && lost->count < rules->needed;
    if (rules->twins_count)
        return !(lost->read & (1u << name)) && !(lost->ids & (1u << server));
    return !(lost->read & (1u << name)) && name == server;
}

/* A master is read for another one's loss. Holds that have begun may show it no certificate
 * that is younger than that. */
static void read_for(const struct fencing_rules *rules, const struct state *from, unsigned lost,
                     unsigned m, struct explorer *explorer)
{
    struct state state = *from;
    unsigned server = from->master[m].twin ? from->master[m].twin - 1u : m;
    struct master *to = &state.master[lost], *master = &state.master[server];
    if (!to->lost || to->twin || lost == server || (master->lost && !rules->lost_tell))
        return;
    if (ids_decide(rules) && master->of != 1 + lost)
        new_id(&state, server, 1 + lost);
    if (!counts(rules, to, m, server))
        return;
    if (ids_decide(rules))
        to->ids |= (uint8_t)(1u << server);
    if (rules->ids_count)
        to->count++;
    to->read |= (uint8_t)(1u << m);
    if (to->found < master->floor)
        to->found = master->floor;
    if (!rules->rounds_go_on)
        master->refuses = begun(from);
    explore_move(explorer, &state, "%c is read for %c%s: no token is above %u", NAME(m),
                 NAME(lost), server == m ? "" : ", by its second name", master->floor);
}

/* Another client reads it: for another loss, an earlier one, or the same. */
static void read_by_others(const struct fencing_rules *rules, const struct state *from,
                           unsigned m, struct explorer *explorer)
{
    struct state state = *from;
    struct master *master = &state.master[m];
    if (master->lost || from->losses == rules->restarts)
        return;
    master->refuses = begun(from);
    if (ids_decide(rules))
        new_id(&state, m, 0);
    explore_move(explorer, &state, "%c is read by another client", NAME(m));
}

static void certify(const struct fencing_rules *rules, const struct state *from, unsigned m,
                    struct explorer *explorer)
{
    struct state state = *from;
    struct master *master = &state.master[m];
    unsigned needed = rules->needed - rules->too_few;
    unsigned read =
        rules->ids_count ? master->count : (unsigned)__builtin_popcount(master->read);
    if (!master->lost || master->twin || read < needed)
        return;
    new_id(&state, m, 0);
    master->ids = master->count = 0;
    master->counter = master->floor = master->found;
    master->lost = 0;
    if (!rules->late_counts)
        master->read = master->found = 0;
    /* Holds that had begun know another certificate of it, or none. */
    master->refuses = rules->rounds_go_on ? 0 : begun(from);
    explore_move(explorer, &state, "%c is certified, above %u", NAME(m), master->floor);
}

/* ---- numbers that somebody sets --------------------------------------------------------- */

static void set_to(const struct state *from, unsigned m, bool floor, uint8_t number,
                   struct explorer *explorer)
{
    struct state state = *from;
    struct master *master = &state.master[m];
    *(floor ? &master->floor : &master->counter) = number;
    state.was_set = 1;
    explore_move(explorer, &state, "%c's %s is set to %u", NAME(m), floor ? "floor" : "counter",
                 number);
}

static void set_numbers(const struct fencing_rules *rules, const struct state *from, unsigned m,
                        struct explorer *explorer)
{
    const struct master *master = &from->master[m];
    uint8_t number = 0;
    for (bool more = true; more; more = fencing_next_number(from, &number)) {
        bool up = rules->set == SET_UP;
        if (rules->set != SET_FLOOR && !(up && number <= master->counter))
            set_to(from, m, false, number, explorer);
        if (rules->strict && rules->set != SET_COUNTER && !(up && number <= master->floor))
            set_to(from, m, true, number, explorer);
    }
}

/* ---- the model -------------------------------------------------------------------------- */

static void moves(const void *context, const void *from, struct explorer *explorer)
{
    const struct fencing_rules *rules = context;
    struct state state;
    memcpy(&state, from, sizeof(state));
    for (unsigned h = 0; h < rules->holds; h++) {
        for (unsigned m = 0; m < rules->masters; m++) {
            grant(rules, &state, m, h, explorer);
            write_token(rules, &state, m, h, explorer);
            if (rules->fill_in)
                fill_in(rules, &state, m, h, explorer);
        }
        for (unsigned set = 1; set < 1u << rules->masters; set++) {
            if (state.hold[h].phase != TOLD)
                win(rules, &state, h, set, explorer);
        }
    }
    for (unsigned m = 0; m < rules->masters && state.losses > 0; m++)
        forget(rules, &state, m, explorer);
    for (unsigned m = 0; m < rules->masters && state.losses > 0 && rules->twins; m++) {
        for (unsigned to = 0; to < rules->masters; to++)
            lead_elsewhere(rules, &state, m, to, explorer);
    }
    for (unsigned m = 0; m < rules->masters && rules->set != SET_NOTHING && !state.was_set; m++)
        set_numbers(rules, &state, m, explorer);
    for (unsigned m = 0; m < rules->masters && rules->strict; m++) {
        if (rules->read_again)
            read_by_others(rules, &state, m, explorer);
        for (unsigned other = 0; other < rules->masters; other++)
            read_for(rules, &state, m, other, explorer);
        certify(rules, &state, m, explorer);
    }
}

static uint8_t renamed_set(uint8_t set, const unsigned place[SYMMETRY_MAX])
{
    unsigned renamed = 0;
    for (unsigned h = 0; h < HOLDS; h++) {
        if (set & (1u << h))
            renamed |= 1u << place[h];
    }
    return (uint8_t)renamed;
}

static void renamed(const struct state *from, const unsigned place[SYMMETRY_MAX],
                    struct state *ret_state)
{
    *ret_state = *from;
    for (unsigned h = 0; h < HOLDS; h++) {
        ret_state->hold[place[h]] = from->hold[h];
        ret_state->hold[place[h]].after = renamed_set(from->hold[h].after, place);
        for (unsigned m = 0; m < MASTERS; m++) {
            ret_state->master[m].refuses = renamed_set(from->master[m].refuses, place);
            ret_state->master[m].grant[place[h]] = from->master[m].grant[h];
            if (from->master[m].owner == 1 + h)
                ret_state->master[m].owner = (uint8_t)(1 + place[h]);
        }
    }
}

/* Do holds stand in the order of what they are without their names? It leaves few orders. */
static bool in_order(const struct state *from, const unsigned place[SYMMETRY_MAX],
                     unsigned holds)
{
    for (unsigned a = 0; a < holds; a++) {
        for (unsigned b = 0; b < holds; b++) {
            const struct hold *first = &from->hold[a], *second = &from->hold[b];
            if (place[a] < place[b] &&
                (first->phase > second->phase ||
                 (first->phase == second->phase && first->token > second->token)))
                return false;
        }
    }
    return true;
}

static uint8_t renamed_masters(uint8_t set, const unsigned place[SYMMETRY_MAX])
{
    unsigned renamed = 0;
    for (unsigned m = 0; m < SYMMETRY_MAX; m++)
        renamed |= (set >> m & 1u) << place[m];
    return (uint8_t)renamed;
}

/* What masters are without the names of others. */
static int compare_masters(const struct state *state, unsigned a, unsigned b)
{
    struct master first = state->master[a], second = state->master[b];
    first.read = second.read = first.ids = second.ids = 0;
    first.of = second.of = first.twin = second.twin = 0;
    return memcmp(&first, &second, sizeof(first));
}

/* With `strict` masters name each other, so all their orders are tried that could be the first. */
static void sort_masters(const struct fencing_rules *rules, struct state *state)
{
    struct state from = *state, best;
    unsigned place[SYMMETRY_MAX];
    bool any = false;
    if (!rules->strict || rules->masters > SYMMETRY_MAX) {
        if (!rules->strict)
            sort_records(state->master, rules->masters, sizeof(state->master[0]));
        return;
    }
    for (unsigned number = 0; order_of(number, rules->masters, place); number++) {
        struct state renamed = from;
        bool sorted = true;
        for (unsigned m = 0; m < rules->masters; m++) {
            struct master *to = &renamed.master[place[m]];
            *to = from.master[m];
            to->read = renamed_masters(from.master[m].read, place);
            to->ids = renamed_masters(from.master[m].ids, place);
            to->of = from.master[m].of ? (uint8_t)(1 + place[from.master[m].of - 1]) : 0;
            to->twin = from.master[m].twin ? (uint8_t)(1 + place[from.master[m].twin - 1]) : 0;
        }
        for (unsigned m = 1; m < rules->masters; m++)
            sorted = sorted && compare_masters(&renamed, m - 1, m) <= 0;
        if (!sorted || (any && memcmp(&renamed, &best, sizeof(best)) >= 0))
            continue;
        best = renamed;
        any = true;
    }
    *state = best;
}

static void canonical(const void *context, void *ret_state)
{
    const struct fencing_rules *rules = context;
    struct state from, state;
    unsigned place[SYMMETRY_MAX];
    bool any = false; /* a form so far */
    memcpy(&from, ret_state, sizeof(from));
    fencing_number_anew(&from);
    for (unsigned number = 0; order_of(number, rules->holds, place); number++) {
        if (!in_order(&from, place, rules->holds))
            continue;
        renamed(&from, place, &state);
        sort_masters(rules, &state);
        if (!any || memcmp(&state, ret_state, sizeof(state)) < 0)
            memcpy(ret_state, &state, sizeof(state));
        any = true;
    }
}

static const char *wrong(const void *context, const void *from)
{
    const struct fencing_rules *rules = context;
    struct state state;
    memcpy(&state, from, sizeof(state));
    for (unsigned a = 0; a < rules->holds; a++) {
        for (unsigned b = 0; b < rules->holds; b++) {
            if (a == b || state.hold[a].phase != TOLD || state.hold[b].phase != TOLD)
                continue;
            if (state.hold[a].token == state.hold[b].token)
                return "two holds have one token";
            if ((state.hold[b].after & (1u << a)) && state.hold[b].token < state.hold[a].token)
                return "a hold has a token below that of one before it";
        }
    }
    return NULL;
}

const struct model fencing_model = {sizeof(struct state), begin, moves, canonical, wrong};
