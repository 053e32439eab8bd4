/* sim_cond.c - condition variables between the threads of a simulated process, in the memory
 * of the real ones. Which of those who wait is woken is drawn; and where threads are switched
 * at random, some wake for nothing, as they may. */
#include "config_auto.h"

#include "sim_fiber.h"
#include "sim_mutex.h"
#include "sim_real.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define MAGIC 0x73696d63u

struct cond {
    uint32_t magic;
    clockid_t clock;
    struct sim_queue waiters;
} __attribute__((may_alias));

_Static_assert(sizeof(struct cond) <= sizeof(pthread_cond_t), "no room for a condition");

static struct cond *cond_of(pthread_cond_t *real)
{
    static const pthread_cond_t fresh = PTHREAD_COND_INITIALIZER;
    struct cond *cond = (struct cond *)real;

    if (cond->magic == MAGIC)
        return cond;
    if (memcmp(real, &fresh, sizeof(fresh)) != 0)
        sim_die("a condition that was not made in a simulated process is used there");
    memset(cond, 0, sizeof(*cond));
    cond->magic = MAGIC;
    cond->clock = CLOCK_REALTIME;
    return cond;
}

static bool is_real(const pthread_cond_t *cond)
{
    return !sim_proc() && ((const struct cond *)cond)->magic != MAGIC;
}

int sim_bound_pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
    if (!sim_proc())
        return sim_real_pthread_cond_init(cond, attr);
    struct cond *made = (struct cond *)cond;
    memset(made, 0, sizeof(*made));
    made->magic = MAGIC;
    made->clock = CLOCK_REALTIME;
    if (attr)
        pthread_condattr_getclock(attr, &made->clock);
    return 0;
}

int sim_bound_pthread_cond_destroy(pthread_cond_t *cond)
{
    if (is_real(cond))
        return sim_real_pthread_cond_destroy(cond);
    struct cond *gone = cond_of(cond);
    if (gone->waiters.first)
        return EBUSY;
    memset(gone, 0xdb, sizeof(*gone));
    return 0;
}

/* ---- waiting -------------------------------------------------------------------------- */

static int64_t true_deadline(const struct cond *cond, const struct timespec *until)
{
    const struct sim_proc *proc = sim_proc();
    int64_t until_ns = (int64_t)until->tv_sec * SIM_S + until->tv_nsec;

    if (cond->clock == CLOCK_MONOTONIC)
        return sim_true_of_monotonic_ns(proc, until_ns);
    return sim_true_of_realtime_ns(proc, until_ns);
}

static bool for_nothing(const struct sim_proc *proc)
{
    return sim_chance(proc->rates.switch_ppm / 8);
}

static int wait_for(struct cond *cond, pthread_mutex_t *mutex, int64_t until_ns)
{
    struct sim_fiber *self = sim_fiber();

    /* Nobody else runs between these two. */
    int error = sim_mutex_give(mutex);
    if (error != 0)
        return error;
    sim_queue_add(&cond->waiters, self);
    if (for_nothing(self->proc))
        sim_fiber_stand(sim_now_ns());
    else if (!(cond->clock == CLOCK_MONOTONIC ? sim_sleep(until_ns)
                                              : sim_sleep_by_wall(until_ns)))
        error = ETIMEDOUT;
    sim_queue_remove(&cond->waiters, self);
    sim_mutex_take(mutex);
    return error;
}

int sim_bound_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    if (is_real(cond))
        return sim_real_pthread_cond_wait(cond, mutex);
    sim_system_call();
    return wait_for(cond_of(cond), mutex, SIM_NEVER);
}

int sim_bound_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                     const struct timespec *until)
{
    if (is_real(cond))
        return sim_real_pthread_cond_timedwait(cond, mutex, until);
    sim_system_call();
    struct cond *awaited = cond_of(cond);
    return wait_for(awaited, mutex, true_deadline(awaited, until));
}

/* ---- waking --------------------------------------------------------------------------- */

int sim_bound_pthread_cond_signal(pthread_cond_t *cond)
{
    if (is_real(cond))
        return sim_real_pthread_cond_signal(cond);
    struct sim_fiber *drawn = sim_queue_draw(&cond_of(cond)->waiters);
    if (drawn)
        sim_wake(drawn);
    sim_system_call();
    return 0;
}

int sim_bound_pthread_cond_broadcast(pthread_cond_t *cond)
{
    struct sim_fiber *drawn;

    if (is_real(cond))
        return sim_real_pthread_cond_broadcast(cond);
    while ((drawn = sim_queue_draw(&cond_of(cond)->waiters)))
        sim_wake(drawn);
    sim_system_call();
    return 0;
}
