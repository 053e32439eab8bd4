/* status_ask.h - what status asks each master beside the probe: the user's rights, INFO, its
 * clock twice, its certificate for fencing tokens, and who its clients are. */
#ifndef REDLOCK_STATUS_ASK_H
#define REDLOCK_STATUS_ASK_H

#include "redlock/status_facts.h"
#include "redlock/status_peers.h"

#include <redlock.h>

struct status_setup { /* by the node list */
    double drift_factor;
    int64_t max_ttl_ms;
    bool guard;
    bool certificates; /* `fencing strict` */
    int64_t answer_ms; /* how long a master may take to answer */
    struct rights_use rights;
    bool named;                       /* the user has said which uses there are */
    bool fails_over[REDLOCK_NODES_MAX]; /* a replica may take its place */
    int same_host[REDLOCK_NODES_MAX]; /* an earlier node of its host; -1: none, or a local one
                                       */
    uint64_t shared[REDLOCK_NODES_MAX]; /* later nodes that have all of its Sentinels: bits */
};

struct rl_config;
void status_setup_read(struct status_setup *setup, const struct cli *cli,
                       const struct rl_config *config);

/* What the command line has not said, and the list has: the names of probes, and the kinds of
 * locks. The strings are the config's. CLI_OK or CLI_CONFIG. */
int status_by_list(struct cli *cli, const struct rl_config *config);

struct status_ask;

/* Ask the masters of this report, of a client that was opened then, that answer, for twice connect-timeout at the
 * most. Between the looks at a clock are STATUS_RATE_MS or more. NULL: no memory or
 * descriptors, or another list has been written into the file since. */
#define STATUS_RATE_MS 100
struct status_ask *status_ask(const struct cli *cli, const redlock_status_report *report,
                              int64_t opened_ms);

const struct status_facts *status_ask_facts(const struct status_ask *ask, unsigned node);
const struct status_setup *status_ask_setup(const struct status_ask *ask);
struct status_lists status_ask_lists(const struct status_ask *ask);
void status_ask_free(struct status_ask *ask);

#endif
