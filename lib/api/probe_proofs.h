/* probe_proofs.h - what a probe has proven of each master, in the report of the status. Between
 * probe.c and probe_proofs.c. */
#ifndef RL_PROBE_PROOFS_H
#define RL_PROBE_PROOFS_H

#include "api/status_report.h"

enum rl_proof_of {
    RL_PROOF_ACQUIRE,
    RL_PROOF_EXTEND,
    RL_PROOF_RELEASE,
    RL_PROOF_WAKE,
    RL_PROOFS
};

struct rl_proofs {
    struct rl_status *status;
    uint64_t proven[RL_PROOFS], disproven[RL_PROOFS]; /* nodes */
};

/* Note that it works at this node, unless it has failed there. */
void rl_proofs_pass(struct rl_proofs *proofs, unsigned node, enum rl_proof_of of);

/* Note that it failed there. The first of several reasons stands. */
void rl_proofs_fail(struct rl_proofs *proofs, unsigned node, enum rl_proof_of of,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Count the nodes at which a lock can be had, and show the report as it is now. */
void rl_proofs_publish(struct rl_proofs *proofs);

#endif
