/* voters.h - the nodes that vote on a name together. A set of them has bit i for node[i], which
 * is the node of that index. The mutex must be held. */
#ifndef RL_VOTERS_H
#define RL_VOTERS_H

#include "node/node.h"

struct rl_lease;

/* Of those that come back (fill_in.h). Sets of nodes. */
struct rl_fill_in {
    uint64_t away;         /* they did not vote, or lost requests: locks may lack them */
    uint64_t back;         /* they vote again: leases from `next` on are still to be filled in */
    uint64_t forgot;       /* of both, what they granted may be lost */
    struct rl_lease *next; /* NULL: none */
    int64_t due_ns;        /* when to go on; INT64_MAX: nothing to do */
    unsigned owed;         /* keys that were sent, and not answered yet */
    uint64_t refused;      /* another's key stood there: they are back once more at `again_ns` */
    int64_t again_ns;
    struct rl_backoff pause;
};

struct rl_voters {
    unsigned n;
    struct rl_node *node[REDLOCK_NODES_MAX];
    const struct rl_node_settings *settings;
    int64_t opened_ns;   /* since when the client connects */
    int64_t majority_ns; /* when a majority was first able to vote; 0: not yet */
    bool warm;           /* a round has been begun */
    struct rl_fill_in fill_in;
};

/* The nodes that a round asks now. */
uint64_t rl_voters_to_ask(struct rl_voters *voters, int64_t now_ns);

/* The same for a renewal. Where too few are left because tries fill them, those are asked too:
 * what is held goes before what is wanted. */
uint64_t rl_voters_to_renew(struct rl_voters *voters, int64_t now_ns);

/* The nodes that are connected and fit to vote, whether they are asked or not. */
uint64_t rl_voters_able(const struct rl_voters *voters);

/* Those of these nodes of which a fencing token may come. */
uint64_t rl_voters_to_fence(const struct rl_voters *voters, uint64_t voting);

/* The node that a round asks first after a split, the same for all clients; -1: none votes. */
int rl_voters_first(const struct rl_voters *voters, uint64_t voting, const void *name,
                    size_t len);

/* The number of nodes that connect for the first time. */
unsigned rl_voters_pending(struct rl_voters *voters);

/* The round trip within which a majority of `mask` answers; 0: unknown. */
int64_t rl_voters_round_trip_ns(struct rl_voters *voters, uint64_t mask);

/* How long a majority may be silent until its answers are more likely to be lost than late. */
int64_t rl_voters_patience_ns(struct rl_voters *voters);

/* How long a release reserves the lock for the waiter it wakes: the wake-up and the acquire
 * must arrive, and its scheduler needs a while. A liveness hint: too short is harmless. */
int64_t rl_voters_reserve_ms(struct rl_voters *voters);

/* The time that one node of `mask` has in a round of that length; -1: too little for a
 * round. */
int64_t rl_voters_budget_ns(struct rl_voters *voters, uint64_t mask, int64_t remaining_ns);

/* These can vote. Where that is no majority, those that refuse are tried again sooner. */
void rl_voters_need(struct rl_voters *voters, uint64_t voting, int64_t now_ns);

/* Those that refuse what a person must mend. */
uint64_t rl_voters_refusing(const struct rl_voters *voters);

/* Is some node's reply past its deadline? */
bool rl_voters_overdue(struct rl_voters *voters, int64_t now_ns);

/* Are all nodes that a round could need as ready as they will be? See voters.c. */
bool rl_voters_ready(struct rl_voters *voters, uint64_t voting, int64_t now_ns,
                     int64_t *ret_until_ns);

/* Is a majority lacking only because nodes have too many requests? That will pass. */
bool rl_voters_saturated(struct rl_voters *voters, uint64_t voting, int64_t now_ns);

#endif
