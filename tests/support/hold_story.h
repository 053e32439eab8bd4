/* hold_story.h - tell a hold's story line by line. There are one hold, N nodes that do as they
 * are told, and a clock that stands until it is moved. Times are milliseconds.
 *
 * Stories are named after the rules (R1...) and the known ways to break a lock on N masters
 * (CE1...) of docs/RULES.md.
 */
#ifndef TEST_HOLD_STORY_H
#define TEST_HOLD_STORY_H

#include "core/hold.h"
#include "base/limits.h"

#include <check.h>

#define MS RL_NS_PER_MS

/* What every story begins with. */
#define TTL_MS 1000
#define NODE_MS 100 /* a node's time in a round */
#define DRIFT_FACTOR 0.01
/* 1000 ms and its drift: 990 - 2 ms and the nanosecond of rounding. */
#define VALID_NS (988 * MS - 1)
/* A key is gone by itself so long after it was made. */
#define GONE_NS (1012 * MS + 1)

#define YES RL_VOTE_YES
#define NO RL_VOTE_NO
#define FAILED RL_VOTE_FAILED

struct story {
    struct rl_hold hold;
    int64_t now_ns;
    uint64_t able;
    unsigned current[REDLOCK_NODES_MAX]; /* the slot in use */
};

/* NEW, on n nodes that are all able; the clock stands at 5 s. */
void story_begin(struct story *story, unsigned n);

/* Ask all the able ones and send; what the hold did. `first` as in rl_hold_ask(). */
unsigned ask(struct story *story);
unsigned ask_first(struct story *story, unsigned first);
unsigned ask_rest(struct story *story);

/* HELD by grants of nodes 0, 1, ...: as few as it takes; the others have not answered. */
void story_hold(struct story *story, unsigned n);
/* HELD by all. */
void story_hold_all(struct story *story, unsigned n);

/* An answer on the slot in use, or on a given one. */
unsigned answer(struct story *story, unsigned node, enum rl_verb verb, enum rl_vote vote);
unsigned answer_on(struct story *story, unsigned node, unsigned slot, enum rl_verb verb,
                   enum rl_vote vote);

unsigned pass_ns(struct story *story, int64_t ns); /* and tick */
unsigned pass(struct story *story, int64_t ms);

/* The link in use breaks; or it drains, and another is in use. */
unsigned lose(struct story *story, unsigned node);
void drain(struct story *story, unsigned node);

unsigned extend(struct story *story, int64_t ttl_ms);
void retake(struct story *story, unsigned node);

/* Give up; `wait`: answers are counted. Sends nothing. */
unsigned release(struct story *story, bool wait);

/* Send whatever releases are wanted, on every link. Returns the nodes that got one on the slot
 * in use; `ret_other` has those that got one on the other. All links are up. */
uint64_t send_releases(struct story *story, uint64_t *ret_other);
/* The same with the links in use of `down` not there. */
uint64_t send_releases_but(struct story *story, uint64_t down, uint64_t *ret_other);

/* The first nanosecond at which the lock that is held is over. */
int64_t over_ns(const struct story *story);

bool settled(const struct story *story);

#define NODES(...) nodes_of((const int[]){__VA_ARGS__, -1})
uint64_t nodes_of(const int *nodes);

#endif
