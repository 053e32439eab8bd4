/* fair_peer.h - Redisson's fair lock, as its clients play it on a master: for tests beside
 * which there is no Java. */
#ifndef TEST_FAIR_PEER_H
#define TEST_FAIR_PEER_H

#include "script_talk.h"

struct fair_peer {
    struct talk *talk;
    const char *name;  /* of the lock */
    const char *owner; /* as "uuid:thread" */
    int64_t lease_ms;
    int64_t wait_ms; /* what it adds to the queue's times */
};

/* lock(): has it got it? If not it is in the queue. tryLock(): the same, and never queued. */
bool fair_peer_locks(const struct fair_peer *peer);
bool fair_peer_tries(const struct fair_peer *peer);

/* What a wait that is over does. */
void fair_peer_leaves(const struct fair_peer *peer);

/* unlock(): 1: released, 0: still held, -1: not its own. */
int64_t fair_peer_unlocks(const struct fair_peer *peer);

/* By this machine's wall clock, which is its masters' too. */
int64_t fair_wall_ms(void);

/* The keys and channels that it goes by. */
enum { FAIR_KEY_MAX = 200 };
const char *fair_peer_key(char letter, const char *name, char ret[FAIR_KEY_MAX]);
const char *fair_peer_channel(const char *name, const char *owner, char ret[FAIR_KEY_MAX]);

#endif
