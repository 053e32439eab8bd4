/* sim_timerfd.c - the timerfds of a simulated process: single alarms by its MONOTONIC, which
 * stands while the machine is suspended. */
#include "config_auto.h"

#include "sim_fiber.h"
#include "sim_net_parts.h"
#include "sim_real.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>

/* The clock may have stood since it was set. */
static void go_off(struct sim_event *event)
{
    struct sim_timer *timer = (struct sim_timer *)(void *)event;
    const struct sim_proc *proc = timer->file->proc;
    if (sim_monotonic_ns(proc) < timer->due_ns)
        sim_at(event, sim_true_of_monotonic_ns(proc, timer->due_ns));
    else
        sim_file_ready(timer->file, EPOLLIN);
}

int sim_bound_timerfd_create(int clock, int flags)
{
    if (!sim_proc())
        return sim_real_timerfd_create(clock, flags);
    sim_system_call();
    assert(clock == CLOCK_MONOTONIC && flags == (TFD_CLOEXEC | TFD_NONBLOCK));
    struct sim_file *file = sim_file_new(SIM_FILE_TIMER);
    if (!file)
        return -1;
    file->as.timer.event.fire = go_off;
    file->as.timer.file = file;
    return file->fd;
}

int sim_bound_timerfd_settime(int fd, int flags, const struct itimerspec *at,
                              struct itimerspec *ret_before)
{
    struct sim_file *file = sim_file(fd);
    if (!file)
        return sim_real_timerfd_settime(fd, flags, at, ret_before);
    struct sim_timer *timer = &file->as.timer;
    assert(file->kind == SIM_FILE_TIMER && flags == 0 && !ret_before);
    int64_t left_ns = at->it_value.tv_sec * SIM_S + at->it_value.tv_nsec;
    assert(left_ns > 0 && at->it_interval.tv_sec == 0 && at->it_interval.tv_nsec == 0);
    sim_file_ready(file, 0);
    timer->due_ns = sim_monotonic_ns(file->proc) + left_ns;
    sim_at(&timer->event, sim_true_of_monotonic_ns(file->proc, timer->due_ns));
    return 0;
}

ssize_t sim_timerfd_read(struct sim_file *file, void *bytes, size_t len)
{
    const uint64_t once = 1;
    assert(file->kind == SIM_FILE_TIMER && len == sizeof(once));
    if ((file->ready & EPOLLIN) == 0) {
        errno = EAGAIN;
        return -1;
    }
    memcpy(bytes, &once, len);
    sim_file_ready(file, 0);
    return (ssize_t)len;
}
