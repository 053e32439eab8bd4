/* sim_end.c - when no fault happens any more: everybody is served, all clients are closed, and
 * when every key has had time to run out, nothing is left.
 *
 * How long it may take until every thread has had each name once (measured on true time from
 * the end of the last fault; what is rare is allowed to happen once, not each time):
 *
 *   keys     a key that was made, or made to last, at the last moment: max-ttl and its drift,
 *            and as much as masters' clocks were set back by
 *   guard    a master that was started at the last moment is believed after max-ttl, its
 *            drift, two roundings to whole seconds and a second until INFO is asked for again
 *   link     a request that is never answered: a client's patience, the pause between two
 *            connections beside silent ones (stall-limit), connect-timeout, and the pause
 * before connecting; twice, for what was begun in trouble may fail once more wakes    a
 * subscriber that hears nothing: a PING after 5 s and the same link once more; until then a
 * wake-up may be lost, and a waiter asks by itself after a probe's longest time gone     a
 * writer that waited and is gone, until its mark is; those who waited for a fair lock and are
 * gone, until they are not waited for any more turns    each of the others is served before: a
 * hold of a step at the most (1 ms and two trips mostly) and a hand-off of a few trips, or a
 * pause after a split
 */
#include "config_auto.h"

#include "sim_judge.h"
#include "sim_world.h"

#include "base/limits.h"
#include "net/link_internal.h"
#include "core/quorum.h"

#define PROBE_MAX_NS (RL_UNPROMPTED_MAX_MS * 5 / 4 * SIM_MS)
#define RETRY_MAX_NS (RL_RETRY_MAX_MS * SIM_MS)
#define ENDS_WITHIN_NS (100 * SIM_S)
#define GONE_AFTER_NS (RL_QUEUE_TTL_MS * SIM_MS)
/* A fair queue: five minutes for each who is in it. */
#define FAIR_GONE_NS (24 * 3600 * SIM_S)
/* What was sent last may be executed so much later: bytes that a hole held are sent again by
 * and by, until the sockets' TCP_USER_TIMEOUT. */
#define UNDER_WAY_NS (RL_LINK_DEAD_AFTER_MS * SIM_MS + SIM_S)

static int64_t with_drift(int64_t ns)
{
    double drift = sim_world.plan.options.drift_factor;
    return ns + (int64_t)((double)ns * 2 * (drift > 0 ? drift : RL_DEFAULT_DRIFT_FACTOR)) +
           2 * SIM_MS;
}

static int64_t gone_ns(void)
{
    switch (sim_world.plan.family) {
    case SIM_SHARED_LOCKS:
    case SIM_RW_LOCKS:
        return RL_WRITER_WAITING_MS * SIM_MS;
    case SIM_FAIR_LOCKS:
        return with_drift(RL_FAIR_WAITER_MS * SIM_MS) + sim_world.back_ns;
    default:
        return 0;
    }
}

static int64_t served_within_ns(void)
{
    const struct sim_plan *plan = &sim_world.plan;
    int64_t ttl_ns = (plan->kept ? plan->options.max_ttl_ms : plan->ttl_max_ms) * SIM_MS;
    int64_t keys_ns = with_drift(ttl_ns) + sim_world.back_ns;
    int64_t guard_ns = with_drift(plan->options.max_ttl_ms * SIM_MS) + 3 * SIM_S;
    if (plan->marked) /* it may be found that much later */
        guard_ns += plan->options.max_ttl_ms * SIM_MS / 2;
    if (plan->failover)
        guard_ns += sim_failover_served_ns();
    int64_t pauses_ms =
        RL_DEFAULT_STALL_LIMIT_MS + RL_DEFAULT_CONNECT_TIMEOUT_MS + RL_RECONNECT_MAX_MS;
    int64_t link_ns = 2 * (rl_patience_ns(2 * plan->delay_high_ns) + pauses_ms * SIM_MS);
    int64_t wakes_ns = RL_PING_AFTER_MS * SIM_MS + link_ns + PROBE_MAX_NS;
    int64_t turns = 0;
    for (unsigned i = 0; i < sim_world.actor_count; i++) {
        if (!sim_world.actor[i].proc->crashed)
            turns += sim_world.actor[i].threads * plan->names;
    }
    if (plan->kept) /* each may wait for a lock that it then keeps for a least time */
        keys_ns += turns * with_drift(ttl_ns);
    return keys_ns + guard_ns + link_ns + wakes_ns + gone_ns() +
           turns * (SIM_STEP_NS + RETRY_MAX_NS + 20 * plan->delay_high_ns);
}

static bool more_to_serve(void *context)
{
    (void)context;
    for (unsigned i = 0; i < sim_world.actor_count; i++) {
        const struct sim_actor *actor = &sim_world.actor[i];
        if (!actor->gone && !actor->proc->crashed)
            return true;
    }
    return false;
}

static bool more_to_end(void *context)
{
    (void)context;
    for (unsigned i = 0; i < sim_world.actor_count; i++) {
        if (!sim_world.actor[i].gone)
            return true;
    }
    return false;
}

static void call_all(enum sim_phase phase)
{
    sim_world.phase = phase;
    for (unsigned i = 0; i < sim_world.actor_count; i++)
        sim_actor_call(&sim_world.actor[i]);
}

bool sim_calm_down(void)
{
    int64_t bound_ns = served_within_ns();
    sim_world.calm_ns = sim_now_ns();
    sim_tell("no more faults: all are to be served within %.3f s",
             (double)bound_ns / (double)SIM_S);
    call_all(SIM_CALM);
    sim_run_while(more_to_serve, NULL, sim_world.calm_ns + bound_ns);
    const struct sim_slowest served = {
        .seed = sim_world.seed,
        .took_ns = sim_now_ns() - sim_world.calm_ns,
        .bound_ns = bound_ns,
    };
    /* A master that told a number far ahead: others catch up by steps, and may need long. */
    bool apart = sim_clocks_apart() || sim_world.plan.set_numbers;
    if (sim_assumptions_broken() == 0 &&
        !apart) /* in others a bound that is missed is a cost */
        sim_tally_served(sim_world.tally, &served);
    for (unsigned i = 0; i < sim_world.actor_count; i++) {
        const struct sim_actor *actor = &sim_world.actor[i];
        if (!actor->gone && !actor->proc->crashed && !apart)
            sim_found(SIM_STARVED, "%s has not been served in %.3f s without a fault",
                      actor->proc->name, (double)bound_ns / (double)SIM_S);
    }
    call_all(SIM_OVER);
    sim_run_while(more_to_end, NULL, sim_now_ns() + ENDS_WITHIN_NS);
    if (!more_to_end(NULL))
        return true;
    sim_found(SIM_STARVED, "a client can't be closed");
    return false;
}

bool sim_clear_up(void)
{
    int64_t key_ns = sim_world.plan.options.max_ttl_ms * SIM_MS;
    for (unsigned i = 0; i < SIM_ACTORS_MAX; i++) {
        for (unsigned k = 0; k < SIM_TEXTS_MAX; k++) {
            if (sim_world.text[i][k].hold)
                sim_gives_up(sim_world.text[i][k].hold);
        }
    }
    int64_t last_ns = sim_world.plan.family == SIM_FAIR_LOCKS ? FAIR_GONE_NS : GONE_AFTER_NS;
    /* In which nothing happens. */
    sim_world.tally->simulated_ns -= with_drift(last_ns) - with_drift(GONE_AFTER_NS);
    sim_run_until(sim_now_ns() + UNDER_WAY_NS + sim_world.back_ns +
                  with_drift(key_ns > last_ns ? key_ns : last_ns));
    if (!sim_idle())
        return false;
    sim_run_until(sim_now_ns() + UNDER_WAY_NS +
                  with_drift(key_ns > last_ns ? key_ns : last_ns));
    sim_look_for_orphans();
    sim_masters_end();
    sim_procs_end();
    return true;
}
