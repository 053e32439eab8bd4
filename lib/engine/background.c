/* background.c - who runs the loop while no caller waits: the user's event loop (redlock_fd) or
 * a background thread. Both sleep on the same two descriptors, the client's epoll set and one
 * that wakes them ("kick"), and then do the same: look, see to timers, tell the callbacks.
 *
 * Callers in other threads go on leading as if neither were there. The thread keeps out of
 * their way: while somebody leads, or has just done so, it looks in from time to time only,
 * so that a caller who takes and releases locks all day does not wake it at each of them.
 */
#include "config_auto.h"

#include "engine/lease.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

#define JUST_NS (5 * RL_NS_PER_MS)  /* callers that come and go come again within this */
#define AWAY_NS (10 * RL_NS_PER_MS) /* look in on them so often */
#define LEADER_NS RL_NS_PER_S       /* and on one who waits */

/* ---- what both do --------------------------------------------------------------------- */

/* Is there anything that goes on while no call of the user's does? */
static bool outlives(redlock *client)
{
    return client->leases.releasing_count > 0 || client->calls.async_count > 0 ||
           client->leases.watched > 0 || client->notices.first ||
           (client->lines.departures > 0 &&
            rl_lines_departing(client, rl_client_now_ns(client)));
}

/* Is there a channel to be left whose beginning, or end, a master has yet to confirm? That
 * alone begins no thread; but who sleeps on it would be sent all messages there, and never
 * look. */
static bool leaves_channels(const redlock *client)
{
    return client->subs.ears.count > client->subs.ears.used;
}

/* Run the callbacks; what they begin is sent together. */
static void tell(redlock *client)
{
    rl_loop_wake(client); /* before callbacks, which may take their time */
    rl_notices_tell(client);
    if (rl_loop_unflushed(client))
        rl_loop_submit(client, rl_client_now_ns(client));
    rl_loop_wake(client);
    rl_loop_nudge(client);
}

void rl_drive_turn(redlock *client, bool late)
{
    rl_loop_poll(client, late);
    tell(client);
}

/* ---- the background thread ------------------------------------------------------------ */

/* Sleep, the mutex dropped, until there may be something to do. */
static void rest(redlock *client)
{
    struct rl_drive *self = &client->drive;
    int64_t now_ns = rl_client_now_ns(client);
    bool always = client->config.background == REDLOCK_BACKGROUND_ALWAYS;
    bool away = client->loop.leader || now_ns - client->loop.left_ns < JUST_NS;
    struct pollfd fds[2] = {{.fd = self->kick_fd, .events = POLLIN},
                            {.fd = client->loop.epoll_fd, .events = POLLIN}};
    if (client->notices.first && !client->notices.calling)
        return;
    self->told_ns = rl_loop_next_due_ns(client);
    if (!always && !outlives(client) && !leaves_channels(client)) {
        self->told_ns = INT64_MAX;
        away = true;
    } else if (client->loop.leader) {
        self->told_ns = now_ns + LEADER_NS;
    } else if (away) {
        int64_t due_ns = now_ns + AWAY_NS;
        if (due_ns < self->told_ns)
            self->told_ns = due_ns;
    }
    self->away = away;
    rl_driven_sleeps(&client->nodes.settings.driven, RL_DRIVER_SLEEPS,
                     away ? 0 : self->told_ns);
    int timeout = self->told_ns == INT64_MAX ? -1 : rl_loop_timeout_ms(self->told_ns, now_ns);
    pthread_mutex_unlock(&client->mutex);
    poll(fds, away ? 1 : 2, timeout);
    pthread_mutex_lock(&client->mutex);
    self->told_ns = INT64_MIN;
    rl_loop_drain_kick(client);
}

static void *run(void *argument)
{
    redlock *client = argument;
    prctl(PR_SET_NAME, "redlock");
    pthread_mutex_lock(&client->mutex);
    while (!client->drive.stop) {
        rest(client);
        if (client->drive.stop)
            break; /* whoever closes the client tells the rest */
        if (client->loop.leader)
            tell(client); /* all else is the leader's */
        else
            rl_drive_turn(client, client->drive.away);
    }
    pthread_mutex_unlock(&client->mutex);
    return NULL;
}

static int start(redlock *client)
{
    struct rl_drive *drive = &client->drive;
    sigset_t all, before;
    if (drive->runs)
        return 0;
    if (rl_loop_make_kick(client))
        return REDLOCK_ESYSTEM;
    /* No signal of the user's is for this thread: it inherits the mask. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    drive->stop = false;
    int error = pthread_create(&drive->thread, NULL, run, client);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) {
        /* Once: it is tried again at the end of each call that would need it. */
        int level = drive->refused ? REDLOCK_LOG_DEBUG : REDLOCK_LOG_WARNING;
        drive->refused = true;
        rl_client_log(client, level, "no background thread to be had: %s", strerror(error));
        return REDLOCK_ESYSTEM;
    }
    drive->runs = true;
    return 0;
}

void rl_drive_stop(redlock *client)
{
    struct rl_drive *drive = &client->drive;
    if (!drive->runs)
        return;
    drive->stop = true;
    rl_loop_kick(client);
    pthread_mutex_unlock(&client->mutex);
    pthread_join(drive->thread, NULL);
    pthread_mutex_lock(&client->mutex);
    drive->runs = false;
    rl_driven_sleeps(&client->nodes.settings.driven, RL_DRIVER_SLEEPS, 0);
}

int rl_drive_need(redlock *client)
{
    if (client->closing || client->drive.loop ||
        client->config.background == REDLOCK_BACKGROUND_NEVER)
        return 0;
    return start(client);
}

void rl_drive_leave(redlock *client)
{
    struct rl_drive *drive = &client->drive;
    if (client->closing || drive->told_ns == INT64_MIN || !outlives(client))
        return;
    if (drive->loop) {
        /* On its own thread, the user asks for the time-out again. */
        if (pthread_equal(drive->loop_thread, pthread_self()))
            return;
    } else if (client->config.background == REDLOCK_BACKGROUND_NEVER || start(client) != 0) {
        return;
    }
    /* Somebody waits for a callback, and whoever led does so no more. */
    bool blind = client->calls.async_count > 0 && drive->runs && drive->away &&
                 !client->loop.leader &&
                 drive->told_ns - client->nodes.settings.driven.looked_ns > AWAY_NS;
    if (client->notices.first || blind || rl_loop_next_due_ns(client) < drive->told_ns)
        rl_loop_kick(client);
}

void rl_drive_done(redlock *client)
{
    if (client->drive.kick_fd >= 0)
        close(client->drive.kick_fd);
    if (client->drive.outer_fd >= 0)
        close(client->drive.outer_fd);
}
