/* run_extend.c - a thread that keeps the lock: an extension at each third of the lease, and
 * where it fails another one soon, for as long as there is time. Every new deadline goes to
 * the guard, which acts on the last one it was told; when the lock is known to be lost the
 * guard is told that, and the thread ends. */
#include "config_auto.h"

#include "clock.h"
#include "run.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define AGAIN_MIN_NS (20 * RL_NS_PER_MS)

int64_t run_deadline_ns(const redlock_lock *lock)
{
    int64_t now_ns = rl_clock_now_ns(); /* first: the deadline errs on the early side */
    int64_t validity_ms = redlock_validity_ms(lock);
    return validity_ms > 0 ? now_ns + validity_ms * RL_NS_PER_MS : 0;
}

static void tell_guard(const struct run_extender *extender, enum guard_order_kind kind)
{
    struct guard_order order;
    memset(&order, 0, sizeof(order));
    order.kind = (int)kind;
    order.deadline_ns = atomic_load(&extender->deadline_ns);
    /* Not sent is not extended, for the guard: it errs on the early side. */
    (void)send(extender->control_fd, &order, sizeof(order), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* False: asked to stop. On the clock that counts a suspended machine's time as well. */
static bool sleep_until(const struct run_extender *extender, int timer_fd, int64_t due_ns)
{
    if (due_ns < 1)
        due_ns = 1;
    struct itimerspec at = {.it_value = {.tv_sec = (time_t)(due_ns / RL_NS_PER_S),
                                         .tv_nsec = (long)(due_ns % RL_NS_PER_S)}};
    (void)timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
    struct pollfd ready[] = {{.fd = extender->stop_fd, .events = POLLIN},
                             {.fd = timer_fd, .events = POLLIN}};
    while (poll(ready, 2, -1) < 0 && errno == EINTR)
        continue;
    return ready[0].revents == 0;
}

/* Is there any use in trying again? */
static bool may_recover(int code)
{
    return code == REDLOCK_ENOQUORUM || code == REDLOCK_ENOMEM || code == REDLOCK_ESYSTEM ||
           code == REDLOCK_EBUSY;
}

static int64_t again_after_ns(const struct run_extender *extender, int64_t last_ns)
{
    int64_t longest_ns = extender->lease_ns / 20;
    int64_t next_ns = last_ns > 0 ? last_ns * 2 : AGAIN_MIN_NS;
    return next_ns < longest_ns ? next_ns : longest_ns;
}

static void *extend_until_stopped(void *context)
{
    struct run_extender *extender = context;
    int timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    int64_t began_ns = rl_clock_now_ns();
    int64_t due_ns = began_ns + extender->lease_ns / 3;
    int64_t again_ns = 0;
    while (timer_fd >= 0 && sleep_until(extender, timer_fd, due_ns)) {
        began_ns = rl_clock_now_ns();
        int code = redlock_extend(extender->lock, 0, &extender->report);
        int64_t deadline_ns = run_deadline_ns(extender->lock);
        if (code == REDLOCK_OK && deadline_ns == 0)
            code = REDLOCK_EEXPIRED;
        atomic_store(&extender->failure, code);
        if (code == REDLOCK_OK) {
            atomic_store(&extender->deadline_ns, deadline_ns);
            tell_guard(extender, GUARD_DEADLINE);
            again_ns = 0;
            due_ns = began_ns + extender->lease_ns / 3;
            continue;
        }
        if (extender->cli->verbose) {
            cli_say(extender->cli, "not extended: %s", redlock_strerror(code));
            cli_say_votes(extender->cli, &extender->report);
        }
        if (!may_recover(code)) {
            tell_guard(extender, GUARD_END);
            break;
        }
        again_ns = again_after_ns(extender, again_ns);
        due_ns = rl_clock_now_ns() + again_ns;
    }
    if (timer_fd >= 0)
        close(timer_fd);
    return NULL;
}

int run_extender_start(struct run_extender *extender)
{
    extender->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (extender->stop_fd < 0)
        return errno;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the thread takes no signal of ours */
    int why = pthread_create(&extender->thread, NULL, extend_until_stopped, extender);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (why != 0)
        close(extender->stop_fd);
    return why;
}

void run_extender_stop(struct run_extender *extender)
{
    uint64_t one = 1;
    while (write(extender->stop_fd, &one, sizeof(one)) < 0 && errno == EINTR)
        continue;
    pthread_join(extender->thread, NULL);
    close(extender->stop_fd);
}
