/* certify.h - clients give a new certificate to a master that lost its fencing counters: from
 * then on its tokens are above all that were given (core/certify.h). */
#ifndef RL_ENGINE_CERTIFY_H
#define RL_ENGINE_CERTIFY_H

#include "core/certify.h"
#include "engine/masters/nodes.h"

struct rl_certificates {
    struct rl_certifying now;
    uint64_t changes; /* how often a node's has changed */
};

/* The state of a node has changed, or it is now.again_ns. */
void rl_certify_go_on(struct rl_certificates *certificates, struct rl_nodes *nodes,
                      int64_t now_ns);

/* A node has told its fencing certificate. */
void rl_certify_told(struct rl_certificates *certificates, struct rl_nodes *nodes,
                     struct rl_node *node, const struct rl_certificate *told, int64_t now_ns);

#endif
