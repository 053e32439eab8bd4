/* usual_reply.h - the replies that nearly all requests get, known byte for byte before they
 * come. A native pair's usual reply is +OK and our token. A script's usual reply is our nonce or
 * token alone, or our nonce and a grant that names a fencing token. Usual replies are compared
 * where they lie, and never parsed. All other replies, and any unusual byte, are for the reader
 * (resp.h), which would read the usual ones in the same way. */
#ifndef RL_USUAL_REPLY_H
#define RL_USUAL_REPLY_H

#include "net/connection.h"

#define RL_USUAL_PART SIZE_MAX

/* Do `bytes` begin with the usual reply to this request? Its length, and the fencing token that
 * it names, or 0. RL_USUAL_PART: they are its beginning, and the rest has not come. 0: they
 * begin with another one. */
size_t rl_usual_reply(const struct rl_inflight *inflight, const char *bytes, size_t len,
                      uint64_t *ret_number);

#endif
