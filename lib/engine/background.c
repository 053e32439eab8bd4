/* background.c - runs the loop while no caller waits: in the user's event loop (redlock_fd) or
 * in a background thread. Both sleep on three descriptors: the client's epoll set, one that
 * wakes them now ("kick") and one that wakes them later ("alarm"). Then both do the same: poll,
 * run timers, run callbacks.
 *
 * Callers in other threads go on leading as if neither existed. The thread keeps its hands off
 * while a caller leads, or has just done so: it polls from time to time only. So a caller that
 * takes and releases locks all day does not wake it each time.
 */
#include "config_auto.h"

#include "engine/background.h"

#include "engine/lease/lease.h"
#include "engine/client/kick.h"
#include "engine/loop/loop.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

#define JUST_NS (5 * RL_NS_PER_MS)  /* a caller that comes and goes is back within this time */
#define AWAY_NS (10 * RL_NS_PER_MS) /* how often the thread polls beside such callers */
#define LEADER_NS RL_NS_PER_S       /* and beside a caller that waits */

/* ---- what both do --------------------------------------------------------------------- */

/* R8: Does a lock that is held wait for masters that are away? */
static bool lacks_masters(redlock *client)
{
    const struct rl_fill_in *fill_in = &client->voters.fill_in;
    if (!rl_fill_in_busy(fill_in))
        return fill_in->owed > 0;
    int64_t now_ns = rl_client_now_ns(client);
    RL_EACH (const struct rl_lease, lease, &client->leases.open, entry) {
        if (lease->hold.phase == RL_HOLD_HELD && !lease->detached &&
            !rl_lease_over(lease, now_ns))
            return true;
    }
    return false;
}

/* Does any work go on while no call of the user is in progress? */
static bool outlives(redlock *client)
{
    return client->leases.releasing_count > 0 || client->calls.async_count > 0 ||
           client->leases.renewals > 0 || client->callbacks.queue.first ||
           (client->wait_queues.pending_leave_count > 0 &&
            rl_wait_queues_leaving(&client->wait_queues, rl_client_now_ns(client))) ||
           lacks_masters(client);
}

/* True while an UNSUBSCRIBE is not confirmed. That alone is no reason to start the thread. But
 * one that runs must keep reading, or messages pile up in the socket. */
static bool leaves_channels(const struct rl_subs *subs)
{
    assert(subs->channels.count >= subs->channels.used);
    return subs->channels.count > subs->channels.used;
}

static void flush(redlock *client)
{
    if (rl_loop_unflushed(client))
        rl_loop_flush_unless_led(client, rl_client_now_ns(client));
    rl_loop_wake(&client->loop.parking);
}

/* Run the callbacks, and send the requests that they begin together. What is queued before does
 * not wait for them, because they may take long: it may be the release of a lost lock. */
static void run_callbacks(redlock *client)
{
    if (client->callbacks.queue.first)
        flush(client);
    rl_callbacks_run(client);
    flush(client);
    rl_loop_interrupt_if_earlier(client);
}

void rl_background_turn(redlock *client, bool late)
{
    assert(!rl_in_callback(&client->callbacks));
    client->background.sent = false;
    rl_loop_poll(client, late);
    run_callbacks(client);
}

/* ---- the background thread ------------------------------------------------------------ */

/* Sleep, the mutex dropped, until there may be something to do. */
static void rest(redlock *client)
{
    struct rl_background *self = &client->background;
    int64_t now_ns = rl_client_now_ns(client);
    bool always = client->config.background == REDLOCK_BACKGROUND_ALWAYS;
    bool just = now_ns - client->loop.last_caller_ns < JUST_NS;
    bool hands_off = client->loop.leader || just;
    struct pollfd fds[3] = {{.fd = self->kick_fd, .events = POLLIN},
                            {.fd = self->alarm_fd, .events = POLLIN}, /* -1: passed over */
                            {.fd = client->loop.epoll_fd, .events = POLLIN}};
    assert(self->running && !self->user_driven); /* one of the two runs the loop */
    assert(self->kick_fd >= 0);
    if (client->callbacks.queue.first && !client->callbacks.calling)
        return;
    self->sleeps_until_ns = rl_loop_next_due_ns(client);
    if (!just && !always && !outlives(client) && !leaves_channels(&client->subs)) {
        self->sleeps_until_ns = INT64_MAX;
        hands_off = true;
    } else if (client->loop.leader) { /* the leader runs what is due */
        self->sleeps_until_ns = now_ns + (just ? AWAY_NS : LEADER_NS);
    } else if (hands_off) {
        int64_t due_ns = now_ns + AWAY_NS;
        if (due_ns < self->sleeps_until_ns)
            self->sleeps_until_ns = due_ns;
    }
    self->hands_off = hands_off;
    rl_driven_sleeps(&client->loop.driven, RL_DRIVER_SLEEPS,
                     hands_off ? 0 : self->sleeps_until_ns);
    int timeout = self->sleeps_until_ns == INT64_MAX
                      ? -1
                      : rl_loop_timeout_ms(self->sleeps_until_ns, now_ns);
    pthread_mutex_unlock(&client->mutex);
    int ready = poll(fds, hands_off ? 2 : 3, timeout);
    bool blind = ready < 0 ? errno != EINTR
                           : (fds[0].revents | fds[1].revents | fds[2].revents) & POLLNVAL;
    if (blind)
        rl_loop_rest_blind();
    pthread_mutex_lock(&client->mutex);
    if (blind)
        rl_loop_is_blind(client);
    self->sleeps_until_ns = INT64_MIN;
    rl_kick_drain(&client->background);
    rl_alarm_drain(&client->background);
}

static void *run(void *argument)
{
    redlock *client = argument;
    prctl(PR_SET_NAME, "redlock");
    pthread_mutex_lock(&client->mutex);
    while (!client->background.stop) {
        rest(client);
        if (client->background.stop)
            break; /* redlock_close() runs the other callbacks */
        if (client->loop.leader)
            run_callbacks(client); /* the leader does all else */
        else
            rl_background_turn(client, client->background.hands_off);
    }
    pthread_mutex_unlock(&client->mutex);
    return NULL;
}

/* Log it once: the start is tried again at the end of each call that needs it. */
static int tell_refused(redlock *client, const char *call, int error)
{
    struct rl_background *background = &client->background;
    int level = background->refused ? REDLOCK_LOG_DEBUG : REDLOCK_LOG_WARNING;
    assert(error > 0);
    background->refused = true;
    rl_client_log(client, level, "no background thread to be had: %s: %s", call,
                  strerror(error));
    return REDLOCK_ESYSTEM;
}

static int start(redlock *client)
{
    struct rl_background *background = &client->background;
    sigset_t all, before;
    assert(!client->calls.closing && !background->user_driven);
    assert(client->config.background != REDLOCK_BACKGROUND_NEVER);
    if (background->running)
        return 0;
    if (rl_kick_make(&client->background))
        return tell_refused(client, "eventfd()", errno);
    /* This thread must not handle the user's signals: it inherits the mask. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    background->stop = false;
    int error = pthread_create(&background->thread, NULL, run, client);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        return tell_refused(client, "pthread_create()", error);
    background->running = true;
    return 0;
}

void rl_background_stop(redlock *client)
{
    struct rl_background *background = &client->background;
    /* else it would be started again */
    assert(client->calls.closing || background->user_driven);
    if (!background->running)
        return;
    assert(!pthread_equal(background->thread, pthread_self())); /* it can't wait for itself */
    background->stop = true;
    rl_kick(&client->background);
    pthread_mutex_unlock(&client->mutex);
    pthread_join(background->thread, NULL);
    pthread_mutex_lock(&client->mutex);
    background->running = false;
    rl_driven_sleeps(&client->loop.driven, RL_DRIVER_SLEEPS, 0);
}

int rl_background_require(redlock *client)
{
    if (client->calls.closing || client->background.user_driven ||
        client->config.background == REDLOCK_BACKGROUND_NEVER)
        return 0;
    return start(client);
}

/* What is due later needs no wake-up now, where there is an alarm. Within a second, as all
 * other sleeps are: the alarm's clock does not show that ours was set back. */
static void wake_at(redlock *client, int64_t due_ns)
{
    int64_t now_ns = rl_client_now_ns(client), latest_ns = now_ns + RL_NS_PER_S;
    const struct rl_background *background = &client->background;
    assert(background->user_driven || background->running);
    if (background->alarm_fd < 0 || due_ns <= now_ns) {
        rl_kick(&client->background);
        return;
    }
    if (due_ns > latest_ns) {
        bool is_set = background->alarm_ns > now_ns && background->alarm_ns <= latest_ns;
        due_ns = is_set ? background->alarm_ns : latest_ns;
    }
    rl_alarm(&client->background, due_ns, now_ns);
}

void rl_background_after_call(redlock *client)
{
    struct rl_background *background = &client->background;
    /* A thread that always runs looks at the masters of locks that nobody watches, too. */
    bool always = background->running && client->config.background == REDLOCK_BACKGROUND_ALWAYS;
    if (client->calls.closing || background->sleeps_until_ns == INT64_MIN ||
        (!always && !outlives(client)))
        return;
    if (background->user_driven) {
        /* On the loop's own thread the user asks for the time-out again anyway. */
        if (pthread_equal(background->loop_thread, pthread_self()))
            return;
    } else if (client->config.background == REDLOCK_BACKGROUND_NEVER || start(client) != 0) {
        return;
    }
    /* A callback is awaited, and the last leader has gone. */
    bool blind =
        client->calls.async_count > 0 && background->running && background->hands_off &&
        !client->loop.leader &&
        background->sleeps_until_ns - client->loop.driven.looked_ns > AWAY_NS;
    int64_t due_ns = rl_loop_next_due_ns(client);
    if (client->callbacks.queue.first || blind)
        rl_kick(&client->background);
    else if (due_ns < background->sleeps_until_ns)
        wake_at(client, due_ns);
}

/* Of tries in a row on the event loop's own thread, the first is sent at once. The others leave
 * together, because a write a try and master costs more than all the rest of a burst. What
 * waits must leave room for releases, and a release that is corked must not wait with it. */
bool rl_background_defers(redlock *client)
{
    struct rl_background *background = &client->background;
    if (!background->user_driven || client->loop.leader || rl_in_callback(&client->callbacks) ||
        !pthread_equal(background->loop_thread, pthread_self()) || !rl_loop_unflushed(client))
        return false;
    bool first = !background->sent;
    background->sent = true;
    if (first || client->cork.timer.at != 0 ||
        rl_nodes_queued(&client->nodes) > RL_OUT_MIN / 2)
        return false;
    background->deferred = true;
    rl_kick(&client->background);
    return true;
}

void rl_background_done(struct rl_background *background)
{
    if (background->kick_fd >= 0)
        close(background->kick_fd);
    if (background->alarm_fd >= 0)
        close(background->alarm_fd);
    if (background->outer_fd >= 0)
        close(background->outer_fd);
}
