/* sim_failover.c - worlds in which masters have replicas, and Sentinels that name them: what a
 * seed draws, and what goes wrong with them. Failovers are many and come at any moment: a master
 * need not be down for one. */
#include "config_auto.h"

#include "sim_effect.h"
#include "sim_sentinel.h"

#include "core/witness.h"

#define LAG_MOST_NS (900 * SIM_MS)
#define CLOCKS_APART_NS (2 * SIM_S)

/* ---- what is drawn ---------------------------------------------------------------------- */

static enum sim_assumption draw_breaks(void)
{
    static const enum sim_assumption some[] = {
        SIM_KEYS_STAY, SIM_NO_STEP, SIM_RATES,    SIM_TIME_COUNTS,
        SIM_STEADY,    SIM_CUT,     SIM_REMEMBER, SIM_REMEMBER,
    };
    return sim_below(100) < 85 ? SIM_ASSUMPTIONS : some[sim_below(8)];
}

/* Fencing tokens go by one server's clock, and fair locks and readers and writers on one master
 * are judged by what one server has. */
void sim_failover_draw(struct sim_plan *plan)
{
    static const unsigned char masters[] = {1, 1, 1, 2, 3, 3, 3, 3};
    static const unsigned char sentinels[] = {3, 3, 3, 3, 3, 4, 4, 5};
    plan->failover = plan->marked = true;
    plan->strict = sim_below(4) == 0;
    plan->fenced = plan->certified = plan->set_numbers = plan->members = plan->crowded = false;
    if (plan->family == SIM_FAIR_LOCKS || plan->family == SIM_RW_LOCKS)
        plan->family = SIM_PLAIN_LOCKS;
    plan->masters = masters[sim_below(8)];
    if (plan->family == SIM_SHARED_LOCKS && plan->masters == 1)
        plan->masters = 3;
    plan->replicas = 1 + (unsigned)sim_below(2);
    plan->sentinels = sentinels[sim_below(8)];
    plan->same_sentinels = sim_below(2);
    plan->ttl_max_ms = sim_scale(60, 1500);
    plan->breaks = draw_breaks();
}

/* In some worlds their clocks are further apart: ends of keys travel as times of day. */
void sim_failover_begin(void)
{
    const struct sim_plan *plan = &sim_world.plan;
    int64_t most = plan->master_rate_ppb;
    for (unsigned i = plan->masters; i < sim_server_count(); i++) {
        if (sim_is_sentinel(i))
            continue;
        sim_master_clock_rate(i, sim_between(-most, most));
        if (sim_below(4) == 0)
            sim_master_step_clock(i, sim_between(1, CLOCKS_APART_NS));
    }
    sim_world.back_ns += CLOCKS_APART_NS; /* a key lasts so much longer at another one */
    sim_sentinels_tick();
}

/* After the last fault: what is still under way comes to an end, as an operator has it. */
void sim_failover_end(void)
{
    sim_sentinels_settle();
    sim_sentinels_rest();
}

/* Sentinels that were just restarted do not count for a window. Then somebody looks, and there is
 * a quarantine for another one. */
int64_t sim_failover_served_ns(void)
{
    const struct sim_client_options *options = &sim_world.plan.options;
    double drift = options->drift_factor > 0 ? options->drift_factor : 0.01;
    int64_t window_ns = rl_witness_window_ns(options->max_ttl_ms * SIM_MS, drift);
    return 3 * window_ns + 5 * SIM_S;
}

/* ---- what goes wrong -------------------------------------------------------------------- */

static unsigned draw_sentinel(unsigned service)
{
    return sim_sentinel_at(service, (unsigned)sim_below(sim_world.plan.sentinels));
}

static bool restart_with_template(unsigned sentinel)
{
    sim_sentinel_forgets(sentinel);
    sim_master_start(sentinel, SIM_WHOLE);
    return true;
}

/* Every one of each service that it watches, one after the other. */
static bool all_forget(void)
{
    for (unsigned i = 0; i < sim_server_count(); i++) {
        if (sim_is_sentinel(i) && sim_master_up(i))
            restart_with_template(i);
    }
    return true;
}

bool sim_failover_do(enum sim_fault fault, unsigned server)
{
    unsigned service = sim_service_of(server);
    switch (fault) {
    case SIM_FAULT_FAILOVER:
    case SIM_FAULT_FAILOVER_BY_HAND:
        return sim_sentinel_begins(draw_sentinel(service), service, server,
                                   fault == SIM_FAULT_FAILOVER);
    case SIM_FAULT_PROMOTED:
        sim_replica_promoted(server, sim_scale(SIM_US, LAG_MOST_NS));
        return !sim_is_replica(server);
    case SIM_FAULT_DEAF:
        sim_sentinel_deaf(server, true);
        return true;
    case SIM_FAULT_FORGETS:
        return restart_with_template(server);
    case SIM_FAULT_ALL_FORGET:
        return all_forget();
    default: /* DEMOTED */
        return sim_replica_follows(server, sim_service_master(service), false);
    }
}
