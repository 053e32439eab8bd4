/* fence_certificate.h - the request about a master's fencing certificate, and its reply
 * (kinds/fence/fence_join.lua, core/certify.h). Pure.
 */
#ifndef RL_NET_FENCE_CERTIFICATE_H
#define RL_NET_FENCE_CERTIFICATE_H

#include "core/certify.h"
#include "net/resp.h"

/* Write it. `key` is the certificate's; `what`, `loss` and `number` are the script's arguments. */
void rl_certificate_request(struct rl_out *out, const char *key, const char nonce[RL_NONCE_LEN],
                            const char *what, const char *loss, uint64_t number);

/* Read the reply. False: it is none to this request. */
bool rl_certificate_read(const struct rl_reply *reply, const char nonce[RL_NONCE_LEN],
                         struct rl_certificate *ret_certificate);

#endif
