/* duplicates.h - nodes that are one server have one vote (duplicates.c). The
 * mutex must be held. */
#ifndef RL_DUPLICATES_H
#define RL_DUPLICATES_H

#include "engine/masters/nodes.h"

/* Two nodes that may be one server. */
struct rl_proof {
    bool on;
    unsigned teacher, pupil;
    int64_t teacher_since_ns, pupil_since_ns; /* their connections */
    int64_t again_ns;                         /* when to try again; INT64_MAX: no need */
    char nonce[RL_NONCE_LEN];
    char sha[41]; /* of the script that returns it */
};

bool rl_may_be_one_server(const struct rl_node *one, const struct rl_node *other); /* both UP */

/* Call _find if the state of a node has changed, or at proof->again_ns; _proved
 * handles the reply to a proof. True: there is news, so call _find. */
void rl_duplicates_find(struct rl_proof *proof, struct rl_nodes *nodes, int64_t now_ns);
bool rl_duplicates_proved(struct rl_proof *proof, struct rl_nodes *nodes, struct rl_node *node,
                          const struct rl_inflight *inflight, const struct rl_reply *reply,
                          int64_t now_ns);

#endif
