/* fence_look.h - a look at a master's certificate for fencing tokens (`fencing strict`). */
#ifndef REDLOCK_FENCE_LOOK_H
#define REDLOCK_FENCE_LOOK_H

#include "core/certify.h"
#include "net/resp.h"

#define FENCE_LOOK_MAX 4096

/* Draw one for a master: it becomes the id of a loss that is found there, and each loss needs an
 * id of its own. False: no random bytes are left. */
bool fence_look_nonce(char ret_nonce[RL_NONCE_LEN + 1]);

/* The request. */
void fence_look_request(const char nonce[RL_NONCE_LEN], const char *what,
                        char ret_request[FENCE_LOOK_MAX]);

/* Its reply. NULL, or what is wrong with it. */
const char *fence_look_heard(const char nonce[RL_NONCE_LEN], const struct rl_reply *reply,
                             struct rl_certificate *ret_certificate);

#endif
