/* duplicates.h - nodes that are one server have one vote (duplicates.c). The
 * mutex must be held. */
#ifndef RL_DUPLICATES_H
#define RL_DUPLICATES_H

#include "node/node.h"

#include <redlock.h>

bool rl_may_be_one_server(const struct rl_node *one, const struct rl_node *other); /* both UP */

/* Call _find if the state of a node has changed, or at client->duplicates.again_ns; _proved
 * handles the reply to a proof. */
void rl_duplicates_find(redlock *client, int64_t now_ns);
void rl_duplicates_proved(void *owner, struct rl_node *node, const struct rl_inflight *inflight,
                          const struct rl_reply *reply, int64_t now_ns);

#endif
