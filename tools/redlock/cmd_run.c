/* cmd_run.c - run: COMMAND under a lock, and never beyond it.
 *
 *   fork the guard --> take the lock --> tell the guard --> watch --> release --> leave
 *                      (the library        `--> it starts COMMAND
 *                       renews it)
 *
 * Whatever happens after the lock was taken, it is released on the way out; where we are
 * killed the guard ends COMMAND and the lock's TTL frees it. */
#include "config_auto.h"

#include "base/clock.h"
#include "core/validity.h"
#include "redlock/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define KILL_MIN_NS (50 * RL_NS_PER_MS)

static struct cli_text name_of(const struct run *run)
{
    return cli_names_text(run->cli);
}

/* A lock that can't be renewed is given up, and so released, by the library a little before
 * its end: 100 ms, and of a short lease a tenth, is no less than what it takes.
 * TERM comes a grace before the end. KILL comes a fifth of the grace, at least 50 ms, before
 * the lock is given up; of a very short lease at most a quarter before its end. */
static bool times_set(struct run *run, int64_t lease_ms)
{
    int64_t lease_ns = lease_ms * RL_NS_PER_MS;
    int64_t grace_ns =
        run->cli->grace_ms >= 0 ? run->cli->grace_ms * RL_NS_PER_MS : lease_ns / 4;
    run->give_up_ns = 2 * rl_lost_margin_ns(lease_ns); /* and the time to be told in */
    if (run->give_up_ns > RL_LOST_MARGIN_MAX_NS)
        run->give_up_ns = RL_LOST_MARGIN_MAX_NS;
    int64_t margin_ns =
        run->give_up_ns + (grace_ns / 5 > KILL_MIN_NS ? grace_ns / 5 : KILL_MIN_NS);
    run->times.grace_ns = grace_ns;
    run->times.margin_ns = margin_ns < lease_ns / 4 ? margin_ns : lease_ns / 4;
    return grace_ns <= lease_ns / 2;
}

/* From here on signals are read where they can be acted on. Those that our caller ignores
 * stay ignored, by us and by COMMAND. */
static int hold_signals(struct run *run)
{
    sigset_t held;
    cli_signals_to_forward(&held);
    sigaddset(&held, SIGTSTP);
    for (int number = 1; number < NSIG; number++) {
        if (sigismember(&run->cli->signals.ignored, number) == 1)
            sigdelset(&held, number);
    }
    sigaddset(&held, SIGCONT);
    sigaddset(&held, SIGCHLD);
    run->signal_fd = signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK);
    sigaddset(&held, SIGTTOU); /* for tcsetpgrp() and words on stderr from the background */
    pthread_sigmask(SIG_BLOCK, &held, NULL);
    return run->signal_fd < 0 ? errno : 0;
}

/* Start COMMAND, and watch. 0, or the errno of what could not be had. */
static int run_command(struct run *run)
{
    run_strangers_note(run);
    run_terminal_open(&run->terminal);
    int why = run_start(run);
    if (why == 0)
        run_supervise(run);
    run_terminal_close(run);
    return why;
}

/* ---- the exit status ---- */

static int exit_of_failure(const struct run *run, int why)
{
    const char *command = run->cli->command[0];
    struct cli_text shown = cli_text(command, strlen(command));
    if (run->not_run != 0 || why == E2BIG) {
        int error = run->not_run != 0 ? run->not_run : why;
        cli_say(run->cli, "%s could not be run: %s", shown.text, strerror(error));
        return error == ENOENT ? CLI_NOT_FOUND : CLI_CANNOT_RUN;
    }
    if (why == ETIME) {
        cli_say(run->cli, "%s ran out before %s could be started", name_of(run).text,
                shown.text);
        return CLI_LOST;
    }
    cli_say(run->cli, "no guard process could be had for %s: %s%s%s", shown.text, run->refused,
            run->refused[0] ? ": " : "", strerror(why));
    return CLI_SYSTEM;
}

/* COMMAND was ended by us. */
static int exit_of_loss(struct run *run, int released)
{
    run->result = "lost";
    run_notify_lost(run, released);
    if (run->guard_died)
        cli_say(run->cli, "%s; %s was given up and the command with it: %s",
                run->guard_late ? "the lock ran out and the guard process did not act in time"
                                : "the guard process was killed",
                name_of(run).text, run_account(run, released));
    else if (run_was_held(run, released))
        cli_say(run->cli,
                "%s was given up at %s, and the command was ended: this process was too late "
                "to tell its guard of an extension (stopped, or no processor was free); %s",
                name_of(run).text, cli_clock_text().text, run_account(run, released));
    else
        cli_say(run->cli, "%s was lost at %s, and the command was ended: %s",
                name_of(run).text, cli_clock_text().text, run_account(run, released));
    return CLI_LOST;
}

static int exit_of_command(struct run *run, int released)
{
    run->result = "lost";
    bool was_there = run->lost_staying ||
                     (released != REDLOCK_EEXPIRED && released != REDLOCK_ENOTHELD);
    bool was_ours = was_there && run->ended_at_ns < run->deadline_ns;
    if (!was_ours) {
        run_notify_lost(run, released);
        cli_say(run->cli, "%s was lost before the command ended, at %s: %s",
                name_of(run).text, cli_clock_text().text, run_account(run, released));
        return CLI_LOST;
    }
    run->result = "ended";
    run_say_left(run);
    int stayed = run_stay_exit(run, released);
    if (stayed != CLI_OK)
        return stayed;
    if (released != REDLOCK_OK)
        cli_say(run->cli,
                "%s was not released on a majority (%s); it is free when its TTL "
                "is over",
                name_of(run).text, redlock_strerror(released));
    if (WIFSIGNALED(run->status))
        return CLI_SIGNALED + WTERMSIG(run->status);
    return WEXITSTATUS(run->status);
}

/* COMMAND was not run at all, for one reason or another. */
static bool has_failed(const struct run *run, int why)
{
    return why != 0 || run->guard_failure != 0 || run->not_run != 0;
}

/* Also where the guard was killed before it began, or a signal came before exec. Nobody is kept
 * out for that. */
static bool never_began(const struct run *run, int why)
{
    return has_failed(run, why) || (!run->begun && !run->guard_late);
}

static bool ended_well(const struct run *run, int why)
{
    bool by_itself = run->why == GUARD_WHY_NOTHING || run->why == GUARD_WHY_LEFTOVERS;
    return !has_failed(run, why) && run->ended && !run->guard_died && by_itself;
}

static int exit_status(struct run *run, int why, int released)
{
    if (has_failed(run, why))
        return exit_of_failure(run, why != 0 ? why : run->guard_failure);
    return ended_well(run, why) ? exit_of_command(run, released) : exit_of_loss(run, released);
}

/* A ^C that ended COMMAND went to its group only, since the terminal was its. It was meant
 * for ours as well: a script that calls us ends on it only if it gets it, and sees us die. */
static void pass_on_interrupt(const struct run *run, int status)
{
    if (status != CLI_SIGNALED + SIGINT || !run->terminal.was_given || run->int_passed_on ||
        sigismember(&run->cli->signals.ignored, SIGINT) == 1)
        return;
    struct sigaction ordinary = {.sa_handler = SIG_DFL};
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGINT);
    sigaction(SIGINT, &ordinary, NULL);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    kill(0, SIGINT);
}

/* ---- the verb ---- */

static int run_locked(struct run *run)
{
    run->deadline_ns = run_deadline_ns(run);
    int64_t validity_ms = redlock_validity_ms(run->lock);
    if (!times_set(run, run->cli->ttl_ms > 0 ? run->cli->ttl_ms : validity_ms)) {
        cli_say(run->cli, "--grace may be half of the TTL at most: the lease is extended each "
                          "third");
        cli_undo(run->lock);
        return CLI_USAGE;
    }
    cli_warn(true);
    int why = run_command(run);
    if (ended_well(run, why) && !never_began(run, why))
        run_stay(run);
    cli_warn(false);
    run_look_back(run);
    int released = run_give_up(run, never_began(run, why));
    return exit_status(run, why, released);
}

static void print_result(const struct run *run, int status)
{
    FILE *out = cli_json_out(run->cli);
    cli_json_begin(out);
    cli_json_asked_names(out, run->cli);
    cli_json_fencing_token(out, run->fencing_token);
    if (status == CLI_LOST && run->loss_json)
        fputs(run->loss_json, out);
    cli_json_result(out, run->result ? run->result : "not run", status);
}

/* Take the lock, run COMMAND, release. */
static int run_opened(struct run *run)
{
    const struct cli *cli = run->cli;
    cli_cancel_on_signals(cli, run->client);
    redlock_options how = REDLOCK_OPTIONS_INIT;
    how.report = &run->report;
    how.auto_renew = 1;
    how.on_lost = run_lost;
    how.lost_context = run;
    int status = cli_acquire(cli, run->client, &how, run_notify_waits, &run->lock);
    bool took = run->lock != NULL;
    if (took)
        run_stay_plan(run, how.at_least_ms);
    run->fencing_token = redlock_fencing_token(run->lock);
    if (took) {
        int why = hold_signals(run);
        int signal_number = cli_canceled_by();
        if (signal_number == 0 && why == 0) {
            status = run_locked(run);
        } else { /* it came with the lock: COMMAND must not start */
            cli_undo(run->lock);
            cli_say(cli, "%s%s", why != 0 ? "signalfd: " : "",
                    why != 0 ? strerror(why) : strsignal(signal_number));
            status = why != 0 ? CLI_SYSTEM : CLI_SIGNALED + signal_number;
        }
    }
    run_lists_end(run->lists);
    cli_cancel_on_signals(cli, NULL);
    redlock_close(run->client);
    run_guard_dismiss(run); /* it has ended meanwhile, if nobody has stopped it */
    if (cli->json && took)
        print_result(run, status);
    pass_on_interrupt(run, status);
    if (run->signal_fd >= 0)
        close(run->signal_fd);
    return status;
}

int cmd_run(const struct cli *cli)
{
    struct run *run = calloc(1, sizeof(*run));
    if (!run)
        return CLI_SYSTEM;
    run->cli = cli;
    run->report = (redlock_report)REDLOCK_REPORT_INIT(run->votes, REDLOCK_NODES_MAX);
    atomic_init(&run->control_fd, -1);
    atomic_init(&run->lost_ns, 0);
    run->signal_fd = -1;
    run->had_children = run_has_children();
    int failed = run_guard_fork(run);
    if (failed != 0) {
        cli_say(cli, "no guard process could be had: %s", strerror(failed));
        free(run);
        return CLI_SYSTEM;
    }
    int status = cli_open(cli, &run->client);
    if (status == CLI_OK)
        status = run_opened(run);
    run_guard_dismiss(run);
    close(run->guard_fd);
    free(run->strangers);
    free(run->loss_json);
    free(run);
    return status;
}
