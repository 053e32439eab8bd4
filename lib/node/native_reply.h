/* native_reply.h - the two replies of a native pair, SET NX PX and GET, become one vote.
 * Neither has a nonce: only +OK together with our own random token is a grant. Pure. */
#ifndef RL_NATIVE_REPLY_H
#define RL_NATIVE_REPLY_H

#include "node/node.h"

/* What SET was answered. False: nothing that SET can answer, so the connection is out of step.
 */
bool rl_native_read_set(const struct rl_reply *reply, enum rl_set_reply *ret_set);

/* Both: `get` is the second reply, `token` what SET was to write. A vote without an answer has
 * its reason in `ret_why`: GET's, or none where SET's own stands (RL_SET_FAILED, _NO_MEMORY).
 * False: the two contradict each other, so the connection is out of step. */
bool rl_native_vote(enum rl_set_reply set, const struct rl_reply *get, const char *token,
                    size_t token_len, struct rl_vote_reply *ret_vote, const char **ret_why);

#endif
