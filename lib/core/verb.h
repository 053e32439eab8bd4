/* verb.h - what a node can be asked about a lock. Core: pure. */
#ifndef RL_VERB_H
#define RL_VERB_H

#include <assert.h>
#include <stdbool.h>

enum rl_verb {
    RL_ACQUIRE,
    RL_EXTEND,
    RL_RETAKE, /* extend, or set the key if nobody has it */
    RL_RELEASE,
    RL_INSPECT,
    RL_FORCE,
    RL_ACQUIRE_OR_QUEUE, /* acquire, or enter the wait queue */
    RL_DEQUEUE,          /* leave that queue */
    RL_VERBS
};

/* True for the verbs after whose execution the key may be ours. */
static inline bool rl_verb_takes(enum rl_verb verb)
{
    assert(verb < RL_VERBS);
    return verb == RL_ACQUIRE || verb == RL_RETAKE || verb == RL_EXTEND;
}

/* For the core, to acquire is one thing, whether a refused one is queued or not. */
static inline enum rl_verb rl_verb_of(enum rl_verb script)
{
    assert(script < RL_VERBS);
    return script == RL_ACQUIRE_OR_QUEUE ? RL_ACQUIRE : script;
}

#endif
