/* run_watch.c - while COMMAND runs: signals go to it, by way of the guard, which knows whether
 * there is still somebody to signal; and what the guard says is noted. */
#include "config_auto.h"

#include "clock.h"
#include "run.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

void run_order(const struct run *run, enum guard_order_kind kind, int signal_number)
{
    struct guard_order order;
    memset(&order, 0, sizeof(order));
    order.kind = (int)kind;
    order.signal_number = signal_number;
    (void)send(run->control_fd, &order, sizeof(order), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void on_ended(struct run *run, const struct guard_news *news)
{
    run->ended = true;
    run->status = news->value;
    run->why = news->why;
    run->ended_at_ns = news->at_ns;
}

static void on_news(struct run *run, const struct guard_news *news)
{
    if (news->pid > 0)
        run->command = news->pid;
    switch (news->kind) {
    case GUARD_STARTED:
        break;
    case GUARD_STOPPED:
        if (!run->ending)
            run_on_stopped(run, news->value);
        break;
    case GUARD_ENDING:
        run->ending = true;
        run->why = news->value;
        if (news->value == GUARD_WHY_LEFTOVERS)
            cli_say(run->cli, "the command has ended and left others in its process group, "
                              "which are ended now (setsid(1) is for what should stay)");
        break;
    case GUARD_ENDED:
        on_ended(run, news);
        break;
    case GUARD_NOT_RUN:
        run->ended = true;
        run->not_run = news->value;
        break;
    case GUARD_FAILED:
        run->ended = true;
        run->guard_failure = news->value;
        break;
    default:
        assert(false && "news that the guard never has");
    }
}

/* False: the guard is dead. */
static bool read_news(struct run *run)
{
    struct guard_news news;
    ssize_t got = recv(run->control_fd, &news, sizeof(news), MSG_DONTWAIT);
    if (got == (ssize_t)sizeof(news))
        on_news(run, &news);
    return got == (ssize_t)sizeof(news) || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

/* A stopped guard guards nothing. Whoever stopped it meant the command, or no good. */
static void continue_guard(const struct run *run)
{
    siginfo_t info;
    memset(&info, 0, sizeof(info));
    if (waitid(P_PID, (id_t)run->guard, &info, WSTOPPED | WNOHANG) == 0 &&
        info.si_pid == run->guard)
        kill(run->guard, SIGCONT);
}

static void on_signal(struct run *run, int signal_number)
{
    switch (signal_number) {
    case SIGCHLD:
        continue_guard(run);
        break;
    case SIGCONT:
        run_on_continued(run);
        break;
    default:
        run->stop_asked = run->stop_asked || signal_number == SIGTSTP;
        run->int_passed_on = run->int_passed_on || signal_number == SIGINT;
        run_order(run, GUARD_SIGNAL, signal_number);
        break;
    }
}

static void read_signals(struct run *run)
{
    struct signalfd_siginfo info;
    while (read(run->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
        on_signal(run, (int)info.ssi_signo);
}

/* The guard kills at the deadline less margin. When half of that margin is gone, it has not. */
static int64_t backstop_ns(const struct run *run)
{
    return atomic_load(&run->extender.deadline_ns) - run->times.margin_ns / 2;
}

static int timeout_ms(const struct run *run)
{
    int64_t left_ms = (backstop_ns(run) - rl_clock_now_ns()) / RL_NS_PER_MS + 1;
    if (left_ms < 0)
        return 0;
    return left_ms < 60000 ? (int)left_ms : 60000;
}

void run_watch(struct run *run)
{
    while (!run->ended) {
        struct pollfd ready[] = {{.fd = run->control_fd, .events = POLLIN},
                                 {.fd = run->signal_fd, .events = POLLIN}};
        (void)poll(ready, 2, timeout_ms(run)); /* failed: nothing is ready */
        /* News first: what the guard has done while we were stopped is not ours to do. */
        bool guard_lives = true;
        if (ready[0].revents)
            guard_lives = read_news(run);
        else if (rl_clock_now_ns() >= backstop_ns(run))
            guard_lives = false;
        if (ready[1].revents)
            read_signals(run);
        if (!guard_lives) {
            run_orphans_end(run);
            return;
        }
    }
    kill(run->guard, SIGKILL); /* it has nothing left to do, and must not be stopped instead */
    while (waitpid(run->guard, NULL, 0) < 0 && errno == EINTR)
        continue;
}
