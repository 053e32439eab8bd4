/* quorum.h - one round of votes, counted. Core: pure.
 *
 *   asked nodes     . . . . .          N = 5, needed = 3
 *   yes             x x                open
 *   yes             x x x              won: a majority of the configured N said yes
 *   no, failed            x x x        lost: even if the rest said yes it were too few
 *
 * Refusals and failures count together; an even split is a loss, never a wait. The earliest vote
 * that can decide the round does so.
 */
#ifndef RL_QUORUM_H
#define RL_QUORUM_H

#include "base/limits.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

/* One node's vote in one round. FAILED: an error, silence, a broken link. */
enum rl_vote { RL_VOTE_YES, RL_VOTE_NO, RL_VOTE_FAILED };

enum rl_verdict { RL_OPEN, RL_WON, RL_LOST };

/* Nodes are bits, node i is 1 << i. */
struct rl_round {
    unsigned n;
    uint64_t yes;
    uint64_t no;
    uint64_t failed;
    int64_t t0_ns;            /* read before the first byte of the round was sent */
    int64_t node_deadline_ns; /* a node that is silent until then has failed */
};

static inline uint64_t rl_bit(unsigned node)
{
    assert(node < REDLOCK_NODES_MAX);
    return UINT64_C(1) << node;
}

/* All of n nodes. */
static inline uint64_t rl_all(unsigned n)
{
    assert(n <= REDLOCK_NODES_MAX);
    return n >= 64 ? UINT64_MAX : rl_bit(n) - 1;
}

static inline unsigned rl_count(uint64_t nodes)
{
    return (unsigned)__builtin_popcountll(nodes);
}

static inline unsigned rl_first(uint64_t nodes)
{
    assert(nodes != 0); /* else the result is undefined */
    return (unsigned)__builtin_ctzll(nodes);
}

/* A majority of the configured n, however many nodes answer. */
unsigned rl_quorum_needed(unsigned n);

/* Of two lists of so many nodes, `common` are on both. Has every majority of the one a node in
 * common with every majority of the other? Then no two have a lock, one by each. */
bool rl_majorities_meet(unsigned one, unsigned other, unsigned common);

void rl_round_start(struct rl_round *round, unsigned n, int64_t t0_ns,
                    int64_t node_deadline_ns);

/* Count a vote. A node's first vote stands: false (and no change) for a second one. */
bool rl_round_vote(struct rl_round *round, unsigned node, enum rl_vote vote);

/* The nodes that have not voted. */
uint64_t rl_round_silent(const struct rl_round *round);

enum rl_verdict rl_round_verdict(const struct rl_round *round);

/* True where the failures alone made a majority impossible ("no quorum", not "held"). */
bool rl_round_no_quorum(const struct rl_round *round);

/* True where our own grants and refusals met and neither side had a majority. */
bool rl_round_split(const struct rl_round *round);

/* The time that one node has in a round: the remaining time over n. It is at most
 * `node_timeout_ns`, if that is not 0, and at least two round trips and 2 ms. -1: too little
 * remains for a round. */
int64_t rl_node_budget_ns(int64_t remaining_ns, unsigned n, int64_t node_timeout_ns,
                          int64_t round_trip_ns);

/* The time after which a missing reply is more likely lost than late. */
int64_t rl_patience_ns(int64_t round_trip_ns);

#endif
