/* sim_mutex.c - mutexes between the threads of a simulated process. They live in the memory of
 * the real ones. As a real one does, an unlocked mutex wakes one of those who wait, and whoever
 * comes first has it.
 */
#include "config_auto.h"

#include "sim_mutex.h"

#include "sim_fiber.h"
#include "sim_real.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define MAGIC 0x73696d6du

struct mutex {
    uint32_t magic;
    int type;
    struct sim_fiber *owner;
    struct sim_queue waiters;
    unsigned depth; /* beyond the first, of a recursive one */
} __attribute__((may_alias));

_Static_assert(sizeof(struct mutex) <= sizeof(pthread_mutex_t), "no room for a mutex");

static struct mutex *mutex_of(pthread_mutex_t *real)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    struct mutex *mutex = (struct mutex *)real;

    if (mutex->magic == MAGIC)
        return mutex;
    if (memcmp(real, &fresh, sizeof(fresh)) != 0)
        sim_die("a mutex that was not made in a simulated process is used there");
    memset(mutex, 0, sizeof(*mutex));
    mutex->magic = MAGIC;
    mutex->type = PTHREAD_MUTEX_NORMAL;
    return mutex;
}

/* Outside of processes real ones are used, and simulated ones that nobody can be waiting for:
 * where a client is destroyed whose process is no more. */
static bool is_real(const pthread_mutex_t *mutex)
{
    return !sim_proc() && ((const struct mutex *)mutex)->magic != MAGIC;
}

int sim_bound_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
    if (!sim_proc())
        return sim_real_pthread_mutex_init(mutex, attr);
    struct mutex *made = (struct mutex *)mutex;
    memset(made, 0, sizeof(*made));
    made->magic = MAGIC;
    made->type = PTHREAD_MUTEX_NORMAL;
    if (attr)
        pthread_mutexattr_gettype(attr, &made->type);
    return 0;
}

int sim_bound_pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    if (is_real(mutex))
        return sim_real_pthread_mutex_destroy(mutex);
    struct mutex *gone = mutex_of(mutex);
    if (gone->owner || gone->waiters.first)
        return EBUSY;
    memset(gone, 0xdb, sizeof(*gone));
    return 0;
}

/* Taken at once, or refused: EBUSY where it is another's. */
static int try_lock(struct mutex *mutex)
{
    struct sim_fiber *self = sim_fiber();

    if (!mutex->owner) {
        mutex->owner = self;
        return 0;
    }
    if (mutex->owner != self)
        return EBUSY;
    if (mutex->type == PTHREAD_MUTEX_RECURSIVE) {
        mutex->depth++;
        return 0;
    }
    return mutex->type == PTHREAD_MUTEX_ERRORCHECK ? EDEADLK : EBUSY;
}

static void await(struct mutex *mutex)
{
    struct sim_fiber *self = sim_fiber();

    if (mutex->owner == self)
        sim_die("%s waits for a mutex that it has itself", self->proc->name);
    while (mutex->owner) {
        sim_queue_add(&mutex->waiters, self);
        sim_sleep(SIM_NEVER);
        sim_queue_remove(&mutex->waiters, self);
    }
    mutex->owner = self;
}

static int unlock(struct mutex *mutex)
{
    if (mutex->owner != sim_fiber())
        return EPERM;
    if (mutex->depth > 0) {
        mutex->depth--;
        return 0;
    }
    mutex->owner = NULL;
    struct sim_fiber *next = sim_queue_draw(&mutex->waiters);
    if (next)
        sim_wake(next);
    return 0;
}

int sim_bound_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (is_real(mutex))
        return sim_real_pthread_mutex_lock(mutex);
    if (!sim_proc())
        return 0;
    sim_system_call();
    struct mutex *wanted = mutex_of(mutex);
    int error = try_lock(wanted);
    if (error == EBUSY) {
        await(wanted);
        error = 0;
    }
    return error;
}

int sim_bound_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    if (is_real(mutex))
        return sim_real_pthread_mutex_trylock(mutex);
    if (!sim_proc())
        return 0;
    sim_system_call();
    int error = try_lock(mutex_of(mutex));
    return error == EDEADLK ? EBUSY : error;
}

int sim_bound_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (is_real(mutex))
        return sim_real_pthread_mutex_unlock(mutex);
    if (!sim_proc())
        return 0;
    int error = unlock(mutex_of(mutex));
    sim_system_call(); /* where others may be quicker than what comes next */
    return error;
}

int sim_mutex_give(pthread_mutex_t *mutex)
{
    return unlock(mutex_of(mutex));
}

void sim_mutex_take(pthread_mutex_t *mutex)
{
    struct mutex *wanted = mutex_of(mutex);
    if (try_lock(wanted) != 0)
        await(wanted);
}
