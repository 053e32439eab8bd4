/* kick.c - see kick.h. */
#include "config_auto.h"

#include "engine/client/kick.h"

#include "base/eventfd.h"
#include "base/limits.h"
#include "engine/client/client.h"

#include <assert.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

int rl_kick_make(struct rl_background *background)
{
    if (background->kick_fd < 0)
        background->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return background->kick_fd < 0 ? REDLOCK_ESYSTEM : 0;
}

void rl_kick(struct rl_background *background)
{
    if (background->kick_fd < 0 || background->kicked ||
        background->sleeps_until_ns == INT64_MIN)
        return;
    background->kicked = true;
    rl_eventfd_signal(background->kick_fd);
}

void rl_kick_drain(struct rl_background *background)
{
    if (!background->kicked)
        return;
    assert(background->kick_fd >= 0);
    background->kicked = false;
    rl_eventfd_drain(background->kick_fd);
}

int rl_alarm_make(struct rl_background *background)
{
    struct epoll_event event = {.events = EPOLLIN};
    assert(background->alarm_fd >= 0 || background->alarm_ns == INT64_MAX);
    if (background->alarm_fd >= 0)
        return 0;
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (fd >= 0 && background->outer_fd >= 0 &&
        epoll_ctl(background->outer_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
        close(fd);
        fd = -1;
    }
    background->alarm_fd = fd;
    background->alarm_ns = INT64_MAX;
    rl_kick(background); /* a thread that sleeps does not poll it yet */
    return fd < 0 ? REDLOCK_ESYSTEM : 0;
}

void rl_alarm(struct rl_background *background, int64_t due_ns, int64_t now_ns)
{
    int64_t left_ns = due_ns - now_ns;
    assert(background->alarm_fd >= 0 && left_ns > 0);
    if (background->alarm_ns == due_ns)
        return;
    struct itimerspec at = {.it_value = {.tv_sec = (time_t)(left_ns / RL_NS_PER_S),
                                         .tv_nsec = (long)(left_ns % RL_NS_PER_S)}};
    if (timerfd_settime(background->alarm_fd, 0, &at, NULL) == 0)
        background->alarm_ns = due_ns;
    else
        rl_kick(background);
}

void rl_alarm_drain(struct rl_background *background)
{
    uint64_t count;
    assert(background->alarm_ns == INT64_MAX || background->alarm_fd >= 0);
    if (background->alarm_ns != INT64_MAX &&
        read(background->alarm_fd, &count, sizeof(count)) == (ssize_t)sizeof(count))
        background->alarm_ns = INT64_MAX;
}
