/* entropy.h - random bytes and identities (libuuid). The kernel gives the bytes, by
 * getrandom(); where a kernel or a sandbox refuses that, OpenSSL does, by RAND_bytes(). Never
 * falls back to anything guessable: no bytes means no lock. */
#ifndef RL_ENTROPY_H
#define RL_ENTROPY_H

#include "base/limits.h"

#include <stddef.h>

int rl_entropy_bytes(void *ret_bytes, size_t size);   /* 0 or REDLOCK_ERANDOM */
void rl_entropy_uuid(char ret_uuid[RL_UUID_LEN + 1]); /* lower-case text with dashes */

#endif
