/* sim_fiber.c - the threads of simulated processes: one runs at a time, until it sleeps, and
 * goes on when its event comes and its process is not paused. */
#include "config_auto.h"

#include "sim_fiber.h"
#include "sim_real.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

struct sim_fiber *sim_fiber_present;
struct sim_proc *sim_proc_present;
static struct sim_fiber *spares; /* of worlds that are over */

bool sim_fiber_ended(const struct sim_fiber *fiber)
{
    return fiber->state == SIM_ENDED;
}

/* ---- going on ------------------------------------------------------------------------- */

static void go_on(struct sim_event *event)
{
    struct sim_fiber *fiber = (struct sim_fiber *)event;
    struct sim_proc *proc = fiber->proc;

    assert(!sim_fiber_present && fiber->state != SIM_RUNS && fiber->state != SIM_ENDED);
    if (proc->awake_ns > sim_now_ns()) {
        proc->felt.late++;
        sim_at(event, proc->awake_ns);
        return;
    }
    sim_mark(SIM_MARK_RUNS, proc->index, fiber->number);
    fiber->state = SIM_RUNS;
    sim_fiber_present = fiber;
    sim_proc_present = proc;
    int error = errno;
    errno = fiber->error;
    sim_context_enter(&fiber->context);
    fiber->error = errno;
    errno = error;
    sim_fiber_present = NULL;
    sim_proc_present = NULL;
    if (fiber->state == SIM_ENDED)
        sim_context_drop(&fiber->context);
}

static void live(void *argument)
{
    struct sim_fiber *fiber = argument;

    fiber->result = fiber->run(fiber->argument);
    sim_mark(SIM_MARK_ENDS, fiber->proc->index, fiber->number);
    fiber->state = SIM_ENDED;
    if (fiber->joiner)
        sim_wake(fiber->joiner);
    sim_proc_fiber_ended(fiber);
    sim_context_leave(&fiber->context, true);
}

struct sim_fiber *sim_fiber_new(struct sim_proc *proc, void *(*run)(void *), void *argument)
{
    struct sim_fiber *fiber = spares;
    if (fiber)
        spares = fiber->next;
    else
        fiber = sim_real_malloc(sizeof(*fiber));
    if (!fiber)
        sim_die("no memory for one more thread");
    memset(fiber, 0, sizeof(*fiber));
    fiber->event.fire = go_on;
    fiber->proc = proc;
    fiber->run = run;
    fiber->argument = argument;
    sim_context_make(&fiber->context, live, fiber);
    sim_proc_add_fiber(fiber);
    sim_at(&fiber->event, sim_now_ns());
    return fiber;
}

void sim_fiber_free(struct sim_fiber *fiber)
{
    assert(fiber->state == SIM_ENDED && !fiber->event.place);
    fiber->next = spares;
    spares = fiber;
}

/* ---- sleeping ------------------------------------------------------------------------- */

static bool sleep_until(int64_t until_ns, bool by_wall)
{
    struct sim_fiber *fiber = sim_fiber_present;

    assert(fiber);
    fiber->state = SIM_ASLEEP;
    fiber->woken = false;
    fiber->wall_timer = by_wall;
    fiber->calls = 0;
    if (until_ns != SIM_NEVER)
        sim_at(&fiber->event, until_ns);
    sim_context_leave(&fiber->context, false);
    return fiber->woken;
}

bool sim_sleep(int64_t until_ns)
{
    return sleep_until(until_ns, false);
}

bool sim_sleep_by_wall(int64_t until_ns)
{
    return sleep_until(until_ns, true);
}

void sim_fiber_stand(int64_t until_ns)
{
    struct sim_fiber *fiber = sim_fiber_present;

    fiber->state = SIM_READY;
    sim_at(&fiber->event, until_ns);
    sim_context_leave(&fiber->context, false);
}

void sim_nap(int64_t own_ns)
{
    struct sim_fiber *fiber = sim_fiber_present;
    int64_t own_now_ns = sim_own_ns(fiber->proc);

    fiber->deaf = true;
    sim_sleep(sim_true_ns(fiber->proc, own_now_ns + own_ns));
    fiber->deaf = false;
}

static void rouse(struct sim_fiber *fiber)
{
    fiber->woken = true;
    fiber->state = SIM_READY;
    sim_at(&fiber->event, sim_now_ns());
}

void sim_wake(struct sim_fiber *fiber)
{
    if (fiber->state == SIM_ASLEEP && !fiber->deaf)
        rouse(fiber);
}

void sim_fiber_postpone(struct sim_fiber *fiber, int64_t by_ns, bool wall_too)
{
    if (fiber->state != SIM_ASLEEP || !fiber->event.place || (fiber->wall_timer && !wall_too))
        return;
    fiber->proc->felt.late++;
    sim_at(&fiber->event, fiber->event.at_ns + by_ns);
}

void sim_fiber_hurry(struct sim_fiber *fiber, int64_t paused_until_ns)
{
    bool kept = fiber->event.place && fiber->event.at_ns == paused_until_ns;

    if (fiber->state == SIM_ASLEEP && fiber->deaf)
        rouse(fiber);
    else if (kept || fiber->state == SIM_READY)
        sim_at(&fiber->event, sim_now_ns());
}

/* ---- queues --------------------------------------------------------------------------- */

void sim_queue_add(struct sim_queue *queue, struct sim_fiber *fiber)
{
    struct sim_fiber **at = &queue->first;
    while (*at)
        at = &(*at)->queue_next;
    fiber->queue_next = NULL;
    *at = fiber;
}

void sim_queue_remove(struct sim_queue *queue, struct sim_fiber *fiber)
{
    for (struct sim_fiber **at = &queue->first; *at; at = &(*at)->queue_next) {
        if (*at == fiber) {
            *at = fiber->queue_next;
            return;
        }
    }
}

struct sim_fiber *sim_queue_draw(struct sim_queue *queue)
{
    unsigned count = 0;
    for (struct sim_fiber *at = queue->first; at; at = at->queue_next)
        count++;
    if (count == 0)
        return NULL;
    struct sim_fiber *drawn = queue->first;
    for (uint64_t left = sim_below(count); left > 0; left--)
        drawn = drawn->queue_next;
    sim_queue_remove(queue, drawn);
    return drawn;
}
