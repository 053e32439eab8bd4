/* hold_world.c - the masters, their clocks, and the links to them. See hold_world.h. */
#include "config_auto.h"

#include "hold_world.h"

#include "core/trust.h"

#include <string.h>

struct tally tally;

uint64_t world_draw(struct world *world, uint64_t limit)
{
    return rl_prng_below(&world->prng, limit);
}

bool world_chance(struct world *world, unsigned percent)
{
    return world_draw(world, 100) < percent;
}

/* Evenly from -limit to limit. */
static double error_below(struct world *world, double limit)
{
    return ((double)world_draw(world, 2000001) / 1000000.0 - 1.0) * limit;
}

void world_begin(struct world *world, uint64_t seed, unsigned n, unsigned clients)
{
    memset(world, 0, sizeof(*world));
    rl_prng_seed(&world->prng, seed);
    world->seed = seed;
    world->n = n;
    world->clients = clients;
    world->drift_factor = world_chance(world, 50) ? 0.01 : 0.1;
    world->now_ns = 100 * RL_NS_PER_S;
    bool *const faults[] = {&world->breaks,     &world->strays,    &world->restarts,
                            &world->errors,     &world->noscripts, &world->full,
                            &world->odd_errors, &world->drains,    &world->pauses};
    for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        *faults[i] = world_chance(world, 50);
    /* A clock that runs ahead ends a lease early, which does no harm, but it would end the
     * restart guard early too. Keys that vanish break what a lease stands on: then only the
     * bookkeeping must be right. */
    world->jumps = world_chance(world, 15) && !world->restarts;
    world->vanishes = world_chance(world, 10);
    for (unsigned i = 0; i < n; i++) {
        struct master *master = &world->master[i];
        master->rate = 1.0 + error_below(world, world->drift_factor / 2.2);
        master->run = 1;
        master->phase_ns = (int64_t)world_draw(world, (uint64_t)RL_NS_PER_S);
    }
    for (unsigned c = 0; c < clients; c++) {
        struct client *client = &world->client[c];
        client->rate = 1.0 + error_below(world, world->drift_factor / 2.2);
        for (unsigned i = 0; i < n; i++) {
            if (!world_chance(world, 10))
                link_connect(world, client, i);
        }
    }
}

int64_t client_now_ns(const struct world *world, const struct client *client)
{
    return (int64_t)((double)world->now_ns * client->rate) + client->offset_ns;
}

/* ---- masters --------------------------------------------------------------------------- */

static void expire(struct world *world, struct master *master)
{
    if (master->token && world->now_ns > master->expires_ns)
        master->token = 0;
}

/* What the script of the verb does. */
static enum rl_vote run_script(struct world *world, struct master *master,
                               const struct request *request)
{
    int64_t expires_ns = world->now_ns + (int64_t)((double)request->ttl_ns / master->rate);
    expire(world, master);
    if (request->verb == RL_RELEASE) {
        if (master->token != request->token)
            return RL_VOTE_NO;
        master->token = 0;
        return RL_VOTE_YES;
    }
    bool may_take = request->verb != RL_EXTEND;
    bool may_extend = request->verb != RL_ACQUIRE;
    if (master->token == 0 && may_take) {
        master->token = request->token;
        master->expires_ns = expires_ns;
        master->stray = false;
        return RL_VOTE_YES;
    }
    if (master->token != request->token || !may_extend)
        return RL_VOTE_NO;
    if (expires_ns > master->expires_ns)
        master->expires_ns = expires_ns;
    return RL_VOTE_YES;
}

/* INFO's uptime: a difference of two truncated clocks. */
static int64_t uptime_s(const struct world *world, const struct master *master)
{
    int64_t up_ns = (int64_t)((double)(world->now_ns - master->began_ns) * master->rate);
    return (up_ns + master->phase_ns) / RL_NS_PER_S;
}

/* As this client's restart guard sees it. */
bool master_votes(struct world *world, struct client *client, unsigned node)
{
    struct master *master = &world->master[node];
    int64_t window_ns = rl_guard_window_ns(MAX_TTL_NS, world->drift_factor);
    int64_t seen_ns = client_now_ns(world, client) - client->run_since_ns[node];
    bool votes = rl_guard_wait_ns(window_ns, uptime_s(world, master), seen_ns) == 0;
    tally.guarded += !votes;
    return votes;
}

void world_master_restart(struct world *world, unsigned node)
{
    struct master *master = &world->master[node];
    master->token = 0;
    master->run++;
    master->began_ns = world->now_ns;
    master->phase_ns = (int64_t)world_draw(world, (uint64_t)RL_NS_PER_S);
    for (unsigned i = 0; i < world->stray_count;) {
        if (world->stray[i].node == node)
            world->stray[i] = world->stray[--world->stray_count];
        else
            i++;
    }
    for (unsigned c = 0; c < world->clients; c++) {
        struct client *client = &world->client[c];
        for (unsigned slot = 0; slot < RL_SLOTS; slot++) {
            struct link *link = &client->link[node][slot];
            for (unsigned i = 0; i < link->count; i++)
                link->queue[i].answered = true; /* died with it: it never will be executed */
            link_break(world, client, node, slot);
        }
    }
}

/* ---- links ----------------------------------------------------------------------------- */

bool link_in_use(const struct client *client, unsigned node)
{
    return client->link[node][client->current_slot[node]].open;
}

uint64_t client_able(struct world *world, struct client *client)
{
    uint64_t able = 0;
    for (unsigned i = 0; i < world->n; i++) {
        if (link_in_use(client, i) && master_votes(world, client, i))
            able |= rl_bit(i);
    }
    return able;
}

void link_connect(struct world *world, struct client *client, unsigned node)
{
    client->link[node][client->current_slot[node]].open = true;
    if (client->run_seen[node] != world->master[node].run) {
        client->run_seen[node] = world->master[node].run;
        client->run_since_ns[node] = client_now_ns(world, client);
    }
}

/* Of what was sent and not executed yet, the master gets the first few, now or (`strays`)
 * when it pleases. */
static void leave_behind(struct world *world, unsigned node, unsigned link_id,
                         const struct link *link)
{
    unsigned kept = (unsigned)world_draw(world, link->count + 1);
    for (unsigned i = 0; i < kept; i++) {
        struct request request = link->queue[i];
        if (request.answered)
            continue;
        request.attempt = NULL;
        if (!world->strays)
            run_script(world, &world->master[node], &request);
        else if (world->stray_count < STRAYS_MAX)
            world->stray[world->stray_count++] =
                (struct stray){.request = request, .node = node, .link = link_id};
    }
}

void link_break(struct world *world, struct client *client, unsigned node, unsigned slot)
{
    struct link *link = &client->link[node][slot];
    struct link gone = *link;
    if (!link->open)
        return;
    link->open = false;
    link->count = 0;
    leave_behind(world, node, (unsigned)world_draw(world, UINT32_MAX), &gone);
    for (unsigned i = 0; i < gone.count; i++)
        client_lost(world, client, node, slot, &gone.queue[i]);
}

void link_drain(struct world *world, struct client *client, unsigned node)
{
    unsigned other = 1 - client->current_slot[node];
    link_break(world, client, node, other); /* one may drain at a time */
    client->current_slot[node] = other;
    const struct link *link = &client->link[node][1 - other];
    for (unsigned i = 0; i < link->count; i++)
        rl_hold_link_drains(&link->queue[i].attempt->hold, node, 1 - other);
}

void stray_execute(struct world *world)
{
    if (world->stray_count == 0)
        return;
    unsigned at = (unsigned)world_draw(world, world->stray_count);
    for (unsigned i = 0; i < at; i++) {
        if (world->stray[i].link == world->stray[at].link)
            at = i; /* the oldest of its link */
    }
    struct stray stray = world->stray[at];
    memmove(&world->stray[at], &world->stray[at + 1],
            (world->stray_count - at - 1) * sizeof(stray));
    world->stray_count--;
    struct master *master = &world->master[stray.node];
    if (run_script(world, master, &stray.request) == RL_VOTE_YES &&
        stray.request.verb != RL_RELEASE) {
        master->stray = true;
        tally.strays++;
    }
}

/* The master executes the oldest request of the link that it has not executed. */
bool link_execute(struct world *world, struct client *client, unsigned node, unsigned slot)
{
    struct link *link = &client->link[node][slot];
    for (unsigned i = 0; i < link->count; i++) {
        struct request *request = &link->queue[i];
        if (request->answered)
            continue;
        request->answered = true;
        request->vote = RL_VOTE_FAILED;
        if (world->noscripts && !request->by_body && world_chance(world, 10)) {
            request->unexecuted = true;
            return true;
        }
        if (world->errors && world_chance(world, 5))
            return true;
        enum rl_vote vote = run_script(world, &world->master[node], request);
        if (!world->odd_errors || !world_chance(world, 3))
            request->vote = vote;
        return true;
    }
    return false;
}

/* The client hears the oldest answer of the link. */
bool link_deliver(struct world *world, struct client *client, unsigned node, unsigned slot)
{
    struct link *link = &client->link[node][slot];
    if (link->count == 0 || !link->queue[0].answered)
        return false;
    struct request request = link->queue[0];
    link->count--;
    memmove(link->queue, link->queue + 1, link->count * sizeof(request));
    client_answered(world, client, node, slot, &request);
    return true;
}

void world_pass(struct world *world, int64_t ns)
{
    world->now_ns += ns;
    for (unsigned i = 0; i < world->n; i++)
        expire(world, &world->master[i]);
    for (unsigned c = 0; c < world->clients; c++) {
        if (!world->client[c].paused)
            client_look(world, &world->client[c]);
    }
}
