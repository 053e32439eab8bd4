/* sim_supervise.c - programs' main threads: they open a client, start the threads that work
 * with it, and close it while these are at it or when they are done; and then once more. */
#include "config_auto.h"

#include "sim_world.h"

#include "engine/client/client.h"

#include <string.h>

static void start_threads(struct sim_actor *actor)
{
    actor->leaving = actor->kept_unseen = false;
    actor->calm = actor->calling = 0;
    actor->running = actor->threads;
    for (unsigned i = 0; i < actor->threads; i++) {
        bool loops = i == 0 && actor->style != SIM_BLOCKING;
        sim_fiber_new(actor->proc, loops ? sim_loop : sim_work, actor);
    }
}

void sim_actor_call(struct sim_actor *actor)
{
    if (actor->watches)
        sim_wake(actor->supervisor);
}

/* Sleep until the client is to be closed. */
static void watch(struct sim_actor *actor, int64_t until_ns)
{
    while (actor->running > 0 && !actor->proc->crashed && sim_world.phase != SIM_OVER) {
        if (sim_world.phase == SIM_WORK && (sim_now_ns() >= until_ns || sim_members_stale(actor)))
            return;
        sim_look_at_sizes(actor->proc, 1);
        actor->watches = true;
        sim_sleep(sim_world.phase == SIM_WORK ? until_ns : SIM_NEVER);
        actor->watches = false;
    }
}

/* Threads that are blocked may be ended by closing; those on their way in may not be. */
static bool all_blocked(const struct sim_actor *actor)
{
    return actor->style == SIM_BLOCKING && actor->client->calls.callers == actor->running &&
           actor->calling == actor->running;
}

/* Does a master answer before it is taken for one that does not, which closing does not wait
 * for? It is given two milliseconds at the least; what is sent in small pieces may take any
 * time. */
static bool answers_in_time(void)
{
    const struct sim_plan *plan = &sim_world.plan;
    return sim_world_faults(0, SIM_FAULT_KINDS - 1) == 0 && 4 * plan->delay_high_ns < SIM_MS &&
           plan->split_ppm == 0 && plan->short_ppm == 0;
}

/* Closing gives up whatever is held or was asked for, and waits until that is done: half a
 * second if nothing else is asked for, which is for ever where all answer. */
static void close_client(struct sim_actor *actor)
{
    char holder[sizeof(actor->client->identity.holder)];
    unsigned master;
    memcpy(holder, actor->client->identity.holder, sizeof(holder));
    sim_close(actor->client);
    if (!answers_in_time() || actor->options.linger_ms != 0 || actor->kept_unseen)
        return;
    /* What was asked for in the last moment of a lock has less time. */
    if (sim_token_left(holder, &master))
        sim_nap(5 * SIM_MS);
    const char *token = sim_token_left(holder, &master);
    if (token && answers_in_time())
        sim_found(SIM_ORPHAN, "%.8s of %s is left on n%u, and its client is closed", token,
                  holder, master + 1);
}

static void end_client(struct sim_actor *actor)
{
    bool cancels = sim_below(2) || actor->style != SIM_BLOCKING || sim_world.phase == SIM_OVER;
    actor->leaving = true;
    if (actor->proc->crashed || cancels)
        redlock_shutdown(actor->client);
    while (actor->running > 0 && !(all_blocked(actor) && !cancels))
        sim_nap(sim_scale(100 * SIM_US, 5 * SIM_MS));
    sim_look_at_sizes(actor->proc, 1);
    close_client(actor);
    while (actor->running > 0)
        sim_sleep(sim_now_ns() + SIM_MS);
    actor->client = NULL;
}

void *sim_supervise(void *argument)
{
    struct sim_actor *actor = argument;
    while (!actor->proc->crashed && sim_world.phase != SIM_OVER &&
           actor->calm < actor->threads) {
        actor->options.members = sim_members_of_host(actor->host);
        actor->client = sim_open(&actor->options);
        if (!actor->client) {
            sim_nap(sim_scale(SIM_MS, SIM_STEP_NS));
            continue;
        }
        start_threads(actor);
        watch(actor, sim_now_ns() + sim_scale(sim_world.plan.work_ns / 16 + SIM_MS,
                                              sim_world.plan.work_ns * 2));
        end_client(actor);
    }
    actor->gone = true;
    return NULL;
}
