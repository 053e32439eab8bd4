/* run_stay.c - --at-least beyond what one lease can keep others out for: the library goes on
 * renewing the lock when COMMAND has ended, and we live until that time is over. Below that
 * nothing is to be done: the masters keep others out by themselves. */
#include "config_auto.h"

#include "redlock/run.h"

#include <assert.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define LOOK_MS 60000

void run_stay_plan(struct run *run, int64_t by_itself_ms)
{
    const struct cli *cli = run->cli;
    if (cli->at_least_ms <= by_itself_ms)
        return;
    run->stay_until_ns = rl_clock_steady_ns(&run->clock) + cli->at_least_ms * RL_NS_PER_MS;
    cli_note(cli,
             "one lease keeps others out for %s at most: redlock stays for the %s of "
             "--at-least, also when the command has ended; if it is killed, others may have "
             "%s sooner",
             cli_time_text(by_itself_ms).text, cli_time_text(cli->at_least_ms).text,
             cli_names_text(cli).text);
}

/* The first signal that is to end us; 0: none. TSTP is not heard: a process that is stopped
 * renews nothing. */
static int read_signals(const struct run *run)
{
    struct signalfd_siginfo info;
    int ends = 0;
    while (read(run->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        int number = (int)info.ssi_signo;
        bool about_children = number == SIGCHLD || number == SIGCONT || number == SIGTSTP;
        if (!about_children && ends == 0)
            ends = number;
    }
    return ends;
}

static bool is_lost(struct run *run)
{
    return atomic_load(&run->lost_ns) != 0 || redlock_validity_ms(run->lock) == 0;
}

/* Until that time, or the lock's end, where nothing else wakes us. */
static int timeout_ms(struct run *run)
{
    int64_t left_ms = (run->stay_until_ns - rl_clock_steady_ns(&run->clock)) / RL_NS_PER_MS;
    int64_t validity_ms = redlock_validity_ms(run->lock);
    int64_t wait_ms = left_ms < validity_ms ? left_ms : validity_ms;
    return wait_ms < LOOK_MS ? (int)wait_ms + 1 : LOOK_MS;
}

void run_stay(struct run *run)
{
    assert(run->ended && run->stay_ended_by == 0);
    struct pollfd ready = {.fd = run->signal_fd, .events = POLLIN};
    while (rl_clock_steady_ns(&run->clock) < run->stay_until_ns) {
        run->lost_staying = is_lost(run);
        if (run->lost_staying || run->stay_ended_by != 0)
            return;
        (void)poll(&ready, 1, timeout_ms(run)); /* failed: nothing is ready */
        run->stay_ended_by = read_signals(run);
        run->int_passed_on = run->int_passed_on || run->stay_ended_by == SIGINT;
    }
}

int run_give_up(struct run *run, bool never_began)
{
    char handle[REDLOCK_HANDLE_MAX];
    if (never_began)
        return cli_undo(run->lock);
    /* Others are kept out for as long as the lease lasts. */
    if (run->stay_ended_by != 0 &&
        redlock_detach(run->lock, handle, sizeof(handle)) == REDLOCK_OK)
        return REDLOCK_OK;
    return redlock_release(run->lock);
}

int run_stay_exit(struct run *run, int released)
{
    struct cli_text name = cli_names_text(run->cli);
    if (run->lost_staying) {
        run->result = "lost";
        run_notify_lost(run, released);
        cli_say(run->cli,
                "%s was lost at %s, after the command had ended and before --at-least was over: "
                "%s",
                name.text, cli_clock_text().text, run_account(run, released));
        return CLI_LOST;
    }
    if (run->stay_ended_by != 0) {
        cli_say(run->cli,
                "ended by signal %d (%s) before --at-least was over: others may have %s when "
                "its lease is over",
                run->stay_ended_by, strsignal(run->stay_ended_by), name.text);
        return CLI_SIGNALED + run->stay_ended_by;
    }
    return CLI_OK;
}
