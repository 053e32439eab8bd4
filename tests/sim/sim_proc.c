/* sim_proc.c - simulated processes: made, paused, killed; and what may befall them at each
 * system call. */
#include "config_auto.h"

#include "sim_blocks.h"
#include "sim_fiber.h"
#include "sim_net.h"
#include "sim_real.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROCS_MAX = 4096, PAUSE_MIN_NS = 10000 };

/* What a thread does takes no time until it has made so many calls: who goes round and round
 * until it is later must see it become later. */
enum { CALLS_AT_ONCE = 1000, CALLS_TAKE_NS = 100000, CALLS_MAX = 2000000 };

/* All are up for so long at least: there is something to set a clock back by. */
#define UP_NS (10 * 86400 * SIM_S)

/* One block each, and the blocks are kept for the next worlds. */
struct whole {
    struct sim_proc proc;
    struct sim_proc_parts parts;
};

static struct whole *wholes[PROCS_MAX];
static unsigned count; /* of this world */

/* ---- made and put away ---------------------------------------------------------------- */

static void awake(struct sim_event *event)
{
    struct sim_proc_parts *parts = (struct sim_proc_parts *)event;
    parts->proc->awake_ns = 0;
}

static void make_boot_id(char ret_id[37])
{
    static const char hex[] = "0123456789abcdef";
    unsigned char bytes[36];

    sim_random_bytes(bytes, sizeof(bytes));
    for (unsigned i = 0; i < sizeof(bytes); i++)
        ret_id[i] = i == 8 || i == 13 || i == 18 || i == 23 ? '-' : hex[bytes[i] & 15];
    ret_id[36] = '\0';
}

struct sim_proc *sim_proc_new(const char *name)
{
    assert(count < PROCS_MAX);
    if (!wholes[count])
        wholes[count] = sim_real_malloc(sizeof(*wholes[count]));
    struct whole *whole = wholes[count];
    if (!whole)
        sim_die("no memory for one more process");
    memset(whole, 0, sizeof(*whole));

    struct sim_proc *proc = &whole->proc;
    proc->parts = &whole->parts;
    proc->parts->proc = proc;
    proc->parts->awakes.fire = awake;
    proc->index = count++;
    snprintf(proc->name, sizeof(proc->name), "%s", name);
    make_boot_id(proc->parts->boot_id);
    /* Its machine runs for a while, and was suspended before: no two clocks show the same. */
    proc->boottime_extra_ns = UP_NS + sim_scale(60 * SIM_S, 100 * 86400 * SIM_S);
    proc->monotonic_extra_ns = proc->boottime_extra_ns - sim_between(SIM_S, 30 * SIM_S);
    return proc;
}

void sim_proc_share_host(struct sim_proc *proc, const struct sim_proc *other)
{
    proc->rate_ppb = other->rate_ppb;
    proc->boottime_extra_ns = other->boottime_extra_ns;
    proc->back_ns = other->back_ns;
    proc->monotonic_extra_ns = other->monotonic_extra_ns;
    proc->wall_extra_ns = other->wall_extra_ns;
    proc->parts->boottime_stop = other->parts->boottime_stop;
    proc->parts->monotonic_stop = other->parts->monotonic_stop;
    memcpy(proc->parts->boot_id, other->parts->boot_id, sizeof(proc->parts->boot_id));
}

void sim_proc_set_clock(struct sim_proc *proc, clockid_t clock, int64_t by_ns)
{
    bool wall = clock == CLOCK_REALTIME;
    assert(wall || clock == CLOCK_BOOTTIME);
    if (proc->crashed)
        return;
    sim_mark(SIM_MARK_SET_CLOCK, proc->index, (uint64_t)(wall ? by_ns : -by_ns));
    if (sim_tells())
        sim_tell("%s's %sclock is set %s by %lld.%03lld s", proc->name, wall ? "wall " : "",
                 by_ns < 0 ? "back" : "forward", (long long)(llabs(by_ns) / SIM_S),
                 (long long)(llabs(by_ns) % SIM_S / SIM_MS));
    if (wall)
        proc->wall_extra_ns += by_ns;
    else
        proc->back_ns -= by_ns;
    proc->parts->set = true;
}

void sim_proc_set_off(struct sim_proc *proc, int64_t by_ns)
{
    proc->boottime_extra_ns += by_ns;
    proc->parts->clock_offset += by_ns;
}

unsigned sim_proc_count(void)
{
    return count;
}

struct sim_proc *sim_proc_at(unsigned index)
{
    assert(index < count);
    return &wholes[index]->proc;
}

void sim_procs_end(void)
{
    for (unsigned i = 0; i < count; i++) {
        struct sim_proc_parts *parts = &wholes[i]->parts;
        assert(parts->live_fibers == 0);
        sim_not(&parts->awakes);
        sim_net_end(&wholes[i]->proc);
        while (parts->fibers) {
            struct sim_fiber *fiber = parts->fibers;
            parts->fibers = fiber->next;
            sim_fiber_free(fiber);
        }
    }
    sim_blocks_end();
    count = 0;
}

void sim_proc_add_fiber(struct sim_fiber *fiber)
{
    struct sim_proc_parts *parts = fiber->proc->parts;
    fiber->number = ++parts->fiber_count;
    fiber->next = parts->fibers;
    parts->fibers = fiber;
    parts->live_fibers++;
}

void sim_proc_fiber_ended(struct sim_fiber *fiber)
{
    assert(fiber->proc->parts->live_fibers > 0);
    fiber->proc->parts->live_fibers--;
}

/* ---- its fate ------------------------------------------------------------------------- */

static void stand(struct sim_proc *proc, int64_t until_ns)
{
    if (until_ns <= proc->awake_ns)
        return;
    proc->awake_ns = until_ns;
    sim_at(&proc->parts->awakes, until_ns);
}

/* Pauses of any kind, `what` of the marks. */
static bool halt(struct sim_proc *proc, int64_t for_ns, unsigned what, const char *word)
{
    if (proc->crashed || for_ns <= 0)
        return false;
    sim_mark(what, proc->index, (uint64_t)for_ns);
    if (sim_tells())
        sim_tell("%s %s for %lld.%03lld ms", proc->name, word, (long long)(for_ns / SIM_MS),
                 (long long)(for_ns % SIM_MS / SIM_US));
    stand(proc, sim_now_ns() + for_ns);
    return true;
}

static void stop_clocks(struct sim_proc *proc, int64_t for_ns, bool boottime_too)
{
    int64_t longer_ns = sim_clocks_stop(proc, sim_now_ns() + for_ns, boottime_too);
    for (struct sim_fiber *fiber = proc->parts->fibers; fiber; fiber = fiber->next)
        sim_fiber_postpone(fiber, longer_ns, boottime_too);
}

void sim_proc_pause(struct sim_proc *proc, int64_t for_ns)
{
    halt(proc, for_ns, SIM_MARK_PAUSE, "is paused");
}

void sim_proc_suspend(struct sim_proc *proc, int64_t for_ns)
{
    if (halt(proc, for_ns, SIM_MARK_SUSPEND, "is suspended"))
        stop_clocks(proc, for_ns, false);
}

void sim_proc_freeze(struct sim_proc *proc, int64_t for_ns)
{
    if (halt(proc, for_ns, SIM_MARK_FREEZE, "is frozen, clocks and all,"))
        stop_clocks(proc, for_ns, true);
}

void sim_proc_crash(struct sim_proc *proc)
{
    int64_t paused_until_ns = proc->awake_ns;

    if (proc->crashed)
        return;
    sim_mark(SIM_MARK_CRASH, proc->index, 0);
    if (sim_tells())
        sim_tell("%s is killed", proc->name);
    proc->crashed = true;
    proc->awake_ns = 0;
    sim_not(&proc->parts->awakes);
    for (struct sim_fiber *fiber = proc->parts->fibers; fiber; fiber = fiber->next)
        sim_fiber_hurry(fiber, paused_until_ns);
    sim_net_crash(proc);
}

void sim_proc_fail_alloc(struct sim_proc *proc, uint64_t kth)
{
    proc->parts->fail_alloc_at = kth;
}

/* ---- system calls --------------------------------------------------------------------- */

void sim_proc_stop_at(struct sim_proc *proc, uint64_t kth, int64_t for_ns, bool thread)
{
    proc->parts->stop_at = kth;
    proc->parts->stop_ns = for_ns;
    proc->parts->stop_thread = thread;
}

void sim_proc_stop_at_recv(struct sim_proc *proc, int64_t for_ns)
{
    proc->parts->stop_recv_ns = for_ns;
}

uint64_t sim_proc_calls(const struct sim_proc *proc)
{
    return proc->parts->calls;
}

static void stop(struct sim_proc *proc)
{
    int64_t for_ns = proc->parts->stop_ns;
    if (!proc->parts->stop_thread)
        sim_proc_pause(proc, for_ns);
    else if (!proc->crashed)
        sim_fiber_stand(sim_now_ns() + for_ns);
}

static void let_time_pass(const struct sim_fiber *fiber)
{
    if (fiber->calls >= CALLS_MAX)
        sim_die("a thread of %s goes round and never sleeps", fiber->proc->name);
    sim_fiber_stand(sim_now_ns() + CALLS_TAKE_NS);
}

void sim_system_call(void)
{
    struct sim_proc *proc = sim_proc();

    if (!proc)
        return;
    proc->parts->calls++;
    if (proc->parts->stop_at > 0 && --proc->parts->stop_at == 0)
        stop(proc);
    if (!proc->crashed && sim_chance(proc->rates.pause_ppm)) {
        proc->felt.stutters++;
        sim_proc_pause(proc, sim_scale(PAUSE_MIN_NS, proc->rates.pause_max_ns));
    }
    if (proc->awake_ns > sim_now_ns())
        sim_fiber_stand(proc->awake_ns);
    if (++sim_fiber()->calls % CALLS_AT_ONCE == 0)
        let_time_pass(sim_fiber());
    if (proc->parts->live_fibers > 1 && sim_chance(proc->rates.switch_ppm))
        sim_fiber_stand(sim_now_ns());
    if (proc->parts->live_fibers > 1 && !proc->crashed && sim_chance(proc->rates.stall_ppm))
        sim_fiber_stand(sim_now_ns() + sim_scale(PAUSE_MIN_NS, proc->rates.stall_max_ns));
}
