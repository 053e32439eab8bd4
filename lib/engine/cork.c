/* cork.c - lazy releases: their requests stay in the nodes' output, corked, and leave with the
 * next request of any call. They wait for that RL_CORK_NS at the longest: then the event loop
 * or the background thread sends them. A process that ends by exit() sends them first, and
 * waits for the answers as redlock_close() does: a socket that is closed with bytes unread may
 * take what was just sent along.
 */
#include "config_auto.h"

#include "engine/cork.h"

#include "engine/lease/lease.h"
#include "engine/background.h"
#include "engine/client/kick.h"
#include "engine/loop/loop.h"

#include <assert.h>
#include <stdlib.h>
#include <time.h>

#define EXIT_PATIENCE_NS RL_NS_PER_S /* at exit, for a mutex whose thread waits to run */

/* Clients that may have something corked. Their mutex must not be taken under this one without
 * a time limit: the other order is usual. */
static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static struct rl_list registered;
static atomic_bool at_exit; /* the handlers of exit() and fork() are installed */

static bool lock_soon(pthread_mutex_t *mutex)
{
    struct timespec until = rl_clock_limit(CLOCK_REALTIME, EXIT_PATIENCE_NS);
    return pthread_mutex_timedlock(mutex, &until) == 0;
}

/* Without callbacks: what they use may be gone by now. */
static void see_off(redlock *client)
{
    const struct timespec moment = {.tv_nsec = RL_NS_PER_MS / 4};
    int64_t now_ns = rl_client_now_ns(client);
    int64_t until_ns = now_ns + client->config.linger_ms * RL_NS_PER_MS;
    bool locked = true;
    rl_loop_flush(client, now_ns);
    while (locked && now_ns < until_ns && rl_leases_pending(client, now_ns)) {
        pthread_mutex_unlock(&client->mutex); /* another thread may be at it */
        nanosleep(&moment, NULL);
        locked = lock_soon(&client->mutex);
        if (locked) {
            rl_loop_poll(client, false);
            now_ns = rl_client_now_ns(client);
            rl_loop_flush(client, now_ns);
        }
    }
    if (locked)
        pthread_mutex_unlock(&client->mutex);
}

static void flush_all_at_exit(void)
{
    if (!lock_soon(&registry))
        return;
    RL_EACH (redlock, client, &registered, cork.entry) {
        if (!rl_forked(&client->identity.fork_check) && lock_soon(&client->mutex))
            see_off(client);
    }
    pthread_mutex_unlock(&registry);
}

static void before_fork(void)
{
    pthread_mutex_lock(&registry);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&registry);
}

/* A child of fork() has none of these clients. */
static void in_child(void)
{
    while (rl_list_pop(&registered))
        continue;
    pthread_mutex_unlock(&registry);
}

static void install_exit_handlers(void)
{
    atomic_store(&at_exit, atexit(flush_all_at_exit) == 0 &&
                               pthread_atfork(before_fork, in_parent, in_child) == 0);
}

static void enroll(struct rl_cork *cork)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    assert(cork->ready); /* so a client is enrolled once */
    pthread_once(&once, install_exit_handlers);
    if (!atomic_load(&at_exit))
        return;
    pthread_mutex_lock(&registry);
    rl_list_append(&registered, &cork->entry);
    pthread_mutex_unlock(&registry);
}

void rl_cork_done(struct rl_cork *cork)
{
    if (!atomic_load(&at_exit))
        return;
    pthread_mutex_lock(&registry);
    if (rl_list_has(&registered, &cork->entry))
        rl_list_remove(&registered, &cork->entry);
    pthread_mutex_unlock(&registry);
}

/* The turn that runs this flushes afterwards, as each turn does. */
static void fire(struct rl_timer *timer, int64_t now_ns)
{
    (void)timer, (void)now_ns;
}

int rl_cork_require(redlock *client)
{
    assert(!client->calls.closing); /* no try begins then */
    assert(client->background.user_driven ||
           client->config.background != REDLOCK_BACKGROUND_NEVER); /* the try was refused */
    int result = rl_background_require(client);
    if (result || client->cork.ready)
        return result;
    if (rl_alarm_make(&client->background))
        return REDLOCK_ESYSTEM;
    if (rl_timers_reserve(&client->loop.timers))
        return REDLOCK_ENOMEM;
    client->cork.timer.fire = fire;
    client->cork.ready = true;
    enroll(&client->cork);
    return 0;
}

void rl_cork(redlock *client, int64_t now_ns)
{
    /* A leader sends queued requests at the end of its turn, and so does the thread that runs
     * callbacks. */
    if (!client->cork.ready || client->calls.closing || client->loop.leader ||
        client->background.deferred || rl_in_callback(&client->callbacks))
        return;
    client->cork.on = true;
    assert(client->background.user_driven ||
           client->background.running); /* one of them sends it */
    rl_timer_set(&client->loop.timers, &client->cork.timer, now_ns + RL_CORK_NS);
}

void rl_cork_pull(redlock *client)
{
    assert(client->cork.ready || (!client->cork.on && client->cork.timer.at == 0));
    client->cork.on = false;
    if (client->cork.timer.at != 0)
        rl_timer_set(&client->loop.timers, &client->cork.timer, INT64_MAX);
}
