/* script_reply.h - the reply to a lock's script becomes a vote. Pure. */
#ifndef RL_SCRIPT_REPLY_H
#define RL_SCRIPT_REPLY_H

#include "node/node.h"

/* Read the nonce (or token) alone, or an array of it, a minus and a code. A grant may add a fencing token. A
 * refusal may add the TTL, the holder and the place in the queue; an inspection adds its text.
 * `strict`: the script looked at the marker. False: the script can't reply so, and the
 * connection is out of step. */
bool rl_script_vote(const struct rl_inflight *inflight, const struct rl_reply *reply, bool strict,
                    struct rl_vote_reply *ret_vote);

#endif
