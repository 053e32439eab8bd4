/* fair_model.h - what the scripts of the fair kind must do, said once more and plainly: the
 * lock of reentrant_model.h, and a queue. And what Redisson's do to the same keys. Times are ms
 * of the master's wall clock, known from one to another until they have been read from the
 * master. */
#ifndef TEST_FAIR_MODEL_H
#define TEST_FAIR_MODEL_H

#include "reentrant_model.h"

enum { FAIR_OURS = 4, FAIR_OWNERS = 7, FAIR_PLACES_MAX = 40 };
#define FAIR_SHARE_MS INT64_C(300000)
#define FAIR_LIFE_MS INT64_C(15000)

/* First ours, then Redisson's; in the order of strcmp(). */
extern const char *const fair_owner[FAIR_OWNERS];

struct fair_time {
    bool known;
    struct span at;
};

struct fair {
    struct reentrant lock;
    char foreign[160]; /* other data in the queue's place, in words; "": none */
    unsigned places;
    unsigned place[FAIR_PLACES_MAX]; /* who is in the queue, in order */
    struct fair_time till[FAIR_OWNERS], heard[FAIR_OWNERS];
    unsigned long mended, dropped, lifted;
};

struct fair_call {
    unsigned who, token;
    int64_t ttl_ms;
    bool wakes;
    struct span when, now; /* executed within: by now_ms(), by the master's clock */
};

/* The script of that verb; *ret_told: who is told that the lock is free, or -1. */
struct frame_answer fair_run(struct fair *fair, enum rl_verb verb, const struct fair_call *call,
                             int *ret_told);

/* Redisson's, of a client that waits for wait_ms. _lock: lock(), which enters the queue, or
 * tryLock(), which doesn't: has it the lock? _gives_up: what it does then. _unlock: 0, 1, or
 * -1 for nil.
 */
bool fair_peer_lock(struct fair *fair, const struct fair_call *call, int64_t wait_ms,
                    bool enters);
void fair_peer_gives_up(struct fair *fair, const struct fair_call *call, int64_t wait_ms);
int fair_peer_unlock(struct fair *fair, const struct fair_call *call, int *ret_told);

/* Is the time before now? Not to be asked when it is about to be. */
static inline bool fair_past(const struct fair_time *time, int64_t more_ms, struct span now)
{
    return time->at.high_ms + more_ms <= now.low_ms;
}

void fair_take_out(struct fair *fair, unsigned place);

#endif
