/* kind.h - the kinds of lock, as rows of a table: scripts, arguments, reply to vote. Core.
 *
 * The engine does not know kinds: it asks for the script of a verb, and turns a reply into
 * a vote, both here.
 *
 * The plain kind is the published one: a string key, compared and deleted. Its acquire is a
 * script and not a bare SET NX PX, which costs the server 0.7 us instead of about 2, because
 * the script echoes a nonce (a reply out of step can't be taken for a grant), tells a
 * refused caller who holds the lock and for how much longer (SET NX tells neither, SET NX
 * GET needs Redis 7 and still has no PTTL), and is the place where a later kind checks more
 * than one key at once. A lone caller can't measure the difference beside the round trip.
 */
#ifndef RL_KIND_H
#define RL_KIND_H

#include "quorum.h"

#include <redlock.h>

/* What a node can be asked about a lock. */
enum rl_verb {
    RL_ACQUIRE,
    RL_EXTEND,
    RL_RETAKE, /* extend, or take where nobody has it */
    RL_RELEASE,
    RL_INSPECT,
    RL_FORCE,
    RL_WAIT,  /* acquire, or enter the queue of those who wait */
    RL_LEAVE, /* that queue */
    RL_VERBS
};

struct rl_script {
    const char *name; /* "plain_acquire" */
    const char *body;
    unsigned keys; /* 1: the lock; 2: and the queue of those who wait for it */
    /* What follows the nonce in ARGV, a letter each: the (t)oken, the t(T)L, the (w)aiter,
     * its (a)ge in us, the (q)ueue's life in ms, for how long the lock is (k)ept for whom a
     * release wakes. */
    const char *args;
};

/* The queue of those who wait for a lock stands beside it, under its name and this. A right
 * to "NAME*" covers both. */
#define RL_QUEUE_SUFFIX ":redlock:queue"

/* The channel that a client listens on is this and its id (36 characters); a waiter is the
 * client's id, a colon and a number. The scripts know both. */
#define RL_WAKE_PREFIX "redlock:wake:"

/* The value of a lock that is free but kept for a waiter begins so, and ends in its name. */
#define RL_KEPT_PREFIX "redlock:next:"

struct rl_kind {
    const char *name;
    struct rl_script script[RL_VERBS];
};

/* NULL: no such kind. */
const struct rl_kind *rl_kind(int kind);

/* The heart of a reply, as resp.h delivers it. */
struct rl_answer {
    bool granted;     /* the second element was 1 */
    bool with_holder; /* four elements: ttl_ms and the holder's bytes */
    bool with_place;  /* a fifth: how many are in the queue before us */
    int64_t ttl_ms;
    int64_t place; /* -1: in no queue */
};

/* Does a verb's answer have the exact shape its script promises? Anything else is no vote. */
bool rl_kind_answer_fits(enum rl_verb verb, const struct rl_answer *answer);

/* True for the verbs after whose execution the key may be ours. */
static inline bool rl_verb_takes(enum rl_verb verb)
{
    return verb == RL_ACQUIRE || verb == RL_RETAKE || verb == RL_EXTEND;
}

/* For the core, to acquire is one thing, whether a refused one is queued or not. */
static inline enum rl_verb rl_verb_of(enum rl_verb script)
{
    return script == RL_WAIT ? RL_ACQUIRE : script;
}

/* Is this what a master shows under a lock that is free but kept for a waiter? */
bool rl_kind_holder_is_kept(const char *holder, size_t len);

/* Is this what a master shows under a lock of ours, whose release will wake who waits? Else a
 * peer's, which goes in silence. */
bool rl_kind_holder_wakes(const char *holder, size_t len);

#endif
