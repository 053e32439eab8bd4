/* sim_idle.c - when all others are gone: a program that is alone, whose client nobody drives
 * between its calls, which it makes seldom. Connections break meanwhile. All masters are up and
 * vote, and nobody else has the lock. What each of its tries is promised:
 *
 *   It gets the lock, unless its last round needed the vote of a master that was slower than
 *   its share. The grants and the votes of such masters would have made a majority.
 *   Where the masters' clocks are far apart, fencing tokens are promised to nobody. Nor is one
 *   to the first tries where somebody set a number that is far above the others'.
 *
 * The share is the TTL over the number of masters, or node-timeout where that is less. The
 * network tells whether a master was slower: when the try ends, a request of this try was sent
 * a share ago or earlier, and bytes of it or of its answer are still under way. A round begins
 * as soon as there is a majority, while other masters may still connect. So a link on which
 * bytes come in drops may be one that it needs.
 */
#include "config_auto.h"

#include "sim_names.h"
#include "sim_sentinel.h"
#include "sim_world.h"

#include "base/limits.h"

enum { TRIES = 4 };

#define PAUSE_MAX_NS (5 * SIM_S)
#define ENDS_WITHIN_NS (100 * SIM_S)

static bool gone, broken;

/* The masters of its list, of which the one of that index. */
static unsigned listed(void)
{
    uint64_t members = sim_members_last();
    return members ? (unsigned)__builtin_popcountll(members) : sim_world.plan.masters;
}

static unsigned master_of(unsigned index)
{
    uint64_t members = sim_members_last();
    for (; members && index > 0; index--)
        members &= members - 1;
    return members ? (unsigned)__builtin_ctzll(members) : sim_service_master(index);
}

/* In true time: a client's clock may be fast. */
static int64_t share_ns(void)
{
    const struct sim_plan *plan = &sim_world.plan;
    int64_t share_ns = plan->ttl_max_ms * SIM_MS / listed();
    int64_t most_ns = plan->options.node_timeout_ms * SIM_MS;
    if (most_ns > 0 && share_ns > most_ns)
        share_ns = most_ns;
    return share_ns - (int64_t)((double)share_ns * (double)plan->client_rate_ppb / 1e9);
}

/* Masters that the round asked in vain, and whose answers to this try are that late. */
static unsigned slow_masters(const redlock_report *report, int64_t began_ns)
{
    int64_t latest_ns = sim_now_ns() - share_ns();
    unsigned count = 0;
    for (unsigned i = 0; i < report->nodes; i++)
        count += report->node[i].vote == REDLOCK_VOTE_FAILED &&
                 sim_path_owes(sim_proc(), master_of(i), began_ns, latest_ns);
    return count;
}

static void judge_failure(const char *name, int result, const redlock_report *report,
                          int64_t began_ns)
{
    unsigned slow = report->rounds > 0 ? slow_masters(report, began_ns) : 0;
    if (result == REDLOCK_ENOQUORUM && (sim_clocks_apart() || sim_world.plan.set_numbers)) {
        sim_world.tally->alone_apart++;
        return;
    }
    if (result == REDLOCK_ENOQUORUM && slow > 0 && report->granted < report->needed &&
        report->granted + slow >= report->needed) {
        sim_world.tally->alone_slow++;
        sim_tell("%s does not get %s: %u masters are slower than their share", sim_proc()->name,
                 name, slow);
        return;
    }
    sim_found(SIM_STARVED, "%s is alone, all masters are up, and it gets %s: %s",
              sim_proc()->name, name, redlock_err_name(result));
}

/* At most that, mostly much less. */
static void stay_away(void)
{
    if (sim_below(4))
        sim_nap(sim_scale(SIM_MS, PAUSE_MAX_NS));
    /* A Sentinel whose connection broke twice while it was made is left alone for a moment. */
    broken = sim_below(2) == 0 && !(sim_world.plan.failover && broken);
    if (!broken)
        return;
    for (unsigned i = 0; i < sim_server_count(); i++) {
        if (sim_below(4))
            sim_path_reset(sim_proc(), i);
    }
    sim_nap(sim_scale(SIM_US, sim_below(2) ? SIM_MS : SIM_S));
}

static void try_once(redlock *client)
{
    static redlock_node_vote report_votes[REDLOCK_NODES_MAX];
    static redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
    redlock_options options = REDLOCK_OPTIONS_INIT;
    char owner[SIM_OWNER_BYTES];
    const char *name = sim_served_name((unsigned)sim_below(sim_world.plan.names));
    redlock_lock *lock;
    options.ttl_ms = sim_world.plan.ttl_max_ms;
    options.report = &report;
    sim_draw_kind(&options, owner);
    sim_tell_try(name, &options);
    int64_t began_ns = sim_now_ns(), own_ns = sim_own_ns(sim_proc());
    int result = sim_names_try(client, name, &options, &lock);
    sim_count_try(name, result);
    sim_world.tally->alone++;
    sim_waited(name, &options, own_ns);
    if (result == REDLOCK_OK)
        sim_release(lock, sim_took(lock, name, &options, began_ns));
    else
        judge_failure(name, result, &report, began_ns);
}

static void *idle(void *unused)
{
    struct sim_client_options how = sim_world.plan.options;
    (void)unused;
    how.members = sim_members_last();
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
    /* A marker may be gone that nobody has missed so far. */
    for (unsigned i = 0; sim_world.plan.marked && i < sim_world.plan.masters; i++)
        sim_master_mark(i);
    if (sim_world.plan.certified)
        sim_operator_certifies();
    gone = broken = false;
    sim_fiber_new(proc, idle, NULL);
    sim_run_while(more, NULL, sim_now_ns() + ENDS_WITHIN_NS);
    if (!gone)
        sim_found(SIM_STARVED, "the last program does not come to its end");
    return gone;
}
