/* sim_members.c - worlds whose list of masters changes while programs hold locks, as redlock(7)
 * tells an operator to do it: one master is added or removed, each host gets the new list when
 * its turn comes, where programs are started anew then, and the next change waits until the
 * former list is gone for max-ttl. Two lists are in use meanwhile, and no assumption is broken.
 */
#include "config_auto.h"

#include "sim_world.h"

#include <assert.h>

enum { LISTS_MAX = 5 };

static struct {
    struct sim_event tick; /* first */
    uint64_t list[LISTS_MAX];
    unsigned lists, newest;          /* that hosts get, or have */
    int64_t turn_ns[SIM_ACTORS_MAX]; /* when a host gets the newest one */
    unsigned has[SIM_ACTORS_MAX];    /* a host's list so far */
    int64_t alone_ns;                /* since when nobody has a former list; -1: some do */
    int64_t next_ns;                 /* when the next change may begin */
} members;

static uint64_t all_masters(void)
{
    return (UINT64_C(1) << sim_world.plan.masters) - 1;
}

/* All but one, or all: the list after this one. */
static uint64_t draw_next(uint64_t list)
{
    if (list != all_masters())
        return all_masters();
    return all_masters() & ~(UINT64_C(1) << sim_below(sim_world.plan.masters));
}

static unsigned hosts(void)
{
    return sim_world.plan.actors;
}

/* Its clock may be as slow as any, and it may have been given the lock right before it ended.
 */
static int64_t lease_ns(void)
{
    const struct sim_client_options *options = &sim_world.plan.options;
    double drift = options->drift_factor > 0 ? options->drift_factor : 0.01;
    return (int64_t)((double)(options->max_ttl_ms * SIM_MS) * (1 + drift));
}

/* A program that was killed may have left a text behind, which lasts no longer either. */
static bool some_have_former_list(void)
{
    for (unsigned i = 0; i < sim_world.actor_count; i++) {
        const struct sim_actor *actor = &sim_world.actor[i];
        if (!actor->gone && !actor->proc->crashed &&
            actor->options.members != members.list[members.newest])
            return true;
    }
    return false;
}

static void change(void)
{
    /* Locks of the list before this one are over: a majority of the next list may lack them. */
    assert(members.newest == 0 || sim_now_ns() - members.alone_ns >= lease_ns());
    members.newest++;
    members.alone_ns = -1;
    for (unsigned i = 0; i < hosts(); i++)
        members.turn_ns[i] =
            sim_now_ns() + sim_scale(SIM_MS, 2 * sim_world.plan.options.max_ttl_ms * SIM_MS);
    sim_tell("the list of masters is changed, from %#llx to %#llx",
             (unsigned long long)members.list[members.newest - 1],
             (unsigned long long)members.list[members.newest]);
}

static void on_tick(struct sim_event *event)
{
    if (sim_world.phase != SIM_WORK)
        return;
    for (unsigned i = 0; i < hosts(); i++) {
        if (members.has[i] != members.newest && sim_now_ns() >= members.turn_ns[i])
            members.has[i] = members.newest;
    }
    if (some_have_former_list())
        members.alone_ns = -1;
    else if (members.alone_ns < 0) {
        members.alone_ns = sim_now_ns();
        members.next_ns = sim_now_ns() + lease_ns() + sim_scale(SIM_US, SIM_STEP_NS);
    }
    if (members.alone_ns >= 0 && sim_now_ns() >= members.next_ns &&
        members.newest + 1 < members.lists)
        change();
    for (unsigned i = 0; i < sim_world.actor_count; i++) {
        if (sim_members_stale(&sim_world.actor[i]))
            sim_actor_call(&sim_world.actor[i]);
    }
    sim_at(event, sim_now_ns() + SIM_STEP_NS / 10);
}

void sim_members_begin(void)
{
    members.tick = (struct sim_event){.fire = on_tick};
    members.lists = members.newest = 0;
    if (!sim_world.plan.members)
        return;
    members.lists = 2 + (unsigned)sim_below(LISTS_MAX - 1);
    members.list[0] = sim_below(2) ? all_masters() : draw_next(all_masters());
    for (unsigned i = 1; i < members.lists; i++)
        members.list[i] = draw_next(members.list[i - 1]);
    for (unsigned i = 0; i < hosts(); i++)
        members.has[i] = 0;
    members.alone_ns = -1;
    sim_at(&members.tick, sim_scale(SIM_MS, SIM_STEP_NS));
}

void sim_members_end(void)
{
    sim_not(&members.tick);
}

uint64_t sim_members_of_host(unsigned host)
{
    return sim_world.plan.members ? members.list[members.has[host]] : 0;
}

uint64_t sim_members_last(void)
{
    return sim_world.plan.members ? members.list[members.newest] : 0;
}

bool sim_members_stale(const struct sim_actor *actor)
{
    return actor->options.members != sim_members_of_host(actor->host);
}
