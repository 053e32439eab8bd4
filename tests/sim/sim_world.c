/* sim_world.c - see sim_world.h: what a seed draws, and the order of things. */
#include "config_auto.h"

#include "sim_world.h"

#include "sim_fiber.h"
#include "sim_judge.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TTL_MIN_MS = 30, TRIP = 16 };

struct sim_world sim_world;

/* ---- what is drawn -------------------------------------------------------------------- */

static unsigned draw_masters(void)
{
    static const unsigned char counts[] = {1, 2, 3, 3, 3, 3, 3, 3, 4, 4, 5, 5, 5, 5, 6, 7};
    return counts[sim_below(sizeof(counts))];
}

/* The list is these, or all but one; two at the least, since on one master alone readers and
 * writers, and counters of fencing tokens, have other formats. */
static unsigned draw_members(void)
{
    static const unsigned char counts[] = {3, 4, 4, 4, 4, 5, 5, 6};
    return counts[sim_below(sizeof(counts))];
}

/* Rates within which a client and a master measure the same time with less than the drift
 * between them: whichever of them is to blame for it. Two clients may be twice as far from each
 * other. By a clock that loses x of each second, a right one gains x / (1 - x). */
static void draw_rates(struct sim_plan *plan, double drift_factor)
{
    double drift = drift_factor > 0 ? drift_factor : 0.01;
    int64_t most_ppb = (int64_t)(drift * 1e9) * (int64_t)sim_below(100) / 100;
    int64_t bound_ppb = (int64_t)(drift * 1e9 / (1 + drift));
    if (most_ppb > bound_ppb)
        most_ppb = bound_ppb;
    plan->master_rate_ppb = sim_between(0, most_ppb);
    plan->client_rate_ppb = most_ppb - plan->master_rate_ppb;
}

static void draw_options(struct sim_plan *plan)
{
    static const double drifts[] = {0, 0, 0, 0.01, 0.001, 0.05};
    struct sim_client_options *options = &plan->options;
    options->max_ttl_ms = plan->ttl_max_ms * sim_between(2, 4) / 2;
    options->watch_wall_clock = plan->watching ? REDLOCK_ON : REDLOCK_DEFAULT;
    options->fencing = plan->certified ? REDLOCK_FENCING_STRICT : REDLOCK_FENCING_CLOCK;
    if (plan->delayed) {
        options->lock_delay_ms = sim_scale(1, plan->ttl_max_ms);
        options->max_ttl_ms += options->lock_delay_ms;
    }
    options->drift_factor = drifts[sim_below(6)];
    options->by_name = sim_below(5) == 0;
    options->guard = plan->breaks == SIM_GUARD_ON ? REDLOCK_OFF
                     : plan->strict               ? REDLOCK_GUARD_STRICT
                     : plan->marked               ? REDLOCK_GUARD_MARKER
                                                  : REDLOCK_DEFAULT;
    options->node_timeout_ms =
        sim_below(4) ? 0 : sim_scale(plan->ttl_sure_ms / plan->masters + 1, 200);
    options->password = sim_below(6) ? NULL : "secret";
    options->db = sim_below(4) ? 0 : 1 + (unsigned)sim_below(15);
    if (sim_below(2)) /* the guard waits for max-ttl whatever the usual one is */
        options->ttl_ms = sim_scale(TTL_MIN_MS, options->max_ttl_ms - options->lock_delay_ms);
    options->linger_ms = sim_below(3) ? 0 : sim_below(2) ? -1 : sim_scale(1, 2000);
}

/* Tokens must grow wherever the masters' clocks stand. But all are to be served in the end: so
 * a majority agrees on the time, and has the lock where the other one is not among the first.
 */
static void draw_apart(struct sim_plan *plan)
{
    if (!plan->fenced || plan->masters < 3 || sim_below(3))
        return;
    int64_t apart_ms = sim_scale(plan->options.max_ttl_ms / 8, 20 * plan->options.max_ttl_ms);
    plan->wall_apart_ns = (sim_below(2) ? apart_ms : -apart_ms) * SIM_MS;
}

/* A request and its answer: most of them in one piece, each of which takes a delay. */
static void draw_delays(struct sim_plan *plan)
{
    int64_t most_ns = (plan->ttl_max_ms - TTL_MIN_MS) * SIM_MS / (TRIP * plan->masters);
    plan->delay_high_ns = sim_scale(20 * SIM_US, sim_below(4) ? SIM_MS : 15 * SIM_MS);
    if (plan->delay_high_ns > most_ns)
        plan->delay_high_ns = most_ns;
    plan->delay_low_ns = plan->delay_high_ns / sim_between(1, 10);
    plan->ttl_sure_ms = TTL_MIN_MS + TRIP * plan->masters * plan->delay_high_ns / SIM_MS;
}

static void draw_plan(struct sim_plan *plan, uint64_t seed)
{
    memset(plan, 0, sizeof(*plan));
    plan->family = sim_family_of(seed);
    plan->fenced = sim_fenced_of(seed);
    plan->members = sim_members_of(seed) && plan->family != SIM_FAIR_LOCKS &&
                    plan->family != SIM_RW_LOCKS;
    plan->certified = sim_certified_of(seed) && !plan->members;
    plan->limited = sim_limited_of(seed);
    plan->crowded = sim_crowded_of(seed) && !plan->members && plan->family != SIM_FAIR_LOCKS &&
                    plan->family != SIM_RW_LOCKS;
    plan->masters = plan->members   ? draw_members()
                    : plan->crowded ? sim_draw_crowd()
                                    : draw_masters();
    if (plan->family == SIM_SHARED_LOCKS && plan->masters == 1)
        plan->masters = 3; /* on one it is another format */
    if (plan->family == SIM_FAIR_LOCKS || plan->family == SIM_RW_LOCKS)
        plan->masters = 1;
    plan->actors = (unsigned)sim_between(2, 6);
    plan->names = 1 + (unsigned)sim_below(plan->limited ? SIM_NAMES_MAX : SIM_FEW_NAMES);
    if (plan->family == SIM_SEVERAL_LOCKS && plan->names == 1)
        plan->names = SIM_FEW_NAMES;
    for (unsigned i = 0; i < plan->names; i++)
        snprintf(plan->name[i], sizeof(plan->name[i]), "lock-%c", 'a' + (char)i);
    plan->ttl_max_ms = sim_scale(60, plan->members ? 1000 : 10000);
    plan->breaks =
        sim_below(100) < 85 ? SIM_ASSUMPTIONS : (enum sim_assumption)sim_below(SIM_STEADY + 1);
    plan->marked = sim_marked_of(seed) && plan->breaks != SIM_GUARD_ON;
    plan->strict = plan->marked && sim_strict_of(seed);
    plan->partial = sim_partial_of(seed);
    plan->set_numbers = plan->certified && plan->masters > 2 && sim_numbers_of(seed);
    plan->set_down = sim_lower_of(seed);
    plan->delayed = sim_delayed_of(seed);
    plan->kept = sim_kept_of(seed) && !plan->members;
    plan->watching = sim_watching_of(seed);
    plan->members &= plan->breaks != SIM_ONE_LIST;
    if (sim_failover_wanted)
        sim_failover_draw(plan);
    draw_delays(plan);
    draw_options(plan);
    draw_rates(plan, plan->options.drift_factor);
    draw_apart(plan);
    plan->split_ppm = sim_below(2) ? 0 : (unsigned)sim_scale(100, 300000);
    plan->short_ppm = sim_below(2) ? 0 : (unsigned)sim_scale(100, 300000);
    plan->switch_ppm = (unsigned)sim_scale(10, 200000);
    plan->relays = sim_below(4) == 0;
    plan->work_ns = sim_scale(500 * SIM_MS, 20 * SIM_S);
    plan->enough = (uint64_t)sim_scale(16, 500);
    if (plan->members)
        plan->enough += 500;
}

/* ---- who there is --------------------------------------------------------------------- */

/* Nothing but a proposal of a fencing token rests on the wall clock, and it may be wrong. */
static int64_t draw_wall_ns(void)
{
    switch (sim_below(8)) {
    case 0:
        return 3600 * SIM_S;
    case 1:
        return -3600 * SIM_S;
    case 2:
        return sim_between(-20 * SIM_S, 20 * SIM_S);
    default:
        return sim_between(-50 * SIM_MS, 50 * SIM_MS);
    }
}

static void set_clock(struct sim_proc *proc, const struct sim_proc *before)
{
    int64_t most = sim_world.plan.client_rate_ppb;
    if (before)
        sim_proc_share_host(proc, before);
    else
        proc->rate_ppb = sim_between(-most, most);
    if (!before && sim_world.plan.fenced)
        proc->wall_extra_ns = draw_wall_ns();
}

void sim_world_connect(const struct sim_proc *proc)
{
    const struct sim_plan *plan = &sim_world.plan;
    for (unsigned i = 0; i < sim_server_count(); i++) {
        struct sim_path *path = sim_path(proc, i);
        for (unsigned way = 0; way < SIM_WAYS; way++) {
            path->delay_low_ns[way] = plan->delay_low_ns;
            path->delay_high_ns[way] = plan->delay_high_ns;
        }
        path->relay = plan->relays;
        path->split_ppm = plan->split_ppm;
        path->short_read_ppm = path->short_write_ppm = plan->short_ppm;
    }
}

/* The first ones of the masters only: a majority of them is none of all. One alone has
 * another format for readers and writers. */
static void draw_list(struct sim_actor *actor)
{
    const struct sim_plan *plan = &sim_world.plan;
    unsigned least = plan->family == SIM_SHARED_LOCKS ? 2 : 1;
    if (plan->breaks != SIM_ONE_LIST || plan->masters <= least || sim_below(2))
        return;
    actor->options.masters = (unsigned)sim_between(least, plan->masters - 1);
    sim_broke(SIM_ONE_LIST);
}

static void draw_style(struct sim_actor *actor)
{
    static const int backgrounds[] = {
        0, 0, 0, REDLOCK_BACKGROUND_AUTO, REDLOCK_BACKGROUND_ALWAYS, REDLOCK_BACKGROUND_NEVER,
    };
    actor->style = sim_below(4) ? SIM_BLOCKING : sim_below(2) ? SIM_CALLBACKS : SIM_LOOPING;
    actor->threads = sim_below(3) ? 1 : 1 + (unsigned)sim_below(SIM_THREADS_MAX);
    if (sim_world.plan.limited)
        actor->threads += SIM_THREADS_MAX;
    actor->options = sim_world.plan.options;
    actor->options.background = backgrounds[sim_below(6)];
    if (actor->style == SIM_CALLBACKS && actor->options.background == REDLOCK_BACKGROUND_NEVER)
        actor->options.background = 0;
    draw_list(actor);
}

struct sim_actor *sim_actor_start(unsigned host, const struct sim_proc *before)
{
    char name[16];
    assert(sim_world.actor_count < SIM_ACTORS_MAX);
    struct sim_actor *actor = &sim_world.actor[sim_world.actor_count++];
    *actor = (struct sim_actor){.host = host};
    snprintf(name, sizeof(name), "p%u", sim_world.actor_count);
    actor->proc = sim_proc_new(name);
    actor->proc->context = actor;
    actor->proc->rates.switch_ppm = sim_world.plan.switch_ppm;
    actor->proc->rates.lookup_max_ns = SIM_LOOKUP_NS;
    set_clock(actor->proc, before);
    sim_world_connect(actor->proc);
    draw_style(actor);
    actor->options.members = sim_members_of_host(host);
    actor->supervisor = sim_fiber_new(actor->proc, sim_supervise, actor);
    return actor;
}

static void begin_masters(void)
{
    const struct sim_plan *plan = &sim_world.plan;
    int64_t most = plan->master_rate_ppb;
    struct sim_masters_options options = {
        .count = plan->masters,
        .db = plan->options.db,
        .password = plan->options.password,
        .changed = sim_key_changed,
        .asked = sim_master_asked,
        .stated = sim_master_stated,
        .replicas = plan->replicas,
        .sentinels = plan->sentinels,
        .same_sentinels = plan->same_sentinels,
    };
    sim_masters_begin(&options);
    sim_oracle_strict = plan->certified;
    sim_kept_on_masters = !plan->marked;
    if (plan->breaks != SIM_GUARD_ON)
        sim_oracle_max_ttl_ns = plan->options.max_ttl_ms * SIM_MS;
    for (unsigned i = 0; i < plan->masters; i++) {
        if (plan->certified)
            sim_master_certify(i, 0);
        bool last = i == plan->masters - 1;
        if (last ? plan->wall_apart_ns > 0 : plan->wall_apart_ns < 0)
            sim_master_step_clock(i, llabs(plan->wall_apart_ns));
        sim_master_clock_rate(i, sim_between(-most, most));
        if (sim_below(4)) /* others have just been started, and do not vote yet */
            sim_master_uptime(i, sim_scale(1, 1000000));
        if (plan->marked && sim_below(8)) /* the others are quarantined at first */
            sim_master_mark(i);
    }
    if (plan->failover)
        sim_failover_begin();
}

bool sim_clocks_apart(void)
{
    int64_t max_ttl_ns = sim_world.plan.options.max_ttl_ms * SIM_MS;
    return sim_world.plan.fenced && !sim_world.plan.certified &&
           sim_masters_apart_ns() + sim_world.back_ns > max_ttl_ns * 24 / 100;
}

uint64_t sim_world_faults(enum sim_fault first, enum sim_fault last)
{
    uint64_t count = 0;
    for (unsigned i = first; i <= last; i++)
        count += sim_world.tally->faults[i] - sim_world.faults[i];
    return count;
}

/* ---- the order of things -------------------------------------------------------------- */

static void tell_plan(uint64_t seed)
{
    const struct sim_plan *plan = &sim_world.plan;
    if (!sim_tells())
        return;
    if (plan->limited)
        sim_tell("the library's bounds are small");
    if (plan->failover)
        sim_tell("each master has %u replicas and %u Sentinels%s", plan->replicas,
                 plan->sentinels, plan->same_sentinels ? ", the same ones for all" : "");
    if (plan->family != SIM_PLAIN_LOCKS)
        sim_tell("%s locks", sim_family_name(plan->family));
    sim_tell("seed %llu: %u masters, %u processes, %u names, ttl <= %lld ms, max-ttl %lld ms, "
             "delays %.3f to %.3f ms, %.3f s of work%s%s",
             (unsigned long long)seed, plan->masters, plan->actors, plan->names,
             (long long)plan->ttl_max_ms, (long long)plan->options.max_ttl_ms,
             (double)plan->delay_low_ns / (double)SIM_MS,
             (double)plan->delay_high_ns / (double)SIM_MS,
             (double)plan->work_ns / (double)SIM_S,
             plan->breaks == SIM_ASSUMPTIONS ? "" : ", breaks: ",
             plan->breaks == SIM_ASSUMPTIONS ? "" : sim_assumption_name(plan->breaks));
}

static void take_down(struct sim_tally *tally)
{
    const struct sim_verdict *verdict = sim_verdict();
    unsigned broken = sim_assumptions_broken();
    /* Nothing but what the seed has drawn to be broken excuses anything. */
    assert(broken == 0 || broken == 1u << sim_world.plan.breaks);
    tally->seeds++;
    tally->broken_seeds += broken != 0;
    tally->acquired += sim_acquired();
    tally->held_ns += sim_held_ns();
    tally->simulated_ns += sim_now_ns();
    tally->hash += sim_hash() * 0x9e3779b97f4a7c15u; /* in whatever order they are played */
    for (unsigned i = 0; i < SIM_ORACLES; i++)
        tally->violations[i] += verdict->violations[i];
    for (unsigned k = 0; k < SIM_ASSUMPTIONS; k++) {
        if (!(broken & 1u << k))
            continue;
        tally->breaks[k]++;
        for (unsigned i = 0; i < SIM_ORACLES; i++)
            tally->costs[k][i] += verdict->costs[i];
    }
}

static bool more_work(void *context)
{
    (void)context;
    return sim_acquired() < sim_world.plan.enough;
}

bool sim_world_play(uint64_t seed, struct sim_tally *tally)
{
    sim_begin(seed);
    sim_oracle_begin();
    memset(&sim_world, 0, sizeof(sim_world));
    sim_world.seed = seed;
    sim_world.tally = tally;
    memcpy(sim_world.faults, tally->faults, sizeof(sim_world.faults));
    draw_plan(&sim_world.plan, seed);
    sim_limits_draw(sim_world.plan.limited);
    tell_plan(seed);
    begin_masters();
    sim_members_begin();
    sim_operator_begin();
    for (unsigned i = 0; i < sim_world.plan.actors; i++)
        sim_actor_start(i, NULL);
    sim_faults_begin(sim_world.plan.work_ns);
    sim_run_while(more_work, NULL, sim_world.plan.work_ns);
    sim_faults_end();
    sim_members_end();
    sim_run_until(sim_fault_over_ns());
    if (sim_world.plan.failover)
        sim_failover_end();
    bool ended = sim_calm_down();
    sim_fault_count_all();
    if (ended)
        ended = sim_clear_up();
    sim_operator_end();
    take_down(tally);
    if (ended) {
        sim_oracle_end();
        sim_end();
    }
    return ended;
}
