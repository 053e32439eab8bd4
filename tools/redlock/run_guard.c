/* run_guard.c - the guard: the process between `redlock run` and COMMAND. It knows one thing,
 * the time at which the lock may no longer be ours, and sees to it that COMMAND has ended by
 * then, whatever becomes of `redlock run`.
 *
 *      RUNNING ---- TERM: the deadline less grace has come ----------.
 *         |    `--- TERM: run is dead (the end of its stream) ------. |
 *         |    `--- TERM: COMMAND ended and left some of its group. | |
 *         |                                                        v v v
 *         |                 KILL: the deadline less margin       ENDING
 *         |                 has come, or grace is over             |
 *         |                        .------------------------------'|
 *         |                        v                               |
 *         |---- KILL: lost ---> KILLING -- all have ended --.      |
 *         |                      ^   | again, every few ms  |      |
 *         |                      `---'                      v      v
 *         `--- COMMAND has ended, and its group is empty --> ENDED
 *
 * Who dies or stops, and what then:
 *   run killed              the stream ends here: TERM, KILL after grace, at the deadline less
 *                           margin at the latest. The lock is freed by its TTL.
 *   run stopped             no news: TERM and KILL when the deadline comes near.
 *   guard killed            the kernel kills COMMAND (PDEATHSIG); its other descendants fall
 *                           to run, which is a subreaper as well, and kills them.
 *   guard stopped           run, which is its parent, continues it at once.
 *   guard killed, then run  as before, if run had the few milliseconds it takes.
 *   both killed at once     COMMAND itself dies by PDEATHSIG. Its descendants live on.
 *   guard killed while run  COMMAND itself dies by PDEATHSIG. Its descendants live on until
 *   is stopped              run is continued or killed.
 *   the clock goes back     KILL, within a second: how long the lock is ours nobody knows.
 *   both stopped            nobody is left to act until one of them is continued.
 *   COMMAND stopped         it gets CONT with its TERM; KILL needs none.
 * A daemon that left the group and the session (setsid, double fork) is still a descendant:
 * we are its subreaper. It gets TERM and KILL with the rest when the lock is lost; where
 * COMMAND ends by itself it is left alone. Nothing reaches what was started by others on
 * COMMAND's behalf (systemd-run, at, docker, ssh), what runs as another user (sudo, su), or
 * makes an uninterruptible system call end before its time. */
#include "config_auto.h"

#include "redlock/cli.h"
#include "redlock/run_ending.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_NS RL_NS_PER_S /* at the clock */

/* ---- what happens ---- */

static void on_order(struct guard *guard, const struct guard_order *order)
{
    switch (order->kind) {
    case GUARD_DEADLINE:
        /* Once COMMAND was told to end because of the old one, a new one comes too late. */
        if (order->deadline_ns > guard->deadline_ns)
            guard->deadline_ns = order->deadline_ns;
        break;
    case GUARD_SIGNAL:
        guard_signal(guard, guard->command, order->signal_number);
        break;
    case GUARD_END:
        if (guard->phase == GUARD_PHASE_RUNNING)
            guard_start_ending(guard, GUARD_WHY_LOST);
        else if (guard->phase == GUARD_PHASE_ENDING)
            guard_kill(guard);
        break;
    default:
        assert(false && "an order that run never gives");
    }
}

/* Run is dead: the terminal goes back to its group, where a script may be that called it. */
static void return_terminal(const struct guard *guard)
{
    if (guard->terminal_fd >= 0 && tcgetpgrp(guard->terminal_fd) == guard->command)
        (void)tcsetpgrp(guard->terminal_fd, guard->start.run_group);
}

/* All that run has said: the last deadline counts, and must be known before the time is. */
static void on_control(struct guard *guard)
{
    struct guard_order order;
    ssize_t got = 0;
    while ((got = recv(guard->control_fd, &order, sizeof(order), MSG_DONTWAIT)) ==
           (ssize_t)sizeof(order))
        on_order(guard, &order);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    close(guard->control_fd);
    guard->control_fd = -1;
    return_terminal(guard);
    if (guard->phase == GUARD_PHASE_RUNNING)
        guard_start_ending(guard, GUARD_WHY_ALONE);
}

static void on_exec(struct guard *guard)
{
    int why = 0;
    ssize_t got = read(guard->exec_fd, &why, sizeof(why));
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got == (ssize_t)sizeof(why))
        guard->exec_errno = why;
    else
        guard_tell(guard, GUARD_STARTED, 0);
    close(guard->exec_fd);
    guard->exec_fd = -1;
}

/* Wait for processes that have ended and, for COMMAND only, stopped. */
static void on_child(struct guard *guard)
{
    struct signalfd_siginfo discarded;
    while (read(guard->child_fd, &discarded, sizeof(discarded)) > 0)
        continue;
    int status = 0;
    pid_t pid = 0;
    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
        if (pid != guard->command)
            continue; /* an orphan of COMMAND's */
        if (WIFSTOPPED(status)) {
            guard_tell(guard, GUARD_STOPPED, WSTOPSIG(status));
            continue;
        }
        guard->ended = true;
        guard->status = status;
        guard->ended_at_ns = rl_clock_steady_ns(&guard->clock);
    }
}

/* The clock went back: nobody can tell for how long the lock is ours. Run may have no word to
 * say to that: it is stopped, or dead. */
static bool untimed(const struct guard *guard)
{
    return rl_clock_epoch(&guard->clock) != 0;
}

static void on_time(struct guard *guard)
{
    int64_t now_ns = rl_clock_steady_ns(&guard->clock);
    bool running = guard->phase == GUARD_PHASE_RUNNING && !guard->ended;
    if (running && untimed(guard))
        guard_start_ending(guard, GUARD_WHY_LOST);
    else if (running && now_ns >= guard_ending_at_ns(guard))
        guard_start_ending(guard, GUARD_WHY_DEADLINE);
    else if (guard->phase == GUARD_PHASE_ENDING &&
             (untimed(guard) || now_ns >= guard->kill_at_ns))
        guard_kill(guard);
    else if (guard->phase == GUARD_PHASE_KILLING && now_ns >= guard->again_at_ns)
        guard_kill(guard);
}

/* ---- the loop ---- */

static int64_t due_ns(const struct guard *guard)
{
    switch (guard->phase) {
    case GUARD_PHASE_RUNNING:
        return guard_ending_at_ns(guard);
    case GUARD_PHASE_ENDING:
        return guard->kill_at_ns;
    default:
        return guard->again_at_ns;
    }
}

/* Not for the time itself, and never for long: the clock may go back meanwhile. */
static void set_timer(struct guard *guard)
{
    int64_t left_ns = due_ns(guard) - rl_clock_steady_ns(&guard->clock);
    if (left_ns < 1)
        left_ns = 1; /* zero would disarm it */
    if (left_ns > LOOK_NS)
        left_ns = LOOK_NS;
    struct itimerspec in = {.it_value = {.tv_sec = (time_t)(left_ns / RL_NS_PER_S),
                                         .tv_nsec = (long)(left_ns % RL_NS_PER_S)}};
    (void)timerfd_settime(guard->timer_fd, 0, &in, NULL);
}

/* One turn: wait for something, see to all of it. */
static void turn(struct guard *guard)
{
    set_timer(guard);
    struct pollfd ready[] = {{.fd = guard->timer_fd, .events = POLLIN},
                             {.fd = guard->child_fd, .events = POLLIN},
                             {.fd = guard->control_fd, .events = POLLIN},
                             {.fd = guard->exec_fd, .events = POLLIN}};
    (void)poll(ready, sizeof(ready) / sizeof(ready[0]), -1); /* failed: nothing is ready */
    uint64_t expirations = 0;
    if (ready[0].revents && read(guard->timer_fd, &expirations, sizeof(expirations)) < 0)
        expirations = 0; /* the clock says what is due, not this */
    if (ready[3].revents)
        on_exec(guard);
    if (ready[1].revents)
        on_child(guard);
    if (ready[2].revents)
        on_control(guard);
    on_time(guard);
}

/* COMMAND has ended, and everybody whose end we have to see. */
static bool all_ended(struct guard *guard)
{
    if (!guard->ended || guard->exec_fd >= 0)
        return false;
    bool anyone = guard_anyone_left(guard);
    if (anyone && guard->phase == GUARD_PHASE_RUNNING)
        guard_start_ending(guard, GUARD_WHY_LEFTOVERS);
    return !anyone;
}

/* Nothing is started where TERM would be due at once. */
static void guard_command(struct guard *guard, char **command)
{
    if (rl_clock_steady_ns(&guard->clock) >= guard_ending_at_ns(guard)) {
        guard_tell(guard, GUARD_FAILED, ETIME);
        return;
    }
    guard->command =
        run_child_start(command, &guard->start, guard->terminal_fd, &guard->exec_fd);
    if (guard->command < 0) {
        guard_tell(guard, GUARD_FAILED, errno);
        return;
    }
    while (!all_ended(guard))
        turn(guard);
    if (guard->exec_errno != 0)
        guard_tell(guard, GUARD_NOT_RUN, guard->exec_errno);
    else
        guard_tell(guard, GUARD_ENDED, guard->status);
}

/* ---- the beginning ---- */

static bool receive_start(struct guard *guard)
{
    ssize_t got = 0;
    do {
        got = recv(guard->control_fd, &guard->start, sizeof(guard->start), 0);
    } while (got < 0 && errno == EINTR);
    guard->deadline_ns = guard->start.deadline_ns;
    return got == (ssize_t)sizeof(guard->start);
}

/* 0 or an errno. All our descriptors are close-on-exec; the caller's others are COMMAND's. */
static int prepare(struct guard *guard)
{
    sigset_t all;
    sigset_t child;
    sigfillset(&all);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    struct sigaction ordinary = {.sa_handler = SIG_DFL};
    if (sigprocmask(SIG_SETMASK, &all, NULL) < 0 || sigaction(SIGCHLD, &ordinary, NULL) < 0)
        return errno;
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 || prctl(PR_SET_NAME, "redlock-guard") < 0)
        return errno;
    guard->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    guard->child_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    if (guard->timer_fd < 0 || guard->child_fd < 0)
        return errno;
    guard->terminal_fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    return 0;
}

int cmd_guard(int argc, char **argv)
{
    struct guard guard;
    memset(&guard, 0, sizeof(guard));
    guard.exec_fd = -1;
    guard.control_fd = argc > 3 ? (int)strtol(argv[2], NULL, 10) : -1;
    if (guard.control_fd <= STDERR_FILENO || fcntl(guard.control_fd, F_SETFD, FD_CLOEXEC) < 0)
        return CLI_USAGE; /* somebody tried it by hand */
    int why = prepare(&guard);
    if (!receive_start(&guard))
        return CLI_SYSTEM; /* run died before it had started anything */
    if (why != 0)
        guard_tell(&guard, GUARD_FAILED, why);
    else
        guard_command(&guard, argv + 3);
    return CLI_OK;
}
