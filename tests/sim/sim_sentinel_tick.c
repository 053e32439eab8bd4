/* sim_sentinel_tick.c - what model Sentinels do by themselves in worlds: small steps at times
 * that are drawn, so that whatever may come between two of them does. */
#include "config_auto.h"

#include "sim_sentinel_parts.h"

#define PAUSE_LEAST_NS SIM_MS
#define PAUSE_MOST_NS (700 * SIM_MS)
#define LAG_LEAST_NS (10 * SIM_US)
#define LAG_MOST_NS (900 * SIM_MS)

static unsigned n_sentinels(void)
{
    return sim_masters_options()->sentinels;
}

/* One of the service's: its first master, or a replica. */
static unsigned draw_server(unsigned service)
{
    unsigned which = (unsigned)sim_below(1 + sim_masters_options()->replicas);
    return which == 0 ? service : sim_replica_at(service, which - 1);
}

static int64_t draw_lag(void)
{
    return sim_below(3) ? sim_scale(LAG_LEAST_NS, LAG_MOST_NS) : 0;
}

/* A step of a failover, now and then none. Before it was seen it may come to nothing. */
static void lead(const struct sim_sentinel *sentinel, unsigned service)
{
    const struct sim_register *reg = &sentinel->of[service];
    if (reg->step == SIM_STEP_NONE || sim_below(3) == 0)
        return;
    if (reg->step < SIM_STEP_SEEN && sim_below(16) == 0)
        sim_sentinel_gives_up(sentinel->server->index, service);
    else if (reg->step != SIM_STEP_DONE || sim_below(4) == 0)
        sim_sentinel_steps(sentinel->server->index, service, draw_lag());
}

static void hear(const struct sim_sentinel *sentinel, unsigned service)
{
    unsigned from = sim_sentinel_at(service, (unsigned)sim_below(n_sentinels()));
    if (!sentinel->deaf && from != sentinel->server->index && !sim_server(from)->sentinel->deaf)
        sim_sentinel_hears(sentinel->server->index, service, from);
}

/* One of them follows its master, has its data, or, for a moment, has it no more. */
static void mind_replicas(const struct sim_sentinel *sentinel, unsigned service)
{
    unsigned server = draw_server(service);
    if (sim_below(2))
        sim_sentinel_corrects(sentinel->server->index, service, server);
    server = draw_server(service);
    if (sim_server(server)->linked && sim_below(16) == 0)
        sim_replica_lost(server, draw_lag());
    else if (sim_below(2))
        sim_replica_linked(server, sim_below(2));
}

static void on_tick(struct sim_event *event)
{
    struct sim_sentinel *sentinel = (struct sim_sentinel *)event;
    unsigned services = sim_masters_options()->count;
    for (unsigned i = 0; i < services; i++) {
        if (!sim_sentinel_watches(sentinel, i))
            continue;
        lead(sentinel, i);
        hear(sentinel, i);
        mind_replicas(sentinel, i);
        if (sim_below(4) == 0)
            sim_sentinel_looks(sentinel->server->index, i);
    }
    sim_at(event, sim_now_ns() + sim_scale(PAUSE_LEAST_NS, PAUSE_MOST_NS));
}

static void each(void (*act)(struct sim_sentinel *sentinel))
{
    for (unsigned i = 0; i < sim_servers(); i++) {
        if (sim_server(i)->sentinel)
            act(sim_server(i)->sentinel);
    }
}

static void begin(struct sim_sentinel *sentinel)
{
    sentinel->tick.fire = on_tick;
    sim_at(&sentinel->tick, sim_scale(PAUSE_LEAST_NS, PAUSE_MOST_NS));
}

static void rest(struct sim_sentinel *sentinel)
{
    sim_not(&sentinel->tick);
}

void sim_sentinels_tick(void)
{
    each(begin);
}

void sim_sentinels_rest(void)
{
    each(rest);
}

void sim_sentinel_deaf(unsigned sentinel, bool deaf)
{
    assert(sim_server(sentinel)->sentinel);
    sim_server(sentinel)->sentinel->deaf = deaf;
}

/* ---- the end of faults ------------------------------------------------------------------ */

/* What is under way comes to its end; all have heard of the newest term. */
static void agree(unsigned service)
{
    for (unsigned i = 0; i < n_sentinels(); i++) {
        unsigned sentinel = sim_sentinel_at(service, i);
        sim_sentinel_gives_up(sentinel, service);
        while (sim_server(sentinel)->sentinel->of[service].step != SIM_STEP_NONE &&
               sim_sentinel_steps(sentinel, service, 0))
            ;
    }
    for (unsigned i = 0; i < n_sentinels(); i++)
        sim_sentinels_hear(service);
}

static bool all_say(unsigned service, unsigned master)
{
    unsigned said;
    uint64_t term, first = 0;
    for (unsigned i = 0; i < n_sentinels(); i++) {
        if (!sim_sentinel_says(sim_sentinel_at(service, i), service, &said, &term) ||
            said != master || (i > 0 && term != first))
            return false;
        first = term;
    }
    return true;
}

/* Two may have been promoted in one term, or the master may have become a replica. */
static void settle(unsigned service)
{
    agree(service);
    unsigned master = sim_service_master(service), sentinel = sim_sentinel_at(service, 0);
    for (unsigned i = 0; sim_is_replica(master) || !all_say(service, master); i++) {
        unsigned to = i == 0 ? service : sim_replica_at(service, i - 1);
        if (to == sim_server(sentinel)->sentinel->of[service].master)
            continue;
        sim_sentinel_fails_over(sentinel, service, to);
        agree(service);
        master = sim_service_master(service);
        assert(i <= sim_masters_options()->replicas);
    }
    for (unsigned i = 0; i <= sim_masters_options()->replicas; i++) {
        unsigned server = i == 0 ? service : sim_replica_at(service, i - 1);
        if (server != master)
            sim_sentinel_corrects(sentinel, service, server);
        sim_replica_linked(server, true);
    }
    for (unsigned i = 0; i < n_sentinels(); i++)
        sim_sentinel_looks(sim_sentinel_at(service, i), service);
}

void sim_sentinels_settle(void)
{
    for (unsigned i = 0; n_sentinels() > 0 && i < sim_masters_options()->count; i++)
        settle(i);
}
