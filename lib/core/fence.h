/* fence.h - the fencing token of a hold: a number that a majority of the masters has. The token
 * is above the tokens of all earlier holds of that lock. Core: pure.
 *
 * Each master that grants the lock names a number above all that it has named or heard of. After
 * a master lost its counter, its clock (below) or a certificate (certify.h) makes that true. The
 * majority with the lowest numbers decides: the token is the greatest of these numbers, and each
 * master of that majority must have the token. A master that is ahead of the majority does not
 * count.
 *
 *   numbers of the grants   7 7 7 . .     a majority has the token: 7
 *   numbers of the grants   7 9 7 . .     the token is 9; two masters must be told
 *   numbers of the grants   7 9 7 7 .     a fourth one grants meanwhile: the token is 7
 *
 * A later hold has a master in common with this one. There the later hold's number is above
 * this token. So a majority must have the token before the user may see it. For the same reason
 * a master takes the token only while the lock's key is ours. A master that is ahead does not
 * count, because its number may be above the token of another hold that is under way.
 */
#ifndef RL_FENCE_H
#define RL_FENCE_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers are below 2^53: masters compute with doubles. */
#define RL_FENCE_MAX (UINT64_C(1) << 53)
/* With `fencing strict` numbers jump up to this one only, the clock of the year 2112. It leaves
 * room for as many steps of one. The scripts have it, too (fence_certificate.lua). */
#define RL_FENCE_CEILING (UINT64_C(1) << 52)
#define RL_FENCE_STEPS (UINT64_C(1) << 20) /* by which masters may be apart above that */

struct rl_fence {
    bool wanted;
    uint64_t token;   /* of the hold, or of the majority that would decide now; 0: none */
    uint64_t told;    /* the token that masters were told; 0: none was */
    uint64_t having;  /* nodes with this token */
    uint64_t behind;  /* nodes that granted, with a lower number */
    uint64_t *number; /* of each node that granted; the caller's, until the round is over */
};

/* R11: The greatest number that one believes who has this one. */
static inline uint64_t rl_fence_most(uint64_t number)
{
    uint64_t most =
        (number > RL_FENCE_CEILING ? number : RL_FENCE_CEILING) + RL_FENCE_STEPS;
    return most < RL_FENCE_MAX ? most : RL_FENCE_MAX - 1;
}

/* How far tokens may be ahead of a master's clock, in us, by the guard's window. A master that
 * has forgotten its counter casts no vote for that window. So its clock is above all tokens
 * that it had before, since none was ahead of it by more than half of that. The other half is
 * for a clock that was set back.
 *
 *   lead      1/8, 10 s at most: a client's proposal is so far ahead of the client's own clock.
 *             So masters that do not know the lock yet name one token.
 *   granted   1/4: a master cuts a proposal to that, whatever clients propose.
 *   taken     1/2: a master refuses another one's token that is further ahead. So it can take
 *             the token of a master whose clock is a quarter ahead of its own. */
int64_t rl_fence_lead_us(int64_t window_us);
int64_t rl_fence_granted_ahead_us(int64_t window_us);
int64_t rl_fence_taken_ahead_us(int64_t window_us);

/* This node's grant named this number. */
void rl_fence_grant(struct rl_fence *fence, unsigned node, uint64_t number);

/* This node took the token that it was told. */
void rl_fence_took(struct rl_fence *fence, unsigned node);

/* The token by these grants, which are `needed` or more. */
void rl_fence_decide(struct rl_fence *fence, uint64_t granted, unsigned needed);

#endif
