/* sim_clock.c - the clocks of simulated processes: true time at a rate of their own, and
 * stretches of it that they do not count. */
#include "config_auto.h"

#include "sim_fiber.h"

#include <assert.h>

/* The true time as a clock of that rate counts it. Never the same for less than a nanosecond
 * and a half, never backwards. */
static int64_t rated(int64_t true_ns, int64_t rate_ppb)
{
    return true_ns + true_ns / SIM_S * rate_ppb + true_ns % SIM_S * rate_ppb / SIM_S;
}

/* The first true time that is counted as so much. */
static int64_t unrated(int64_t counted_ns, int64_t rate_ppb)
{
    if (rate_ppb == 0)
        return counted_ns;
    /* Nearly; and a division of so large numbers would take longer than all else here. */
    double share = (double)rate_ppb / (double)(SIM_S + rate_ppb);
    int64_t true_ns = counted_ns - (int64_t)((double)counted_ns * share);
    while (rated(true_ns, rate_ppb) >= counted_ns)
        true_ns--;
    while (rated(true_ns, rate_ppb) < counted_ns)
        true_ns++;
    return true_ns;
}

/* How much of that stop had not been counted by then. */
static int64_t uncounted(const struct sim_stop *stop, int64_t true_ns, int64_t rate_ppb)
{
    if (true_ns > stop->until_ns)
        true_ns = stop->until_ns;
    if (true_ns <= stop->from_ns)
        return 0;
    return rated(true_ns, rate_ppb) - rated(stop->from_ns, rate_ppb);
}

static int64_t shown(const struct sim_proc *proc, int64_t extra_ns, const struct sim_stop *stop)
{
    int64_t now_ns = sim_now_ns();
    return rated(now_ns, proc->rate_ppb) + extra_ns - uncounted(stop, now_ns, proc->rate_ppb);
}

static int64_t true_of(const struct sim_proc *proc, int64_t extra_ns,
                       const struct sim_stop *stop, int64_t shown_ns)
{
    if (shown_ns > SIM_NEVER / 4)
        return SIM_NEVER;
    int64_t counted_ns = shown_ns - extra_ns;
    if (counted_ns > rated(stop->from_ns, proc->rate_ppb))
        counted_ns += uncounted(stop, stop->until_ns, proc->rate_ppb);
    return unrated(counted_ns, proc->rate_ppb);
}

int64_t sim_own_ns(const struct sim_proc *proc)
{
    return shown(proc, proc->boottime_extra_ns, &proc->parts->boottime_stop);
}

int64_t sim_shown_ns(const struct sim_proc *proc)
{
    return sim_own_ns(proc) - proc->back_ns;
}

int64_t sim_true_ns(const struct sim_proc *proc, int64_t own_ns)
{
    return true_of(proc, proc->boottime_extra_ns, &proc->parts->boottime_stop, own_ns);
}

/* How much REALTIME is ahead of its own time. */
static int64_t wall_lead_ns(const struct sim_proc *proc)
{
    return SIM_EPOCH_NS + proc->wall_extra_ns - proc->boottime_extra_ns;
}

int64_t sim_realtime_ns(const struct sim_proc *proc)
{
    return sim_own_ns(proc) + wall_lead_ns(proc);
}

int64_t sim_true_of_realtime_ns(const struct sim_proc *proc, int64_t realtime_ns)
{
    return sim_true_ns(proc, realtime_ns - wall_lead_ns(proc));
}

int64_t sim_monotonic_ns(const struct sim_proc *proc)
{
    return shown(proc, proc->monotonic_extra_ns, &proc->parts->monotonic_stop);
}

int64_t sim_true_of_monotonic_ns(const struct sim_proc *proc, int64_t monotonic_ns)
{
    return true_of(proc, proc->monotonic_extra_ns, &proc->parts->monotonic_stop, monotonic_ns);
}

/* The stop before it, or as much as there was of it, becomes a part of the extra. */
static int64_t stop_until(struct sim_stop *stop, int64_t until_ns, int64_t *extra_ns,
                          int64_t rate_ppb)
{
    int64_t now_ns = sim_now_ns();
    int64_t stood_ns = stop->until_ns > now_ns ? stop->until_ns : now_ns;

    *extra_ns -= uncounted(stop, now_ns, rate_ppb);
    stop->from_ns = now_ns;
    stop->until_ns = until_ns > stood_ns ? until_ns : stood_ns;
    return stop->until_ns - stood_ns;
}

int64_t sim_clocks_stop(struct sim_proc *proc, int64_t until_ns, bool boottime_too)
{
    if (boottime_too)
        stop_until(&proc->parts->boottime_stop, until_ns, &proc->boottime_extra_ns,
                   proc->rate_ppb);
    return stop_until(&proc->parts->monotonic_stop, until_ns, &proc->monotonic_extra_ns,
                      proc->rate_ppb);
}
