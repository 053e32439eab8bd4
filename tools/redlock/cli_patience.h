/* cli_patience.h - tells a user at a terminal what the wait is for, after a second. */
#ifndef CLI_PATIENCE_H
#define CLI_PATIENCE_H

#include "redlock/cli.h"

#include <pthread.h>

struct cli_patience {
    const struct cli *cli;
    redlock *client;
    int code;
    redlock_report report; /* of the try before the wait, with its votes */
    redlock_node_vote votes[REDLOCK_NODES_MAX];
    const char *then;
    bool over, runs;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_t thread;
};

/* A wait begins, after a try that came to `code`; it is over. */
void cli_patience_begin(struct cli_patience *patience, const struct cli *cli, redlock *client,
                        int code, const redlock_report *report, const char *then);
void cli_patience_end(struct cli_patience *patience);

#endif
