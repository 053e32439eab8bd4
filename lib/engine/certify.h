/* certify.h - masters that lost their fencing counters get a certificate again, by their
 * clients (core/certify.h). */
#ifndef RL_ENGINE_CERTIFY_H
#define RL_ENGINE_CERTIFY_H

#include "engine/client.h"

/* The state of a node has changed, or it is client->certifying.now.again_ns. */
void rl_certify_go_on(redlock *client, int64_t now_ns);

/* A node has told its fencing certificate. */
void rl_certify_told(void *owner, struct rl_node *node, const struct rl_certificate *told,
                     int64_t now_ns);

#endif
