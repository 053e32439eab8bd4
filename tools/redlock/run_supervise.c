/* run_supervise.c - while COMMAND runs: signals go to it, by way of the guard, which knows
 * whether there is still somebody to signal; what the guard says is noted; and the guard is
 * told how the lock fares, which the library renews meanwhile. */
#include "config_auto.h"

#include "redlock/run.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOKS 24                     /* at the lock, in what is left of its time */
#define LOST_NS (200 * RL_NS_PER_MS) /* within which the guard says that it ends COMMAND */

/* ---- what the guard is told ---- */

/* Never wait for the guard: it may be stopped. */
static bool tell(int control_fd, enum guard_order_kind kind, int signal_number,
                 int64_t deadline_ns)
{
    struct guard_order order;
    memset(&order, 0, sizeof(order));
    order.kind = (int)kind;
    order.signal_number = signal_number;
    order.deadline_ns = deadline_ns;
    return send(control_fd, &order, sizeof(order), MSG_NOSIGNAL | MSG_DONTWAIT) ==
           (ssize_t)sizeof(order);
}

void run_order(const struct run *run, enum guard_order_kind kind, int signal_number)
{
    (void)tell(atomic_load(&run->control_fd), kind, signal_number, 0);
}

/* On the library's thread. The watcher is woken by a signal that it reads, and tells the guard.
 * If there is no watcher yet, it finds `lost_ns` when it begins. */
void run_lost(void *context, redlock_lock *lock)
{
    struct run *run = context;
    (void)lock;
    atomic_store(&run->lost_ns, rl_clock_steady_ns(&run->clock));
    kill(getpid(), SIGCHLD);
}

int64_t run_deadline_ns(struct run *run)
{
    int64_t now_ns = rl_clock_steady_ns(&run->clock); /* first: it errs on the early side */
    int64_t validity_ms = redlock_validity_ms(run->lock);
    return validity_ms > 0 ? now_ns + validity_ms * RL_NS_PER_MS : 0;
}

/* What the guard was not told does not count as known: it is told at the next look. */
static void look_at_lock(struct run *run)
{
    if (atomic_load(&run->lost_ns) != 0) {
        if (!run->terminating)
            run_order(run, GUARD_END, 0);
        return;
    }
    int64_t deadline_ns = run_deadline_ns(run);
    if (deadline_ns - run->deadline_ns >= RL_NS_PER_MS &&
        tell(atomic_load(&run->control_fd), GUARD_DEADLINE, 0, deadline_ns))
        run->deadline_ns = deadline_ns;
}

/* ---- what is heard ---- */

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
    case GUARD_BEGINS:
        run->begun = true;
        break;
    case GUARD_NEVER_RAN:
        run->begun = false;
        break;
    case GUARD_STARTED:
        run->started = true;
        break;
    case GUARD_STOPPED:
        if (!run->terminating)
            run_on_stopped(run, news->value);
        break;
    case GUARD_TERMINATING:
        run->terminating = true;
        run->why = news->value;
        if (news->value == GUARD_WHY_LEFTOVERS)
            cli_say(run->cli, "the command has ended and left others in its process group, "
                              "which are ended now (setsid(1) is for what should stay)");
        break;
    case GUARD_ENDED:
        on_ended(run, news);
        break;
    case GUARD_LEFT:
        if (run->left_count < RUN_LEFT_SHOWN)
            run->left[run->left_count] = news->value;
        run->left_count++;
        break;
    case GUARD_NOT_RUN:
        run->ended = true;
        run->not_run = news->value;
        break;
    case GUARD_FAILED:
        run->ended = true;
        run->guard_failure = news->value;
        memcpy(run->refused, news->call, sizeof(run->refused));
        break;
    default:
        assert(false && "news that the guard never has");
    }
}

/* False: the guard is dead. */
static bool read_news(struct run *run)
{
    struct guard_news news;
    ssize_t got = recv(atomic_load(&run->control_fd), &news, sizeof(news), MSG_DONTWAIT);
    if (got == (ssize_t)sizeof(news))
        on_news(run, &news);
    return got == (ssize_t)sizeof(news) || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

/* What a guard that is dead has said, which its end may have overtaken. */
static void read_last_news(struct run *run)
{
    struct guard_news news;
    while (recv(atomic_load(&run->control_fd), &news, sizeof(news), MSG_DONTWAIT) ==
           (ssize_t)sizeof(news))
        on_news(run, &news);
}

/* A stopped guard guards nothing, so continue it. Whatever stopped it was meant for the
 * command. */
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

/* ---- the loop ---- */

/* The guard kills at the deadline less margin. Halfway from there to the time at which the
 * library gives the lock up, it has not. Nor has it where it says nothing to a loss. */
static int64_t backstop_ns(const struct run *run)
{
    int64_t lost_ns = atomic_load(&run->lost_ns);
    int64_t at_ns = run->deadline_ns - (run->times.margin_ns + run->give_up_ns) / 2;
    bool unheard = lost_ns != 0 && !run->terminating;
    return unheard && lost_ns + LOST_NS < at_ns ? lost_ns + LOST_NS : at_ns;
}

/* Was it time for the guard to act? Where we did not run for a while, the lock may have been
 * renewed meanwhile, and the guard may have acted. */
static bool is_overdue(struct run *run)
{
    if (rl_clock_steady_ns(&run->clock) < backstop_ns(run))
        return false;
    look_at_lock(run);
    struct pollfd news = {.fd = atomic_load(&run->control_fd), .events = POLLIN};
    return rl_clock_steady_ns(&run->clock) >= backstop_ns(run) && poll(&news, 1, 0) == 0;
}

/* Until the next look at the lock, more of them the nearer its end is. */
static int timeout_ms(struct run *run)
{
    int64_t now_ns = rl_clock_steady_ns(&run->clock);
    int64_t look_ns = (run->deadline_ns - now_ns) / LOOKS;
    int64_t wait_ns = backstop_ns(run) - now_ns;
    wait_ns = rl_earlier_ns(rl_earlier_ns(wait_ns, look_ns), run->lists_due_ns - now_ns);
    if (wait_ns < 0)
        return 0;
    return wait_ns < 60 * RL_NS_PER_S ? (int)(wait_ns / RL_NS_PER_MS) + 1 : 60000;
}

/* Once, where COMMAND lasts. */
static void look_for_lists(struct run *run)
{
    if (rl_clock_steady_ns(&run->clock) < run->lists_due_ns)
        return;
    run->lists_due_ns = INT64_MAX;
    run->lists = run_lists_begin(run->cli);
}

void run_supervise(struct run *run)
{
    run->lists_due_ns =
        run->cli->quiet ? INT64_MAX
                        : rl_clock_steady_ns(&run->clock) + RUN_LISTS_AFTER_MS * RL_NS_PER_MS;
    continue_guard(run); /* it may have been stopped before its signals came to us */
    while (!run->ended) {
        look_at_lock(run);
        look_for_lists(run);
        struct pollfd ready[] = {{.fd = atomic_load(&run->control_fd), .events = POLLIN},
                                 {.fd = run->signal_fd, .events = POLLIN}};
        (void)poll(ready, 2, timeout_ms(run)); /* failed: nothing is ready */
        /* News first: what the guard has done while we were stopped is not ours to do. */
        bool guard_lives = true;
        if (ready[0].revents)
            guard_lives = read_news(run);
        else if (is_overdue(run))
            guard_lives = !(run->guard_late = true);
        if (ready[1].revents)
            read_signals(run);
        run_notify_ready(run);
        if (!guard_lives) {
            read_last_news(run);
            if (!run->ended)
                run_reap_orphans(run);
            return;
        }
    }
}
