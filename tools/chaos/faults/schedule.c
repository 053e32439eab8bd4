/* schedule.c - which fault when: drawn from the seed before anything begins.
 *
 * Faults come one after the other, in rounds that have every requested kind once, with quiet
 * times between them. Some begin while another is on, on other masters, as long as a majority
 * stays. Some take the majority away. Then the next fault begins only after the majority has
 * been back for a while. From time to time all masters get time to recover. */
#include "config_auto.h"

#include "chaos/faults/kinds.h"
#include "chaos/faults/random.h"
#include "chaos/faults/schedule.h"

#include "core/quorum.h"

#include <assert.h>

#define NS_PER_MS INT64_C(1000000)
#define FULL_QUIET_EVERY 5 /* faults */

/* The pace, in ms: a container takes seconds where a process takes no time. */
struct pace {
    int64_t lead, tail;
    int64_t quiet_min, quiet_max;
    int64_t short_min, short_max; /* for immediate faults, which must yet be seen */
    int64_t long_min, long_max;
};

static const struct pace fast = {1000, 1500, 250, 700, 350, 500, 500, 1500};
static const struct pace slow = {3000, 4000, 2000, 4000, 1500, 2500, 3000, 7000};

struct plan {
    const struct chaos_options *options;
    const struct pace *pace;
    unsigned nodes;
    unsigned minority; /* so many may be missing */
    struct rl_prng prng;
    int64_t unfit_until_ms[REDLOCK_NODES_MAX]; /* the master does not vote before */
    int64_t end_ms;                            /* of the faults planned so far */
    const struct chaos_fault *last;
    bool joined; /* the last one began while another was on: enough at once */
    unsigned since_quiet;
    bool first_round;
};

int64_t chaos_schedule_guard_ms(const struct chaos_options *options)
{
    return options->ttl_ms + options->ttl_ms / 100 + 1;
}

/* ---- masters that vote ------------------------------------------------------------------ */

static uint64_t unfit_at(const struct plan *plan, int64_t at_ms)
{
    uint64_t set = 0;
    for (unsigned i = 0; i < plan->nodes; i++)
        if (plan->unfit_until_ms[i] > at_ms)
            set |= UINT64_C(1) << i;
    return set;
}

/* The first time from `at_ms` on at which at most `unfit` masters are unfit, counting
 * `nodes`. */
static int64_t fit_again_ms(const struct plan *plan, uint64_t nodes, unsigned unfit,
                            int64_t at_ms)
{
    while (rl_count(unfit_at(plan, at_ms) | nodes) > unfit) {
        int64_t next = INT64_MAX;
        for (unsigned i = 0; i < plan->nodes; i++)
            if (plan->unfit_until_ms[i] > at_ms && plan->unfit_until_ms[i] < next)
                next = plan->unfit_until_ms[i];
        at_ms = next;
    }
    return at_ms;
}

/* ---- one fault ------------------------------------------------------------------------ */

static bool is_one_of(enum chaos_fault_kind kind, uint64_t set)
{
    return (set & CHAOS_BIT(kind)) != 0;
}

/* Does a master hit by it cast no vote meanwhile? */
static bool silences(const struct plan *plan, enum chaos_fault_kind kind)
{
    return is_one_of(kind, CHAOS_SILENCING) || chaos_fault_guarded(plan->options, kind);
}

static int64_t draw_length_ms(struct plan *plan, enum chaos_fault_kind kind)
{
    const uint64_t at_once = CHAOS_BIT_OF(RESET) | CHAOS_BIT_OF(SCRIPT_FLUSH) |
                             CHAOS_BIT_OF(FLUSHALL) | CHAOS_BIT_OF(KILL_HOLDER);
    const struct pace *pace = plan->pace;
    int64_t ttl_ms = plan->options->ttl_ms;
    if (kind == CHAOS_FAULT_PAUSE_HOLDER)
        return chaos_random_between(&plan->prng, ttl_ms + ttl_ms / 4 + 200, 2 * ttl_ms + 200);
    if (is_one_of(kind, at_once))
        return chaos_random_between(&plan->prng, pace->short_min, pace->short_max);
    return chaos_random_between(&plan->prng, pace->long_min,
                                plan->first_round ? (pace->long_min + pace->long_max) / 2
                                                  : pace->long_max);
}

/* A clock steps by more than a lease, because a smaller step has no effect. Delays are short
 * enough that some rounds are still won. One warm server in two has a marker. */
static int64_t draw_step_ms(struct plan *plan, enum chaos_fault_kind kind)
{
    int64_t ttl_ms = plan->options->ttl_ms;
    if (is_one_of(kind, CHAOS_BIT_OF(CLOCK) | CHAOS_BIT_OF(CLOCK_BACK)))
        return chaos_random_between(&plan->prng, ttl_ms + ttl_ms / 2, 4 * ttl_ms);
    if (kind == CHAOS_FAULT_DELAY)
        return chaos_random_between(&plan->prng, 20, ttl_ms / 8 > 20 ? ttl_ms / 8 : 20);
    if (kind == CHAOS_FAULT_WARM)
        return chaos_random_one_in(&plan->prng, 2);
    return 0;
}

/* Draw the number of masters: usually a minority. With `fencing strict` only an operator ends
 * what the loss of a majority's counters begins. */
static unsigned draw_size(struct plan *plan, enum chaos_fault_kind kind)
{
    bool guarded = chaos_fault_guarded(plan->options, kind);
    unsigned rare = guarded ? 8 : 4;
    bool costly = plan->first_round && guarded;
    if (is_one_of(kind, CHAOS_OF_LISTS))
        return kind == CHAOS_FAULT_MEMBERS ? 1 : 2;
    if (plan->minority == 0)
        return 1;
    if (!costly && plan->nodes > plan->minority && chaos_random_one_in(&plan->prng, rare) &&
        !(plan->options->certified && guarded))
        return (unsigned)chaos_random_between(&plan->prng, plan->minority + 1, plan->nodes);
    return (unsigned)chaos_random_between(&plan->prng, 1, plan->minority);
}

/* Masters that are unfit already are taken first, because a majority must stay. */
static uint64_t draw_nodes(struct plan *plan, enum chaos_fault_kind kind, uint64_t busy)
{
    uint64_t all = rl_all(plan->nodes);
    if (is_one_of(kind, CHAOS_OF_HOLDERS))
        return 0;
    if (kind == CHAOS_FAULT_RING)
        return all;
    if (kind == CHAOS_FAULT_HALVES)
        return chaos_random_set(&plan->prng, all, plan->nodes, (plan->nodes + 1) / 2);
    unsigned size = draw_size(plan, kind);
    uint64_t unfit = unfit_at(plan, plan->end_ms) & ~busy;
    uint64_t set = chaos_random_set(&plan->prng, unfit, plan->nodes, size);
    if (size > rl_count(set))
        set |= chaos_random_set(&plan->prng, all & ~busy & ~unfit, plan->nodes,
                                size - rl_count(set));
    return set;
}

static uint64_t draw_clients(struct plan *plan, enum chaos_fault_kind kind)
{
    unsigned clients = plan->options->clients;
    uint64_t all = rl_all(clients);
    if (!is_one_of(kind, CHAOS_OF_PATHS))
        return 0;
    if (kind == CHAOS_FAULT_HALVES)
        return chaos_random_set(&plan->prng, all, clients, (clients + 1) / 2);
    if (kind == CHAOS_FAULT_RING || chaos_random_one_in(&plan->prng, 3))
        return all;
    return chaos_random_set(&plan->prng, all, clients,
                            (unsigned)chaos_random_between(&plan->prng, 1, clients));
}

/* How long a master is unfit after the fault: clients must reconnect, and its guard must
 * open. */
static int64_t settle_ms(const struct plan *plan, enum chaos_fault_kind kind)
{
    if (chaos_fault_guarded(plan->options, kind))
        return chaos_schedule_guard_ms(plan->options) + 600;
    return is_one_of(kind, CHAOS_SILENCING) ? 300 : 0;
}

/* May the fault begin while the last one is on? It is about other masters already. */
static bool may_join(const struct plan *plan, const struct chaos_fault *fault, int64_t at_ms)
{
    uint64_t alone = CHAOS_BIT_OF(HALVES) | CHAOS_BIT_OF(RING);
    const uint64_t of_processes = CHAOS_OF_HOLDERS | CHAOS_OF_LISTS;
    const struct chaos_fault *last = plan->last;
    return last != NULL && !is_one_of(last->kind, alone) && !is_one_of(fault->kind, alone) &&
           (last->kind != fault->kind || fault->nodes != 0) &&
           !(is_one_of(last->kind, of_processes) && is_one_of(fault->kind, of_processes)) &&
           rl_count(unfit_at(plan, at_ms) | fault->nodes) <= plan->minority;
}

/* When the fault begins: after the end of the last one, or during it. */
static int64_t draw_begin_ms(struct plan *plan, const struct chaos_fault *fault, bool join)
{
    const struct pace *pace = plan->pace;
    if (join) {
        int64_t into_ms = plan->last->planned_ns / NS_PER_MS + pace->quiet_min;
        if (into_ms < plan->end_ms && may_join(plan, fault, into_ms))
            return into_ms;
    }
    int64_t quiet_ms = chaos_random_between(&plan->prng, pace->quiet_min, pace->quiet_max);
    int64_t at_ms = plan->end_ms + quiet_ms;
    /* The next fault waits until a majority has voted for a while; sometimes until all masters
     * have. */
    bool all = plan->since_quiet >= FULL_QUIET_EVERY;
    int64_t fit_ms = fit_again_ms(plan, 0, all ? 0 : plan->minority, 0);
    if (fit_ms > 0 && at_ms < fit_ms + quiet_ms)
        at_ms = fit_ms + quiet_ms;
    if (all)
        plan->since_quiet = 0;
    return at_ms;
}

/* A fault that leaves a majority must leave one together with the masters already unfit. */
static int64_t keep_majority_ms(const struct plan *plan, const struct chaos_fault *fault,
                                int64_t at_ms)
{
    if (!silences(plan, fault->kind) || rl_count(fault->nodes) > plan->minority)
        return at_ms;
    return fit_again_ms(plan, fault->nodes, plan->minority, at_ms);
}

static void draw_fault(struct plan *plan, enum chaos_fault_kind kind, struct chaos_fault *fault)
{
    *fault = (struct chaos_fault){.kind = kind};
    bool join = plan->last != NULL && chaos_random_one_in(&plan->prng, 3) && !plan->joined;
    fault->nodes = draw_nodes(plan, kind, join ? plan->last->nodes : 0);
    bool short_of = kind == CHAOS_FAULT_MEMBERS_AT_ONCE && rl_count(fault->nodes) < 2;
    if ((fault->nodes == 0 || short_of) && !is_one_of(kind, CHAOS_OF_HOLDERS)) {
        join = false;
        fault->nodes = draw_nodes(plan, kind, 0);
    }
    fault->clients = draw_clients(plan, kind);
    fault->step_ms = draw_step_ms(plan, kind);
    int64_t length_ms = draw_length_ms(plan, kind);
    int64_t at_ms = keep_majority_ms(plan, fault, draw_begin_ms(plan, fault, join));
    plan->joined = plan->last != NULL && at_ms < plan->end_ms;
    fault->planned_ns = at_ms * NS_PER_MS;
    fault->length_ns = length_ms * NS_PER_MS;
    int64_t end_ms = at_ms + length_ms;
    if (silences(plan, kind))
        for (unsigned i = 0; i < plan->nodes; i++)
            if ((fault->nodes >> i & 1) != 0 &&
                plan->unfit_until_ms[i] < end_ms + settle_ms(plan, kind))
                plan->unfit_until_ms[i] = end_ms + settle_ms(plan, kind);
    if (plan->end_ms < end_ms)
        plan->end_ms = end_ms;
    plan->last = fault;
    plan->since_quiet++;
}

/* ---- all of them ---------------------------------------------------------------------- */

static unsigned requested(uint64_t faults, enum chaos_fault_kind *ret_kinds)
{
    unsigned count = 0;
    for (int kind = 0; kind < CHAOS_FAULT_KINDS; kind++)
        if ((faults >> kind & 1) != 0)
            ret_kinds[count++] = (enum chaos_fault_kind)kind;
    return count;
}

static void start_plan(struct plan *plan, const struct chaos_options *options, unsigned nodes)
{
    assert(nodes > 0 && nodes <= REDLOCK_NODES_MAX);
    assert(options->clients > 0 && options->clients <= CHAOS_CLIENTS_MAX);
    *plan = (struct plan){
        .options = options,
        .pace = options->where == CHAOS_COMPOSE ? &slow : &fast,
        .nodes = nodes,
        .minority = (nodes - 1) / 2,
        .first_round = true,
    };
    plan->end_ms = plan->pace->lead;
    rl_prng_seed(&plan->prng, options->seed);
}

static bool fits(const struct plan *plan, const struct chaos_fault *fault)
{
    int64_t end_ms = (fault->planned_ns + fault->length_ns) / NS_PER_MS;
    return end_ms + plan->pace->tail <= plan->options->duration_ms;
}

size_t chaos_schedule(const struct chaos_options *options, unsigned nodes,
                      struct chaos_fault *ret_faults)
{
    struct plan plan;
    enum chaos_fault_kind kind[CHAOS_FAULT_KINDS];
    unsigned kinds = requested(options->faults, kind);
    size_t count = 0;
    start_plan(&plan, options, nodes);
    while (kinds > 0) {
        chaos_random_order(&plan.prng, kind, kinds);
        for (unsigned i = 0; i < kinds; i++) {
            if (count == CHAOS_FAULTS_MAX)
                return count;
            draw_fault(&plan, kind[i], &ret_faults[count]);
            if (!fits(&plan, &ret_faults[count]))
                return count;
            count++;
        }
        plan.first_round = false;
    }
    return 0;
}

int64_t chaos_schedule_needs_ms(const struct chaos_options *options, unsigned nodes)
{
    struct plan plan;
    struct chaos_fault fault[CHAOS_FAULT_KINDS];
    enum chaos_fault_kind kind[CHAOS_FAULT_KINDS];
    unsigned kinds = requested(options->faults, kind);
    start_plan(&plan, options, nodes);
    if (kinds == 0)
        return 0;
    chaos_random_order(&plan.prng, kind, kinds);
    for (unsigned i = 0; i < kinds; i++)
        draw_fault(&plan, kind[i], &fault[i]);
    return plan.end_ms + plan.pace->tail;
}
