/* event_loop.c - redlock_fd(), redlock_timeout_ms() and redlock_process(): the user's event
 * loop drives the client (background.c) instead of a thread of its own. */
#include "config_auto.h"

#include "engine/client/client.h"
#include "engine/background.h"
#include "engine/client/kick.h"
#include "engine/loop/loop.h"
#include "engine/enter.h"

#include <assert.h>
#include <sys/epoll.h>
#include <unistd.h>

static int watch(int outer_fd, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    return epoll_ctl(outer_fd, EPOLL_CTL_ADD, fd, &event);
}

static int make_outer(redlock *client)
{
    struct rl_background *background = &client->background;
    assert(background->outer_fd < 0 && !background->user_driven);
    if (rl_kick_make(&client->background))
        return REDLOCK_ESYSTEM;
    int outer_fd = epoll_create1(EPOLL_CLOEXEC);
    if (outer_fd < 0 || watch(outer_fd, client->loop.epoll_fd) != 0 ||
        watch(outer_fd, background->kick_fd) != 0 ||
        (background->alarm_fd >= 0 && watch(outer_fd, background->alarm_fd) != 0)) {
        if (outer_fd >= 0)
            close(outer_fd);
        return REDLOCK_ESYSTEM;
    }
    background->outer_fd = outer_fd;
    background->user_driven = true;
    rl_background_stop(client); /* only one of the two may run the loop */
    background->sleeps_until_ns = INT64_MAX;
    return 0;
}

int redlock_fd(redlock *client)
{
    int cancel_state;
    int result = rl_client_enter(client, &cancel_state);
    if (result)
        return result;
    if (client->background.outer_fd < 0) {
        result = rl_in_callback(&client->callbacks) ? REDLOCK_EDEADLK : make_outer(client);
        client->background.loop_thread = pthread_self();
    }
    if (result == 0)
        result = client->background.outer_fd;
    rl_client_leave(client, cancel_state);
    return result;
}

static void loop_sleeps(redlock *client, int64_t until_ns)
{
    assert(client->background.user_driven && client->background.outer_fd >= 0);
    client->background.sleeps_until_ns = until_ns;
    rl_driven_sleeps(&client->loop.driven, RL_DRIVER_SLEEPS, until_ns);
}

int redlock_timeout_ms(redlock *client)
{
    int cancel_state;
    int result = rl_client_enter(client, &cancel_state);
    if (result)
        return result;
    bool now = client->callbacks.queue.first || client->background.deferred;
    int64_t due_ns = now ? 0 : rl_loop_next_due_ns(client);
    if (client->background.user_driven)
        loop_sleeps(client, due_ns);
    result = due_ns == INT64_MAX ? -1 : rl_loop_timeout_ms(due_ns, rl_client_now_ns(client));
    rl_client_leave_unsent(client, cancel_state); /* it may be asked after each try */
    return result;
}

int redlock_process(redlock *client)
{
    int cancel_state;
    int result = rl_client_enter(client, &cancel_state);
    if (result)
        return result;
    if (rl_in_callback(&client->callbacks)) {
        result = REDLOCK_EDEADLK;
    } else {
        struct rl_background *self = &client->background;
        self->loop_thread = pthread_self();
        if (self->user_driven) {
            self->sleeps_until_ns = INT64_MIN;
            rl_kick_drain(&client->background);
            rl_alarm_drain(&client->background);
        }
        rl_background_turn(client, false);
        if (self->user_driven)
            loop_sleeps(client, rl_loop_next_due_ns(client));
    }
    rl_client_leave(client, cancel_state);
    return result;
}
