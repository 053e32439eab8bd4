/* sim_thread.c - threads of simulated processes as the library starts and awaits them. */
#include "config_auto.h"

#include "sim_alloc.h"
#include "sim_fiber.h"
#include "sim_real.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static struct sim_fiber *fiber_of(pthread_t thread)
{
    return (struct sim_fiber *)(uintptr_t)thread;
}

pthread_t sim_bound_pthread_self(void)
{
    struct sim_fiber *fiber = sim_fiber();
    return fiber ? (pthread_t)(uintptr_t)fiber : sim_real_pthread_self();
}

/* Fails as an allocation does: a thread needs a stack. */
int sim_bound_pthread_create(pthread_t *ret_thread, const pthread_attr_t *attributes,
                             void *(*run)(void *), void *argument)
{
    int detached = PTHREAD_CREATE_JOINABLE;

    if (!sim_proc())
        return sim_real_pthread_create(ret_thread, attributes, run, argument);
    sim_system_call();
    if (sim_alloc_fails())
        return EAGAIN;
    if (attributes)
        pthread_attr_getdetachstate(attributes, &detached);
    struct sim_fiber *fiber = sim_fiber_new(sim_proc(), run, argument);
    fiber->detached = detached == PTHREAD_CREATE_DETACHED;
    *ret_thread = (pthread_t)(uintptr_t)fiber;
    return 0;
}

int sim_bound_pthread_join(pthread_t thread, void **ret_result)
{
    struct sim_fiber *self = sim_fiber();

    if (!self)
        return sim_real_pthread_join(thread, ret_result);
    struct sim_fiber *fiber = fiber_of(thread);
    assert(fiber->proc == self->proc && !fiber->detached && !fiber->joiner);
    sim_system_call();
    if (fiber == self)
        return EDEADLK;
    fiber->joiner = self;
    while (fiber->state != SIM_ENDED)
        sim_sleep(SIM_NEVER);
    fiber->detached = true;
    if (ret_result)
        *ret_result = fiber->result;
    return 0;
}

int sim_bound_pthread_setcancelstate(int state, int *ret_before)
{
    struct sim_fiber *self = sim_fiber();

    if (!self)
        return sim_real_pthread_setcancelstate(state, ret_before);
    if (ret_before)
        *ret_before = self->cancel_state;
    self->cancel_state = state;
    return 0;
}

/* There are no signals there. */
int sim_bound_pthread_sigmask(int how, const sigset_t *set, sigset_t *ret_before)
{
    if (!sim_proc())
        return sim_real_pthread_sigmask(how, set, ret_before);
    if (ret_before)
        sigemptyset(ret_before);
    return 0;
}

int sim_bound_pthread_setname_np(pthread_t thread, const char *name)
{
    return sim_proc() ? 0 : sim_real_pthread_setname_np(thread, name);
}
