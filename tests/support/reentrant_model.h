/* reentrant_model.h - what the scripts of the reentrant kind must do, said once more and
 * plainly. It is one lock, in C, with what else may come to stand under its name. */
#ifndef TEST_REENTRANT_MODEL_H
#define TEST_REENTRANT_MODEL_H

#include "model_frame.h"

struct reentrant {
    /* Under the name: a lock of `owner`, something else in words, or (both "") nothing. */
    char owner[64], other[64];
    long count; /* the owner's, as Redisson sees it */
    struct life life;
    /* Beside it: tokens, a bit each (0: no key), or in words what else. */
    unsigned tokens;
    char holds_other[64];
    struct life holds_life;
};

struct reentrant_call {
    const char *owner;
    unsigned token;
    int64_t ttl_ms;
    bool wakes;
    bool said; /* what an extension was answered, where it can't be known from here */
};

static inline bool reentrant_held(const struct reentrant *lock)
{
    return lock->owner[0] != '\0';
}
static inline bool reentrant_free(const struct reentrant *lock)
{
    return !lock->owner[0] && !lock->other[0];
}

/* The script of that verb, executed at some time of `when`. *ret_published: are waiters
 * told? */
struct frame_answer reentrant_run(struct reentrant *lock, enum rl_verb verb,
                                  const struct reentrant_call *call, struct span when,
                                  bool *ret_published);

/* Redisson's own three: lock() (whether it has it), unlock() (whether it had it), and
 * forceUnlock(). They know of no tokens. */
bool reentrant_peer_lock(struct reentrant *lock, const char *owner, int64_t ttl_ms,
                         struct span when);
bool reentrant_peer_unlock(struct reentrant *lock, const char *owner, int64_t ttl_ms,
                           struct span when, bool *ret_published);
bool reentrant_peer_force(struct reentrant *lock);

/* It ran out, or was deleted. */
void reentrant_lock_gone(struct reentrant *lock);
void reentrant_holds_gone(struct reentrant *lock);

#endif
