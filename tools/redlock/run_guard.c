/* run_guard.c - the guard: the process between `redlock run` and COMMAND. It knows one thing,
 * the time at which the lock may no longer be ours, and sees to it that COMMAND has ended by
 * then, whatever becomes of `redlock run`, which forks it before it asks for the lock.
 *
 *      RUNNING ---- TERM: the deadline less grace has come ----------.
 *         |    `--- TERM: run is dead (the end of its stream) ------. |
 *         |    `--- TERM: COMMAND ended and left some of its group. | |
 *         |                                                        v v v
 *         |                 KILL: the deadline less margin    TERMINATING
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
 * COMMAND ends by itself it is left alone, and named; or waited for, with --descendants. Nothing reaches what was started by others on
 * COMMAND's behalf (systemd-run, at, docker, ssh), what runs as another user (sudo, su), or
 * makes an uninterruptible system call end before its time. */
#include "config_auto.h"

#include "redlock/cli.h"
#include "redlock/run_terminate.h"

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

#define GUARD_NAME "redlock-guard"
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
        guard_signal(guard, guard->ended && guard->descendants ? 0 : guard->command,
                     order->signal_number);
        break;
    case GUARD_END:
        if (guard->phase == GUARD_PHASE_RUNNING)
            guard_terminate(guard, GUARD_WHY_LOST);
        else if (guard->phase == GUARD_PHASE_TERMINATING)
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
        guard_terminate(guard, GUARD_WHY_ALONE);
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
        guard_tell(guard, run_child_ran(guard->command) ? GUARD_STARTED : GUARD_NEVER_RAN, 0);
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
    bool running = guard->phase == GUARD_PHASE_RUNNING && (!guard->ended || guard->descendants);
    if (running && untimed(guard))
        guard_terminate(guard, GUARD_WHY_LOST);
    else if (running && now_ns >= guard_terminate_at_ns(guard))
        guard_terminate(guard, GUARD_WHY_DEADLINE);
    else if (guard->phase == GUARD_PHASE_TERMINATING &&
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
        return guard_terminate_at_ns(guard);
    case GUARD_PHASE_TERMINATING:
        return guard->kill_at_ns;
    default:
        return guard->again_at_ns;
    }
}

/* Not for the time itself, and never for long: the clock may go back meanwhile. The time-out for
 * poll(): -1 where the timer will end it. */
static int set_timer(struct guard *guard)
{
    int64_t left_ns = due_ns(guard) - rl_clock_steady_ns(&guard->clock);
    if (left_ns < 1)
        left_ns = 1; /* zero would disarm it */
    if (left_ns > LOOK_NS)
        left_ns = LOOK_NS;
    struct itimerspec in = {.it_value = {.tv_sec = (time_t)(left_ns / RL_NS_PER_S),
                                         .tv_nsec = (long)(left_ns % RL_NS_PER_S)}};
    if (timerfd_settime(guard->timer_fd, 0, &in, NULL) == 0)
        return -1;
    return (int)(left_ns / RL_NS_PER_MS) + 1;
}

/* One turn: wait for something, see to all of it. */
static void turn(struct guard *guard)
{
    int timeout_ms = set_timer(guard);
    struct pollfd ready[] = {{.fd = guard->timer_fd, .events = POLLIN},
                             {.fd = guard->child_fd, .events = POLLIN},
                             {.fd = guard->control_fd, .events = POLLIN},
                             {.fd = guard->exec_fd, .events = POLLIN}};
    (void)poll(ready, sizeof(ready) / sizeof(ready[0]), timeout_ms); /* failed: nothing is ready */
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
    if (anyone && guard->phase == GUARD_PHASE_RUNNING && !guard->descendants)
        guard_terminate(guard, GUARD_WHY_LEFTOVERS);
    if (guard->descendants)
        guard->ended_at_ns = rl_clock_steady_ns(&guard->clock);
    return !anyone;
}

/* Nothing is started where TERM would be due at once. */
static void guard_command(struct guard *guard, const struct cli *cli)
{
    if (rl_clock_steady_ns(&guard->clock) >= guard_terminate_at_ns(guard)) {
        guard_tell(guard, GUARD_FAILED, ETIME);
        return;
    }
    guard_tell(guard, GUARD_BEGINS, 0);
    guard->command = run_child_start(cli, guard->start.foreground ? guard->terminal_fd : -1,
                                     &guard->exec_fd);
    if (guard->command < 0) {
        guard->refused = "fork";
        guard_tell(guard, GUARD_FAILED, errno);
        return;
    }
    while (!all_ended(guard))
        turn(guard);
    if (guard->exec_errno == 0)
        guard_tell_left(guard);
    if (guard->exec_errno != 0)
        guard_tell(guard, GUARD_NOT_RUN, guard->exec_errno);
    else
        guard_tell(guard, GUARD_ENDED, guard->status);
}

/* ---- the beginning ---- */

/* 0 or an errno. All our descriptors are close-on-exec; the caller's others are COMMAND's. */
static int prepare(struct guard *guard)
{
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    guard->refused = "prctl";
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 || prctl(PR_SET_NAME, GUARD_NAME) < 0)
        return errno;
    guard->refused = "timerfd_create";
    guard->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (guard->timer_fd < 0)
        return errno;
    guard->refused = "signalfd";
    guard->child_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    if (guard->child_fd < 0)
        return errno;
    guard->refused = NULL;
    guard->terminal_fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    return 0;
}

/* Show ps(1) our name in place of run's words, so that pkill(1) of these finds run alone.
 * COMMAND's words stay. */
static void rename_words(char **argv, char **command)
{
    size_t len = 0;
    for (char **at = argv; at < command; at++) {
        if (*at != argv[0] + len) /* not as the kernel has put them */
            return;
        len += strlen(*at) + 1;
    }
    memset(argv[0], 0, len);
    snprintf(argv[0], len, "%s", GUARD_NAME);
}

/* Wait for the first message, which is as long as run has made it. 0: run has died. */
static size_t receive_start(struct guard *guard, char **ret_message)
{
    ssize_t size = 0;
    do {
        size = recv(guard->control_fd, NULL, 0, MSG_PEEK | MSG_TRUNC);
    } while (size < 0 && errno == EINTR);
    *ret_message = size >= (ssize_t)sizeof(guard->start) ? malloc((size_t)size) : NULL;
    if (!*ret_message || recv(guard->control_fd, *ret_message, (size_t)size, 0) != size)
        return 0;
    memcpy(&guard->start, *ret_message, sizeof(guard->start));
    guard->deadline_ns = guard->start.deadline_ns;
    return (size_t)size;
}

int guard_main(int control_fd, const struct cli *cli)
{
    static char *message; /* part of the environment in the end */
    struct guard guard;
    memset(&guard, 0, sizeof(guard));
    guard.exec_fd = -1;
    guard.control_fd = control_fd;
    guard.descendants = cli->descendants;
    int why = prepare(&guard);
    rename_words(cli->argv, cli->command);
    size_t size = receive_start(&guard, &message);
    if (size == 0)
        return CLI_SYSTEM; /* run ended before it had started anything */
    if (why == 0)
        why = run_child_environment(message + sizeof(guard.start), size - sizeof(guard.start));
    if (why != 0)
        guard_tell(&guard, GUARD_FAILED, why);
    else
        guard_command(&guard, cli);
    return CLI_OK;
}
