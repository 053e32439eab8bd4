/* scripts_model.h - what the scripts must do, said once more and plainly: one lock, one queue,
 * in C. The clock is the tests'; since it is not the master's, an end is known from a time to
 * a time. */
#ifndef TEST_SCRIPTS_MODEL_H
#define TEST_SCRIPTS_MODEL_H

#include "model_frame.h"

enum { MODEL_CLIENTS = 4, MODEL_WAITERS = 2 * MODEL_CLIENTS, MODEL_HOLDER_MAX = 128 };

struct model_lock {
    char holder[MODEL_HOLDER_MAX]; /* "": it is free */
    bool broken;                   /* by force, some time ago: a note may tell of it */
    struct span end;
    unsigned queued; /* in the order of their ranks */
    struct model_entry {
        unsigned waiter;
        int rank;
    } queue[MODEL_WAITERS];
};

struct model_tally {
    unsigned long taken[RL_VERBS], refused[RL_VERBS];
    unsigned long woken, skipped, kept_taken, nobody_left;
};

struct model {
    bool listens[MODEL_CLIENTS];
    struct model_tally tally;
};

struct model_call {
    const char *token;
    int64_t ttl_ms, reserve_ms;
    unsigned waiter;
    int rank; /* the smaller, the longer it has waited; no two in a queue have the same */
    bool yields; /* what is reserved for it, of several names: a fourth second of its wait */
};

struct model_told {
    unsigned parts;
    bool yes;
    bool noted; /* or 4 parts: who broke it */
    char holder[MODEL_HOLDER_MAX];
    struct span left;
    unsigned place;
    int called; /* the waiter that was woken; -1: nobody */
};

/* Two waiters a client. */
const char *model_waiter(unsigned waiter, char ret_text[RL_WAITER_MAX]);

/* The script of that verb, executed at some time of `when`. */
struct model_told model_run(struct model *model, struct model_lock *lock, enum rl_verb verb,
                            const struct model_call *call, struct span when);

/* What anybody does who knows of no queue: SET with that TTL. */
void model_set(struct model_lock *lock, const char *holder, int64_t ttl_ms, struct span when);
static inline void model_free(struct model_lock *lock)
{
    lock->holder[0] = '\0';
}

/* Is the lock kept for a waiter? For this one? */
bool model_kept(const struct model_lock *lock);
bool model_kept_for(const struct model_lock *lock, unsigned waiter);

/* Has the master the same waiters in that queue, in the same order? */
bool model_queue_is(struct talk *talk, const char *queue, const struct model_lock *lock);

#endif
