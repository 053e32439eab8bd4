/* status_report.h - the state of every master, as redlock_get_status() and redlock_probe()
 * write it. The report must be written only as far as the user's structs reach: they may be of
 * another version of redlock.h.
 */
#ifndef RL_STATUS_REPORT_H
#define RL_STATUS_REPORT_H

#include "engine/client/client.h"

struct rl_status {
    redlock_status_report *to;   /* the user's */
    redlock_status_report whole; /* the same as this library knows it */
    uint64_t ready;              /* nodes that vote */
};

/* Begin to fill in `to`. False, and why: it is NULL, or its sizes were not set. */
bool rl_status_open(struct rl_status *status, const redlock *client, redlock_status_report *to,
                    char *why, size_t why_size);

/* Write the state of a node, once for each node. */
void rl_status_show(struct rl_status *status, unsigned node, const redlock_node_status *said);

/* Write a proof of a node: `offset` is that of the member of redlock_node_status. */
void rl_status_prove(const struct rl_status *status, unsigned node, size_t offset,
                     const redlock_proof *proof);

/* Write the sums. */
void rl_status_publish(const struct rl_status *status);

#endif
