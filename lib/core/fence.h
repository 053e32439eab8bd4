/* fence.h - the fencing token of a hold: a number that a majority of the masters has, above the
 * tokens of all earlier holds of that lock. Core: pure.
 *
 * Each master that grants the lock names a number above all that it has named or heard of. The
 * token is the greatest number among the grants that won the round, and no other grant counts.
 *
 *   numbers of the grants   7 7 7 . .     a majority has the token: 7
 *   numbers of the grants   7 9 8 . .     the token is 9; two masters must be told
 *
 * A later hold has a master in common with this one, on which its number is above this token.
 * That is why a majority must have the token before the user may see it, why a master takes
 * the token only while the lock's key is ours, and why a late grant can't help.
 */
#ifndef RL_FENCE_H
#define RL_FENCE_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers are below 2^53: masters compute with doubles. */
#define RL_FENCE_MAX (UINT64_C(1) << 53)

struct rl_fence {
    bool wanted;
    uint64_t token;  /* the greatest number so far; 0: none */
    uint64_t having; /* the nodes of this round that have the token */
};

/* A grant that counts named this number. */
void rl_fence_grant(struct rl_fence *fence, unsigned node, uint64_t number);

/* Those of `granted` that do not have the token yet. */
uint64_t rl_fence_behind(const struct rl_fence *fence, uint64_t granted);

#endif
