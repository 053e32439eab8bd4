/* hold_space.h - a model world so small that every state it can ever be in is visited. One or
 * two holds are on a few masters, and time goes in steps of a second. The real lib/core/hold.c
 * is in the middle.
 *
 * A state is what decides the future, and nothing else. Times count from now, and a token that
 * has settled is used again for a fresh hold. So the states are finite in number and the
 * histories through them are not bounded in length. Whatever can happen next is one move. */
#ifndef TEST_HOLD_SPACE_H
#define TEST_HOLD_SPACE_H

#include "core/hold.h"
#include "base/limits.h"

#define STEP RL_NS_PER_S
#define SPACE_HOLDS 2
#define SPACE_NODES 4
#define SPACE_QUEUE 6

struct space_request {
    uint8_t verb;
    bool again;    /* sent a second time, with the script's body */
    bool answered;
    uint8_t vote; /* of an answered one; or UNEXECUTED */
};

struct space_node {
    uint8_t owner; /* 0: nobody; 1 + hold; STRANGER */
    int64_t expires_ns;
};
#define STRANGER 9
#define UNEXECUTED 3 /* beside enum rl_vote */

struct space_link {
    bool down;
    uint8_t count;
    struct space_request queue[SPACE_QUEUE];
};

/* What is possible in a world. */
struct space {
    const char *name;
    unsigned holds, n;
    int64_t ttl_ns, node_ns; /* node_ns: a node's time in a round */
    bool strangers; /* others take and leave the key on any node at any time */
    bool ordered, extends, waits;
    bool errors; /* requests are refused and not executed */
    bool scripts; /* are unknown there, and requests sent again */
    uint64_t breaks; /* nodes whose links can break, */
    uint64_t downs;  /* stay down for a while, */
    uint64_t drains; /* and drain */
    uint64_t lazy;   /* nodes where a release is not sent at once (no room) */
    bool prompt; /* once a hold is ending its answers come at once: fewer states */
    /* What a lease can't stand: keys that vanish early. The search must find it out. */
    bool amnesia;
};

struct space_state {
    int64_t now_ns;
    struct rl_hold hold[SPACE_HOLDS];
    struct space_node node[SPACE_NODES];
    struct space_link link[SPACE_HOLDS][SPACE_NODES][RL_SLOTS];
    uint8_t current[SPACE_HOLDS][SPACE_NODES];
};

void space_begin(const struct space *space, struct space_state *state);

/* How many moves there are from here is not told beforehand: make the `number`-th, from 0.
 * False: there is none. `ret_did` is what holds did in it. */
bool space_move(const struct space *space, struct space_state *state, unsigned number,
                unsigned *ret_did);

/* NULL, or what must not be. */
const char *space_wrong(const struct space *space, const struct space_state *state);

/* Equal for states with the same future. */
uint64_t space_hash(const struct space *space, const struct space_state *state);

#endif
