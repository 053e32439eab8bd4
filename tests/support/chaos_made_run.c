/* chaos_made_run.c - runs that look like real ones. Locks are granted one after the other, in
 * the order of asking, by a model that knows when a majority votes. */
#include "config_auto.h"

#include "chaos/faults/kinds.h"
#include "chaos_made.h"
#include "chaos/report/stats.h"

#include <stdlib.h>
#include <string.h>

static uint64_t draw(uint64_t *state, uint64_t below)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return (z ^ (z >> 31)) % below;
}

/* About `typical`, seldom many times that. */
static int64_t draw_time(uint64_t *state, int64_t typical)
{
    int64_t part = typical / 2 + (int64_t)draw(state, (uint64_t)typical);
    return draw(state, 50) == 0 ? part * (2 + (int64_t)draw(state, 8)) : part;
}

static void draw_faults(struct made *made, const struct made_plan *plan, uint64_t *state)
{
    static const struct {
        enum chaos_fault_kind kind;
        unsigned nodes; /* at most */
        bool clients;
    } kinds[] = {
        {CHAOS_FAULT_KILL, 2, false},         {CHAOS_FAULT_PAUSE, 3, false},
        {CHAOS_FAULT_PAUSE_HOLDER, 0, true},  {CHAOS_FAULT_PARTITION, 3, true},
        {CHAOS_FAULT_DELAY, 2, false},        {CHAOS_FAULT_RESET, 2, false},
        {CHAOS_FAULT_SCRIPT_FLUSH, 1, false}, {CHAOS_FAULT_FLUSHALL, 1, false},
        {CHAOS_FAULT_KILL_HOLDER, 0, true},   {CHAOS_FAULT_HALVES, 2, true},
        {CHAOS_FAULT_OOM, 2, false},          {CHAOS_FAULT_CLOCK, 1, false},
    };
    int64_t end_ns = plan->seconds * SEC;
    for (int64_t at = plan->fault_ns; plan->fault_ns > 0 && at < end_ns - 3 * SEC;
         at += draw_time(state, plan->fault_ns)) {
        size_t which = draw(state, sizeof(kinds) / sizeof(kinds[0]));
        uint64_t nodes = 0, clients = 0;
        for (uint64_t i = draw(state, kinds[which].nodes + 1); i > 0; i--)
            nodes |= CHAOS_BIT(draw(state, plan->nodes));
        if (kinds[which].nodes > 0)
            nodes |= CHAOS_BIT(draw(state, plan->nodes));
        if (kinds[which].clients)
            clients = CHAOS_BIT(draw(state, plan->clients));
        if (made->history.fault_count < 500)
            made_fault(made, kinds[which].kind, at,
                       at + (kinds[which].kind == CHAOS_FAULT_FLUSHALL
                                 ? 2 * MS
                                 : draw_time(state, 2 * SEC)),
                       nodes, clients);
    }
}

struct world {
    struct made *made;
    const struct made_plan *plan;
    struct chaos_quorum_time *quorum;
    size_t quorum_time_count;
    uint64_t state;
    uint64_t value[CHAOS_NAMES_MAX];
    int64_t free_ns[CHAOS_NAMES_MAX]; /* from when on it can be granted */
};

/* When this contender can get a majority, from then on. */
static int64_t quorum_from(struct world *world, unsigned client, int64_t at_ns)
{
    for (size_t i = 0; i < world->quorum_time_count; i++) {
        int64_t to_ns = i + 1 < world->quorum_time_count ? world->quorum[i + 1].from_ns
                                                         : world->plan->seconds * SEC;
        if (to_ns > at_ns && (world->quorum[i].clients & CHAOS_BIT(client)) != 0)
            return at_ns > world->quorum[i].from_ns
                       ? at_ns
                       : world->quorum[i].from_ns + draw_time(&world->state, 60 * MS);
    }
    return world->plan->seconds * SEC + 1;
}

static bool others_have_quorum(const struct world *world, int64_t at_ns)
{
    bool quorum = false;
    for (size_t i = 0; i < world->quorum_time_count && world->quorum[i].from_ns <= at_ns; i++)
        quorum = world->quorum[i].clients != 0;
    return quorum;
}

/* One turn of a contender: when it ends. */
static int64_t turn(struct world *world, unsigned client, int64_t at_ns)
{
    struct made *made = world->made;
    unsigned name = (unsigned)draw(&world->state, world->plan->names);
    int64_t end_ns = world->plan->seconds * SEC;
    made_asks(made, at_ns, client, name);
    bool twice = world->plan->bad > 0 && draw(&world->state, world->plan->bad) == 0;
    int64_t begin = world->free_ns[name] > at_ns && !twice ? world->free_ns[name] : at_ns;
    int64_t quorum = quorum_from(world, client, begin + draw_time(&world->state, 700000));
    bool cut_off = quorum - begin > 200 * MS && others_have_quorum(world, begin);
    begin = quorum;
    if (cut_off || begin >= end_ns || begin - at_ns > 4 * SEC) {
        int64_t refused = at_ns + 4 * SEC < end_ns ? at_ns + 4 * SEC : end_ns - MS;
        made_event(made, refused > at_ns ? refused : at_ns, CHAOS_REFUSED, client, name);
        return refused + 50 * MS;
    }
    int64_t until = begin + made->options.ttl_ms * MS;
    int64_t done = begin + draw_time(&world->state, world->plan->hold_ns);
    uint64_t value = world->value[name]++;
    made_holds(made, begin, until, client, name);
    made_reads(made, begin + (done - begin) / 4, value, client, name);
    made_writes(made, begin + (done - begin) * 3 / 4, value + 1, client, name);
    made_event(made, done, CHAOS_LETS_GO, client, name);
    made_event(made, done + 400000, CHAOS_RELEASED, client, name);
    if (done > world->free_ns[name])
        world->free_ns[name] = done;
    return done + 500000 + draw_time(&world->state, world->plan->hold_ns / 2 + 1);
}

void made_run(struct made *made, const struct made_plan *plan)
{
    made_init(made);
    made->options.clients = plan->clients;
    made->options.names = plan->names;
    made->options.local = made->history.nodes = plan->nodes;
    made->history.needed = plan->nodes / 2 + 1;
    made->history.duration_ns = plan->seconds * SEC;
    made->options.duration_ms = plan->seconds * 1000;
    made->options.seed = plan->seed;
    struct world world = {.made = made, .plan = plan, .state = plan->seed};
    draw_faults(made, plan, &world.state);
    world.quorum = chaos_quorum_times(&made->history, &world.quorum_time_count);
    int64_t next[CHAOS_CLIENTS_MAX];
    for (unsigned i = 0; i < plan->clients; i++)
        next[i] = (int64_t)draw(&world.state, (uint64_t)(30 * MS));
    for (;;) {
        unsigned first = 0;
        for (unsigned i = 1; i < plan->clients; i++)
            first = next[i] < next[first] ? i : first;
        if (next[first] >= plan->seconds * SEC - 10 * SEC / 100)
            break;
        next[first] = turn(&world, first, next[first]);
    }
    free(world.quorum);
    for (unsigned i = 0; i < plan->names; i++)
        made->history.record[i] = world.value[i];
    made_sort(made);
}
