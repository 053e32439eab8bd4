/* siphash.h - SipHash-2-4 (Aumasson and Bernstein, 2012): without the key nobody can find bytes
 * of equal hashes, so names that others choose can't make a table slow. Core. */
#ifndef RL_SIPHASH_H
#define RL_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

struct rl_sip_key {
    uint64_t half[2];
};

uint64_t rl_siphash(const struct rl_sip_key *key, const void *bytes, size_t len);

#endif
