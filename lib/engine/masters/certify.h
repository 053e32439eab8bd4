/* certify.h - clients give a new certificate to a master that lost its fencing counters: from
 * then on its tokens are above all that were given (core/certify.h). */
#ifndef RL_ENGINE_CERTIFY_H
#define RL_ENGINE_CERTIFY_H

#include "engine/client/client.h"

/* The state of a node has changed, or it is client->certifying.now.again_ns. */
void rl_certify_go_on(redlock *client, int64_t now_ns);

/* A node has told its fencing certificate. */
void rl_certify_told(void *owner, struct rl_node *node, const struct rl_certificate *told,
                     int64_t now_ns);

#endif
