/* sim_idle.c - when all others are gone: a program that is alone, whose client nobody drives
 * between its calls, which it makes seldom. Connections break meanwhile. All masters are up and
 * vote, so each of its tries must find a quorum, and wait for no more than to connect. */
#include "config_auto.h"

#include "sim_names.h"
#include "sim_world.h"

#include "limits.h"

enum { TRIES = 4 };

#define PAUSE_MAX_NS (5 * SIM_S)
#define ENDS_WITHIN_NS (100 * SIM_S)

static bool gone;

/* At most that, mostly much less. */
static void stay_away(void)
{
    if (sim_below(4))
        sim_nap(sim_scale(SIM_MS, PAUSE_MAX_NS));
    if (sim_below(2))
        return;
    for (unsigned i = 0; i < sim_world.plan.masters; i++) {
        if (sim_below(4))
            sim_path_reset(sim_proc(), i);
    }
    sim_nap(sim_scale(SIM_US, sim_below(2) ? SIM_MS : SIM_S));
}

static void try_once(redlock *client)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    char owner[SIM_OWNER_BYTES];
    const char *name = sim_served_name((unsigned)sim_below(sim_world.plan.names));
    redlock_lock *lock;
    options.ttl_ms = sim_world.plan.ttl_max_ms;
    sim_draw_kind(&options, owner);
    sim_tell_try(name, &options);
    int64_t began_ns = sim_own_ns(sim_proc());
    int result = sim_names_try(client, name, &options, &lock);
    sim_count_try(name, result);
    sim_waited(name, &options, began_ns);
    if (result == REDLOCK_OK)
        sim_release(lock, sim_took(lock, name, &options));
    else
        sim_found(SIM_STUCK, "%s is alone, all masters are up, and it gets %s: %s",
                  sim_proc()->name, name, redlock_strerror_name(result));
}

static void *idle(void *unused)
{
    struct sim_client_options how = sim_world.plan.options;
    (void)unused;
    how.background = sim_below(2) ? REDLOCK_BACKGROUND_NEVER : REDLOCK_BACKGROUND_AUTO;
    redlock *client = sim_open(&how);
    for (unsigned i = 0; client && i < TRIES; i++) {
        stay_away();
        try_once(client);
    }
    if (client)
        sim_close(client);
    gone = true;
    return NULL;
}

static bool more(void *unused)
{
    (void)unused;
    return !gone;
}

bool sim_idle(void)
{
    struct sim_proc *proc = sim_proc_new("idle");
    sim_world_connect(proc);
    gone = false;
    sim_fiber_new(proc, idle, NULL);
    sim_run_while(more, NULL, sim_now_ns() + ENDS_WITHIN_NS);
    if (!gone)
        sim_found(SIM_STUCK, "the last program does not come to its end");
    return gone;
}
