/* certify.h - with `fencing strict`: may a master's fencing counters be trusted, and how does
 * one that lost them get trusted again? Core: pure.
 *
 * A master shows by a certificate that it has its counters (kinds/fence/fence_join.lua). One
 * that lost them has a loss instead, with an id of its own. The clients certify it:
 *
 *   1. They read the greatest tokens of a quorum of the others, all certified, for that loss.
 *      Each master makes an id of its own for that, so one under two names is read once.
 *   2. They tell the greatest of these to the master: its next tokens are above that.
 *
 * Each hold whose token was told has a master besides the lost one in that quorum. Either that
 * one had the token when it was read, so the new tokens are above it. Or it took part later.
 * Then its request shows an id that is younger than the loss, and so the hold began after it.
 * The ids are compared by the masters. So a round may use those alone that were known when it
 * began. No clock appears in this.
 */
#ifndef RL_CERTIFY_H
#define RL_CERTIFY_H

#include "redlock.h"

#include <stdbool.h>
#include <stdint.h>

#define RL_CERTIFICATE_ROOM 33
#define RL_LOSS_LEN 16 /* ids of losses; a certificate's id begins with that of a loss */

/* What a master told of its certificate. */
struct rl_certificate {
    char word[16];                /* "certified", or why it is not; empty: not told */
    char id[RL_CERTIFICATE_ROOM]; /* the certificate's, or the loss's */
    uint64_t greatest;            /* token that it has named or taken, when it told that */
    uint64_t number;              /* how many changes this client has seen up to this one */
};

bool rl_is_certified(const struct rl_certificate *certificate);

/* May a round show it that began when this client had seen so many changes? */
bool rl_certificate_serves(const struct rl_certificate *certificate, uint64_t changes);

/* Learn what was told. True: it has changed, and `*changes` is one more. */
bool rl_certificate_learn(struct rl_certificate *certificate,
                          const struct rl_certificate *told, uint64_t *changes);

/* For people: why it is not certified. */
const char *rl_uncertified_why(const struct rl_certificate *certificate);

/* The certification of one master. */
struct rl_certifying {
    bool on;
    unsigned node;
    char loss[RL_LOSS_LEN + 1];
    char read[REDLOCK_NODES_MAX][RL_CERTIFICATE_ROOM]; /* ids of those that were read for it */
    unsigned read_count;
    uint64_t floor; /* the greatest number of these */
    int64_t again_ns; /* when to look for more to do; INT64_MAX: when something is told */
};

/* Begin: this node has told its loss. */
void rl_certifying_begin(struct rl_certifying *certifying, unsigned node,
                         const struct rl_certificate *certificate);

/* A node has told its certificate. True: all is read, and the master may be told the floor. Off
 * afterwards: nothing is left to do. */
bool rl_certifying_learn(struct rl_certifying *certifying, unsigned node,
                         const struct rl_certificate *certificate, unsigned needed);

#endif
