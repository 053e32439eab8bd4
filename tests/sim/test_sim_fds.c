/* test_sim_fds.c - the simulated descriptors: who is told what, and when; shortage. */
#include "config_auto.h"

#include "sim_net_rig.h"

#include "suite.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int new_set(void)
{
    int set = epoll_create1(EPOLL_CLOEXEC);
    ck_assert_int_ge(set, SIM_FD_BASE);
    return set;
}

static int new_bell(void)
{
    int bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    ck_assert_int_ge(bell, SIM_FD_BASE);
    return bell;
}

static void ring(int bell)
{
    const uint64_t one = 1;
    ck_assert_int_eq(write(bell, &one, sizeof(one)), sizeof(one));
}

static uint64_t silence(int bell)
{
    uint64_t count = 0;
    ssize_t got = read(bell, &count, sizeof(count));
    if (got < 0)
        ck_assert_int_eq(errno, EAGAIN);
    return count;
}

static int control(int set, int operation, int fd, unsigned events)
{
    struct epoll_event event = {.events = events, .data.u64 = (uint64_t)fd};
    return epoll_ctl(set, operation, fd, &event) == 0 ? 0 : errno;
}

static void watch(int set, int fd, unsigned events)
{
    ck_assert_int_eq(control(set, EPOLL_CTL_ADD, fd, events), 0);
}

/* ---- eventfds ------------------------------------------------------------------------- */

static void ring_bells(struct sim_proc *proc)
{
    uint64_t most = UINT64_MAX - 1;
    int bell = new_bell();
    ck_assert_uint_eq(ready(bell), EPOLLOUT);
    ck_assert_uint_eq(silence(bell), 0);
    ring(bell);
    ring(bell);
    ck_assert_uint_eq(ready(bell), EPOLLIN | EPOLLOUT);
    ck_assert_uint_eq(silence(bell), 2);
    ck_assert_uint_eq(ready(bell), EPOLLOUT);
    ck_assert_int_eq(write(bell, &most, sizeof(most)), sizeof(most));
    ck_assert_uint_eq(ready(bell), EPOLLIN);
    ck_assert_int_eq(write(bell, &most, sizeof(most)), -1);
    ck_assert_int_eq(errno, EAGAIN);
    ck_assert_uint_eq(silence(bell), most);
    close(bell);
    ck_assert_uint_eq(sim_open_fds(proc), 0);
}

TEST(waits, eventfd_counts)
{
    play(1, ring_bells);
}

/* ---- timerfds ------------------------------------------------------------------------- */

static void set_off(struct sim_proc *proc)
{
    uint64_t count = 0;
    struct itimerspec at = {.it_value = {.tv_nsec = 3 * SIM_MS}};
    int alarm = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    struct pollfd waits = {.fd = alarm, .events = POLLIN};
    ck_assert_int_eq(timerfd_settime(alarm, 0, &at, NULL), 0);
    ck_assert_int_eq(read(alarm, &count, sizeof(count)), -1);
    ck_assert_int_eq(errno, EAGAIN);
    at.it_value.tv_nsec = 5 * SIM_MS; /* it is set once, and later */
    ck_assert_int_eq(timerfd_settime(alarm, 0, &at, NULL), 0);
    ck_assert_int_eq(poll(&waits, 1, 4), 0);
    ck_assert_int_eq(poll(&waits, 1, 4), 1);
    ck_assert_int_eq(read(alarm, &count, sizeof(count)), sizeof(count));
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(poll(&waits, 1, 20), 0);
    ck_assert_int_eq(timerfd_settime(alarm, 0, &at, NULL), 0);
    close(alarm); /* set still */
    ck_assert_uint_eq(sim_open_fds(proc), 0);
}

TEST(waits, timerfd_goes_off_once_at_its_last_time)
{
    play(1, set_off);
}

/* ---- who is told ---------------------------------------------------------------------- */

static void watch_some(struct sim_proc *proc)
{
    struct epoll_event events[4];
    int set = new_set(), bells[3];
    for (int i = 0; i < 3; i++) {
        bells[i] = new_bell();
        watch(set, bells[i], EPOLLIN);
    }
    ck_assert_int_eq(control(set, EPOLL_CTL_ADD, bells[0], EPOLLIN), EEXIST);
    ck_assert_int_eq(epoll_wait(set, events, 4, 0), 0);
    ring(bells[2]);
    ring(bells[0]);
    /* As long as it is so, and each in turn where not all can be told. */
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(epoll_wait(set, events, 1, -1), 1);
        ck_assert_uint_eq(events[0].data.u64, (uint64_t)bells[i % 2 ? 0 : 2]);
        ck_assert_uint_eq(events[0].events, EPOLLIN);
    }
    ck_assert_int_eq(epoll_wait(set, events, 4, -1), 2);
    silence(bells[2]);
    ck_assert_int_eq(epoll_wait(set, events, 4, -1), 1);
    ck_assert_int_eq(control(set, EPOLL_CTL_MOD, bells[0], EPOLLOUT), 0);
    ck_assert_int_eq(control(set, EPOLL_CTL_MOD, bells[1], EPOLLIN | EPOLLOUT), 0);
    ck_assert_int_eq(epoll_wait(set, events, 4, -1), 2);
    ck_assert_uint_eq(events[0].events, EPOLLOUT);
    ck_assert_int_eq(control(set, EPOLL_CTL_DEL, bells[0], 0), 0);
    ck_assert_int_eq(control(set, EPOLL_CTL_DEL, bells[0], 0), ENOENT);
    close(bells[1]); /* out of the set by itself */
    ck_assert_int_eq(epoll_wait(set, events, 4, 0), 0);
    close(set);
    close(bells[0]);
    close(bells[2]);
    ck_assert_uint_eq(sim_open_fds(proc), 0);
}

TEST(waits, epoll_set_is_level_triggered)
{
    play(1, watch_some);
}

static void *ring_later(void *bell)
{
    let_pass(50 * SIM_MS);
    ring(*(int *)bell);
    return NULL;
}

static void wait_for_others(struct sim_proc *proc)
{
    struct epoll_event event;
    int outer = new_set(), inner = new_set(), bell = new_bell(), other = new_bell();
    watch(inner, bell, EPOLLIN);
    watch(outer, inner, EPOLLIN);
    watch(outer, other, EPOLLIN);
    for (int i = 0; i < 3; i++) {
        struct pollfd fds[3] = {{.fd = other, .events = POLLIN},
                                {.fd = -1, .events = POLLIN},
                                {.fd = i == 0 ? inner : outer, .events = POLLIN}};
        int64_t begin_ns = sim_now_ns();
        sim_fiber_new(proc, ring_later, &bell);
        if (i < 2) {
            ck_assert_int_eq(poll(fds, 3, -1), 1);
            ck_assert_int_eq(fds[0].revents | fds[1].revents, 0);
            ck_assert_int_eq(fds[2].revents, POLLIN);
        } else {
            ck_assert_int_eq(epoll_wait(outer, &event, 1, 1000), 1);
            ck_assert_uint_eq(event.data.u64, (uint64_t)inner);
        }
        ck_assert_int_eq(sim_now_ns(), begin_ns + 50 * SIM_MS);
        ck_assert_uint_eq(silence(bell), 1);
        ck_assert_int_eq(epoll_wait(outer, &event, 1, 0), 0);
    }
    close(inner);
    ck_assert_int_eq(epoll_wait(outer, &event, 1, 0), 0);
    close(outer);
    close(bell);
    close(other);
}

TEST(waits, waiter_is_woken_through_sets_of_sets)
{
    play(1, wait_for_others);
}

static void wait_in_vain(struct sim_proc *proc)
{
    struct epoll_event event;
    const struct timespec shortly = {.tv_nsec = 123456};
    int set = new_set(), bell = new_bell();
    watch(set, bell, EPOLLIN);
    for (int i = 0; i < 2; i++) {
        int64_t rate_ppb = i * 100000000, begin_ns = sim_now_ns();
        proc->rate_ppb = rate_ppb; /* a clock that runs too fast ends its waits too early */
        ck_assert_int_eq(epoll_wait(set, &event, 1, 1100), 0);
        int64_t took_ns = sim_now_ns() - begin_ns;
        ck_assert_int_ge(took_ns, i ? SIM_S : 1100 * SIM_MS);
        ck_assert_int_le(took_ns, (i ? SIM_S : 1100 * SIM_MS) + 10);
    }
    proc->rate_ppb = 0;
    int64_t begin_ns = sim_now_ns();
    ck_assert_int_eq(epoll_pwait2(set, &event, 1, &shortly, NULL), 0);
    ck_assert_int_eq(sim_now_ns(), begin_ns + 123456);
    ck_assert_uint_eq(wait_ready(bell, EPOLLIN, 7), 0);
    ck_assert_int_eq(sim_now_ns(), begin_ns + 123456 + 7 * SIM_MS);
    close(set);
    close(bell);
}

TEST(waits, waiting_ends_by_clock_of_process)
{
    play(1, wait_in_vain);
}

static void look_only(struct sim_proc *proc)
{
    struct epoll_event event;
    int found = 0;
    (void)proc;
    int set = new_set();
    /* Check's own calls are calls, too: none between the looks. */
    for (unsigned i = 0; i < 900; i++)
        found += epoll_wait(set, &event, 1, 0);
    ck_assert_int_eq(sim_now_ns(), 0);
    for (unsigned i = 0; i < 9200; i++)
        found += epoll_wait(set, &event, 1, 0);
    ck_assert_int_eq(sim_now_ns(), 10 * 100 * SIM_US);
    ck_assert_int_eq(found, 0);
    close(set);
}

TEST(waits, spectator_does_not_stop_clock)
{
    play(1, look_only);
}

/* ---- shortage ------------------------------------------------------------------------- */

static void run_short(struct sim_proc *proc)
{
    int bell = new_bell();
    sim_proc_no_fds(proc, true);
    ck_assert_int_eq(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), -1);
    ck_assert_int_eq(errno, EMFILE);
    ck_assert_int_eq(epoll_create1(EPOLL_CLOEXEC), -1);
    ck_assert_int_eq(errno, EMFILE);
    ck_assert_int_eq(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), -1);
    ck_assert_int_eq(errno, EMFILE);
    ck_assert_uint_eq(sim_open_fds(proc), 1);
    ck_assert_uint_eq(proc->felt.no_fds, 3);
    ring(bell); /* those that there are stay */
    sim_proc_no_fds(proc, false);
    int fd = call(0);
    ck_assert_uint_eq(sim_open_fds(proc), 2);
    close(bell);
    ck_assert_int_eq(new_bell(), bell); /* the lowest that is free */
    close(bell);
    close(fd);
}

TEST(waits, descriptors_are_refused_while_there_are_none)
{
    play(1, run_short);
}

/* ---- the real ones --------------------------------------------------------------------- */

TEST(waits, outside_of_processes_calls_are_real)
{
    int bell = eventfd(3, EFD_CLOEXEC | EFD_NONBLOCK);
    ck_assert_int_ge(bell, 0);
    ck_assert_int_lt(bell, SIM_FD_BASE);
    ck_assert_uint_eq(silence(bell), 3);
    ck_assert_int_eq(close(bell), 0);
    ck_assert_int_eq(close(bell), -1);
    ck_assert_int_eq(errno, EBADF);
}
