/* cli_signal.c - signals: as they were at our start, and before COMMAND runs, when they end the
 * wait. */
#include "config_auto.h"

#include "redlock/cli.h"

#include <errno.h>
#include <stddef.h>

static const int forwarded[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
#define FORWARDED_COUNT (sizeof(forwarded) / sizeof(forwarded[0]))

/* All that we set anywhere: the other signals do in COMMAND what they did when we began. */
static const int set_by_us[] = {SIGTERM, SIGINT,  SIGHUP,  SIGQUIT, SIGUSR1,
                                SIGUSR2, SIGTSTP, SIGCHLD, SIGPIPE};
#define SET_BY_US_COUNT (sizeof(set_by_us) / sizeof(set_by_us[0]))

/* A handler gets no argument: these are the only variables of the program with static life. */
static redlock *volatile canceled_client;
static volatile sig_atomic_t canceled_by;

static void on_signal(int signal_number)
{
    int saved_errno = errno;
    if (canceled_by == 0)
        canceled_by = signal_number;
    redlock *client = canceled_client;
    if (client)
        redlock_shutdown(client);
    errno = saved_errno;
}

void cli_signals_note(struct cli_signals *signals)
{
    sigprocmask(SIG_SETMASK, NULL, &signals->mask);
    sigemptyset(&signals->ignored);
    for (size_t i = 0; i < SET_BY_US_COUNT; i++) {
        struct sigaction action;
        if (sigaction(set_by_us[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN)
            sigaddset(&signals->ignored, set_by_us[i]);
    }
    /* A reader of our output that went away must not cost us the lock. */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, NULL);
}

void cli_signals_restore(const struct cli_signals *signals)
{
    for (size_t i = 0; i < SET_BY_US_COUNT; i++) {
        bool ignored = sigismember(&signals->ignored, set_by_us[i]) == 1;
        struct sigaction action = {.sa_handler = ignored ? SIG_IGN : SIG_DFL};
        sigaction(set_by_us[i], &action, NULL);
    }
    sigprocmask(SIG_SETMASK, &signals->mask, NULL);
}

void cli_cancel_on_signals(const struct cli *cli, redlock *client)
{
    canceled_client = client;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    cli_signals_to_forward(&action.sa_mask);
    for (size_t i = 0; i < FORWARDED_COUNT; i++) {
        if (!sigismember(&cli->signals.ignored, forwarded[i]))
            sigaction(forwarded[i], &action, NULL);
    }
}

int cli_canceled_by(void)
{
    return canceled_by;
}

void cli_signals_to_forward(sigset_t *ret_set)
{
    sigemptyset(ret_set);
    for (size_t i = 0; i < FORWARDED_COUNT; i++)
        sigaddset(ret_set, forwarded[i]);
}
