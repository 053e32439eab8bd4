/* native_reply.h - the two replies of a native pair, SET NX PX and GET, become one vote. Neither
 * reply has a nonce: only +OK together with our own random token is a grant. Pure. */
#ifndef RL_NATIVE_REPLY_H
#define RL_NATIVE_REPLY_H

#include "node/node.h"

/* Read SET's reply. False: SET can't reply so, and the connection is out of step. */
bool rl_native_read_set(const struct rl_reply *reply, enum rl_set_reply *ret_set);

/* Make a vote of the two replies: `set` is the first, `get` the second, `token` is the value
 * that SET had to write. `ret_why` is the reason of a vote without an answer: GET's error, or
 * none if SET's own error is the reason (RL_SET_FAILED, _NO_MEMORY). False: the two contradict
 * each other, and the connection is out of step. */
bool rl_native_vote(enum rl_set_reply set, const struct rl_reply *get, const char *token,
                    size_t token_len, struct rl_vote_reply *ret_vote, const char **ret_why);

#endif
