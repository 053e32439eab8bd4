/* certify.h - with `fencing strict`: may a master's fencing counters be trusted, and how does
 * one that lost them get trusted again? Core: pure.
 *
 * A master shows by a fencing certificate that it has its counters (kinds/fence/fence_join.lua).
 * A master that lost its counters has a loss instead, with an id of its own. The clients certify
 * such a master:
 *
 *   1. The clients read the greatest tokens of a quorum of the others, all certified, for
 *      that loss.
 *   2. The clients tell the greatest of these to the master: its next tokens are above that.
 *
 * Each hold whose token was told has a master in that quorum, and this master did not lose its
 * counters. If that master had the token when it was read, the new tokens are above the token.
 * If that master took part later, the hold's request shows an id that is younger than the loss,
 * so the hold began after the loss. The masters compare the ids. So a round may use only the
 * ids that were known when it began. No clock appears in this argument.
 *
 * The argument needs a quorum of masters, and not of answers. So the clients read each node once
 * for a loss, although readings of other clients give it other ids meanwhile. The first reading
 * is enough, because any token that the node took later shows a younger id. A master that is
 * asked under two names counts once. The caller leaves out a node that may be the same server as
 * another. Besides, each id counts once.
 *
 * One master's high number must not use up the numbers of the other masters. So a quorum counts
 * only if its greatest number is not too far above its least one (rl_fence_most). The scripts do
 * the same with counters and tokens.
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
    uint64_t change;              /* with which change it came, as this client counts them */
};

bool rl_is_certified(const struct rl_certificate *certificate);

/* May a round show it that began when this client had seen so many changes? */
bool rl_certificate_serves(const struct rl_certificate *certificate, uint64_t changes);

/* Learn what was told. True: it has changed, and `*changes` is one more. */
bool rl_certificate_learn(struct rl_certificate *certificate,
                          const struct rl_certificate *told, uint64_t *changes);

/* For people: why it is not certified. */
const char *rl_uncertified_why(const struct rl_certificate *certificate);

/* What one node told when it was read. */
struct rl_reading {
    char id[RL_CERTIFICATE_ROOM]; /* empty: it has not been read */
    uint64_t greatest;
    int64_t since_ns; /* of the connection */
};

/* The certification of one master. */
struct rl_certifying {
    bool on;
    bool told; /* the floor, to the master */
    unsigned node;
    char loss[RL_LOSS_LEN + 1];
    struct rl_reading reading[REDLOCK_NODES_MAX];
    uint64_t floor;   /* the greatest number of those that count */
    int64_t again_ns; /* when to look for more to do; INT64_MAX: when something is told */
};

/* Begin: this node has told its loss. */
void rl_certifying_begin(struct rl_certifying *certifying, unsigned node,
                         const struct rl_certificate *certificate);

/* A node has told its certificate, on a connection that stands since then. Off afterwards:
 * nothing is left to do. */
void rl_certifying_learn(struct rl_certifying *certifying, unsigned node, int64_t since_ns,
                         const struct rl_certificate *certificate);

/* `others`: nodes that are trusted, and are different servers; `since_ns`: their connections.
 * True, once: a quorum of them is read, and the master may be told the floor. */
bool rl_certifying_decide(struct rl_certifying *certifying, uint64_t others,
                          const int64_t since_ns[], unsigned needed);

#endif
