/* cli_patience.c - tells a user at a terminal what the wait is for, after a second. A thread of
 * its own does that, because the wait is a blocking call. */
#include "config_auto.h"

#include "redlock/cli_patience.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_S 1

static void *tell_in_time(void *context)
{
    struct cli_patience *patience = context;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PATIENCE_S;
    pthread_mutex_lock(&patience->mutex);
    int why = 0;
    while (!patience->over && why == 0)
        why = pthread_cond_timedwait(&patience->changed, &patience->mutex, &until);
    if (!patience->over)
        cli_explain(patience->cli, patience->client, patience->code, &patience->report,
                    patience->then);
    pthread_mutex_unlock(&patience->mutex);
    return NULL;
}

void cli_patience_begin(struct cli_patience *patience, const struct cli *cli, redlock *client,
                        int code, const redlock_report *report, const char *then)
{
    patience->runs = false;
    if (cli->quiet || !isatty(STDERR_FILENO))
        return;
    patience->cli = cli;
    patience->client = client;
    patience->code = code;
    patience->report = *report;
    memcpy(patience->votes, report->node, report->node_count * sizeof(report->node[0]));
    patience->report.node = patience->votes;
    patience->then = then;
    patience->over = false;
    pthread_condattr_t by_clock;
    pthread_condattr_init(&by_clock);
    pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&patience->mutex, NULL);
    pthread_cond_init(&patience->changed, &by_clock);
    pthread_condattr_destroy(&by_clock);
    sigset_t all, before; /* signals are for the thread that waits */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    patience->runs = pthread_create(&patience->thread, NULL, tell_in_time, patience) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void cli_patience_end(struct cli_patience *patience)
{
    if (!patience->runs)
        return;
    pthread_mutex_lock(&patience->mutex);
    patience->over = true;
    pthread_cond_signal(&patience->changed);
    pthread_mutex_unlock(&patience->mutex);
    pthread_join(patience->thread, NULL);
}
