/* probe_proofs.c - what a probe has proven of each master, and the first reason where it
 * failed. */
#include "config_auto.h"

#include "api/probe_proofs.h"

#include <assert.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

static void show(const struct rl_proofs *proofs, unsigned node, enum rl_proof_of of,
                 const redlock_proof *proof)
{
    static const size_t offsets[RL_PROOFS] = {
        [RL_PROOF_ACQUIRE] = offsetof(redlock_node_status, acquire),
        [RL_PROOF_EXTEND] = offsetof(redlock_node_status, extend),
        [RL_PROOF_RELEASE] = offsetof(redlock_node_status, release),
        [RL_PROOF_WAKE] = offsetof(redlock_node_status, wake),
    };
    assert((unsigned)of < RL_PROOFS);
    assert(!(proofs->proven[of] & proofs->disproven[of])); /* a failure takes a success back */
    rl_status_prove(proofs->status, node, offsets[of], proof);
}

void rl_proofs_pass(struct rl_proofs *proofs, unsigned node, enum rl_proof_of of)
{
    if ((proofs->proven[of] | proofs->disproven[of]) & rl_bit(node))
        return;
    proofs->proven[of] |= rl_bit(node);
    show(proofs, node, of, &(redlock_proof){.result = REDLOCK_PROOF_OK});
}

void rl_proofs_fail(struct rl_proofs *proofs, unsigned node, enum rl_proof_of of,
                    const char *format, ...)
{
    redlock_proof proof = {.result = REDLOCK_PROOF_FAILED};
    if (proofs->disproven[of] & rl_bit(node))
        return;
    proofs->disproven[of] |= rl_bit(node);
    proofs->proven[of] &= ~rl_bit(node);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(proof.text, sizeof(proof.text), format, arguments);
    va_end(arguments);
    show(proofs, node, of, &proof);
}

void rl_proofs_publish(struct rl_proofs *proofs)
{
    struct rl_status *status = proofs->status;
    assert((status->ready & ~rl_all(status->whole.nodes)) == 0);
    status->whole.proven =
        rl_count(status->ready & proofs->proven[RL_PROOF_ACQUIRE] &
                 proofs->proven[RL_PROOF_EXTEND] & proofs->proven[RL_PROOF_RELEASE]);
    rl_status_publish(status);
}
