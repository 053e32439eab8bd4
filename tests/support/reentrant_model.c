/* reentrant_model.c - see reentrant_model.h. */
#include "config_auto.h"

#include "reentrant_model.h"

#include "base/limits.h"

#include <stdio.h>
#include <string.h>

void reentrant_lock_gone(struct reentrant *lock)
{
    lock->owner[0] = lock->other[0] = '\0';
    lock->count = 0;
}

void reentrant_holds_gone(struct reentrant *lock)
{
    lock->holds_other[0] = '\0';
    lock->tokens = 0;
}

static bool owns(const struct reentrant *lock, const char *owner)
{
    return reentrant_held(lock) && strcmp(lock->owner, owner) == 0;
}

static bool has(const struct reentrant *lock, const struct reentrant_call *call)
{
    return owns(lock, call->owner) && (lock->tokens & 1u << call->token);
}

/* ---- acquire, wait, retake -------------------------------------------------------------- */

static void refuse(const struct life *life, struct span when, int64_t code, const char *what,
                   struct frame_answer *ret)
{
    ret->code = code;
    life_left(life, when, ret);
    snprintf(ret->holder, sizeof(ret->holder), "%s", what);
}

static void count_token(struct reentrant *lock, const struct reentrant_call *call,
                        struct span when)
{
    if (!reentrant_held(lock)) {
        snprintf(lock->owner, sizeof(lock->owner), "%s", call->owner);
        lock->life = life_of(call->ttl_ms, when);
    }
    if (lock->tokens == 0)
        lock->holds_life = life_of(call->ttl_ms, when);
    lock->tokens |= 1u << call->token;
    lock->count++;
}

static void take(struct reentrant *lock, const struct reentrant_call *call, struct span when,
                 struct frame_answer *ret)
{
    static const struct life endless = {.for_ever = true};
    char what[160];
    if (lock->other[0]) {
        refuse(&lock->life, when, 3, lock->other, ret);
        return;
    }
    if (reentrant_held(lock) && !owns(lock, call->owner)) {
        refuse(&lock->life, when, 0, lock->owner, ret);
        return;
    }
    if (lock->holds_other[0]) {
        snprintf(what, sizeof(what), "%s under its name and :redlock:holds", lock->holds_other);
        refuse(&endless, when, 3, what, ret);
        return;
    }
    /* Tokens that no count stands for are of a lock that is no more. */
    if (__builtin_popcount(lock->tokens) > lock->count)
        lock->tokens = 0;
    if (!has(lock, call))
        count_token(lock, call, when);
    life_raise(&lock->life, call->ttl_ms, when);
    life_raise(&lock->holds_life, call->ttl_ms, when);
    ret->code = 1;
}

/* ---- release ---------------------------------------------------------------------------- */

static bool release(struct reentrant *lock, const struct reentrant_call *call,
                    bool *ret_published)
{
    bool had = has(lock, call);
    if (had) {
        lock->tokens &= ~(1u << call->token);
        long left = __builtin_popcount(lock->tokens);
        lock->count = lock->count - 1 > left ? lock->count - 1 : left;
        if (lock->count == 0)
            reentrant_lock_gone(lock);
    }
    *ret_published = call->wakes && reentrant_free(lock);
    return had;
}

/* ---- extend ----------------------------------------------------------------------------- */

/* Does the lock end well before its tokens do? */
static bool shortened(const struct reentrant *lock, const struct reentrant_call *call)
{
    const struct life *lived = &lock->life, *tokens = &lock->holds_life;
    if (lived->for_ever)
        return false;
    if (tokens->end.high_ms <= lived->end.low_ms + RL_SHORTENED_MS)
        return false;
    return lived->end.high_ms + RL_SHORTENED_MS < tokens->end.low_ms || !call->said;
}

static bool extend(struct reentrant *lock, const struct reentrant_call *call, struct span when)
{
    if (!has(lock, call) || shortened(lock, call))
        return false;
    life_raise(&lock->life, call->ttl_ms, when);
    life_raise(&lock->holds_life, call->ttl_ms, when);
    return true;
}

struct frame_answer reentrant_run(struct reentrant *lock, enum rl_verb verb,
                                  const struct reentrant_call *call, struct span when,
                                  bool *ret_published)
{
    struct frame_answer answer = {.parts = 2, .place = -1};
    *ret_published = false;
    switch (verb) {
    case RL_ACQUIRE:
    case RL_ACQUIRE_OR_QUEUE:
        take(lock, call, when, &answer);
        if (answer.code != 1)
            answer.parts = verb == RL_ACQUIRE_OR_QUEUE ? 5 : 4;
        break;
    case RL_RETAKE:
        take(lock, call, when, &answer);
        answer.code = answer.code == 1;
        break;
    case RL_EXTEND:
        answer.code = extend(lock, call, when);
        break;
    case RL_RELEASE:
        answer.code = release(lock, call, ret_published);
        break;
    default:
        suite_die("the model knows no verb %d", (int)verb);
    }
    return answer;
}

/* ---- Redisson --------------------------------------------------------------------------- */

bool reentrant_peer_lock(struct reentrant *lock, const char *owner, int64_t ttl_ms,
                         struct span when)
{
    if (!reentrant_free(lock) && !owns(lock, owner))
        return false;
    snprintf(lock->owner, sizeof(lock->owner), "%s", owner);
    lock->count++;
    lock->life = life_of(ttl_ms, when); /* also where that is sooner */
    return true;
}

bool reentrant_peer_unlock(struct reentrant *lock, const char *owner, int64_t ttl_ms,
                           struct span when, bool *ret_published)
{
    *ret_published = false;
    if (!owns(lock, owner))
        return false;
    lock->count--;
    lock->life = life_of(ttl_ms, when);
    *ret_published = lock->count <= 0;
    if (lock->count <= 0)
        reentrant_lock_gone(lock);
    return true;
}

bool reentrant_peer_force(struct reentrant *lock)
{
    bool there = !reentrant_free(lock);
    reentrant_lock_gone(lock);
    return there;
}
